//! Algorithms for Conclave in Rust: a process takes one event at a time and asks its `Env` for effects.
//!
//! Implement [`Process`], and [`Mutex`] or [`Elector`]; [`Starter`], [`Timed`], [`Monitor`] and
//! [`Commanded`] if the algorithm wants these events. `serve!(MyProcess);` makes a program of it.

mod fields;
mod json;
mod kit;
mod spec;
pub mod testing;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::time::Duration;

pub use fields::*;
pub use json::Json;
pub use kit::*;
pub use spec::*;

/// What fails says why in words.
pub type Result<T> = std::result::Result<T, String>;

/// What every algorithm has. Conclave sees the fields of a process by its derived `Debug`, so it must
/// not hold a `HashMap` or `HashSet`, whose order changes from run to run: use `BTreeMap` and `BTreeSet`.
pub trait Process: Debug + Sized + 'static {
    /// All kinds of messages; see `messages!`.
    type Message: Message;

    fn spec() -> Spec;

    /// Makes a process, with what it last saved before it crashed.
    fn new(config: Config, saved: Option<Self::Message>) -> Self;

    fn receive(&mut self, env: &mut Env<Self::Message>, from: Id, message: Self::Message);

    /// Says which local invariant does not hold. It is called after every event.
    fn invariant(&self) -> Result<()> {
        Ok(())
    }
}

/// Mutual exclusion.
pub trait Mutex: Process {
    /// The application of this process wants to enter; it does so upon `env.granted()`.
    fn request(&mut self, env: &mut Env<Self::Message>);
    /// It has left.
    fn release(&mut self, env: &mut Env<Self::Message>);
}

/// Election.
pub trait Elector: Process {
    /// Starts an election.
    fn elect(&mut self, env: &mut Env<Self::Message>);
}

/// Does something when it starts, also after a recovery.
pub trait Starter: Process {
    fn start(&mut self, env: &mut Env<Self::Message>);
}

/// Has timers.
pub trait Timed: Process {
    fn timeout(&mut self, env: &mut Env<Self::Message>, timer: &str);
}

/// Listens to the failure detector itself.
pub trait Monitor: Process {
    fn suspect(&mut self, env: &mut Env<Self::Message>, peer: Id);
    fn restore(&mut self, env: &mut Env<Self::Message>, peer: Id);
}

/// Has operations of its own: the event `do`, which is a keyword of Rust. Without a target, it is `Id::NONE`.
pub trait Commanded: Process {
    fn command(&mut self, env: &mut Env<Self::Message>, op: &str, target: Id);
}

/// One thing that a process asked for during an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<M> {
    Send { to: Id, message: M },
    Set { timer: Cow<'static, str>, after: Duration },
    Cancel { timer: Cow<'static, str> },
    Granted,
    Elected { leader: Id, term: u64 },
    Save(M),
    Log(String),
}

/// All that a process can reach of its surroundings, during one event.
pub struct Env<'a, M> {
    own: Id,
    effects: &'a mut Vec<Effect<M>>,
    to_itself: &'a mut VecDeque<M>,
    now: u64,
    session: u32,
    random: Option<Random>,
}

impl<M: Clone> Env<'_, M> {
    /// The local clock: time since the run began.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.now)
    }

    /// What the request is for, where several sessions exclude each other; otherwise 0.
    pub fn session(&self) -> u32 {
        self.session
    }

    /// The only source of random numbers, seeded by the run.
    #[track_caller]
    pub fn random(&self) -> &Random {
        self.random.as_ref().expect("the algorithm draws random numbers: its Spec must say `draws: true`")
    }

    /// Sends to a neighbor, or to oneself: that is received right after this event, before any other.
    pub fn send(&mut self, to: Id, message: M) {
        if to == self.own {
            self.to_itself.push_back(message);
        } else {
            self.effects.push(Effect::Send { to, message });
        }
    }

    /// Sends to each, in this order.
    pub fn broadcast(&mut self, to: impl IntoIterator<Item = Id>, message: M) {
        to.into_iter().for_each(|to| self.send(to, message.clone()));
    }

    /// Starts a timer, or starts it again.
    pub fn set_timer(&mut self, timer: impl Into<Cow<'static, str>>, after: Duration) {
        self.effects.push(Effect::Set { timer: timer.into(), after });
    }

    pub fn cancel_timer(&mut self, timer: impl Into<Cow<'static, str>>) {
        self.effects.push(Effect::Cancel { timer: timer.into() });
    }

    /// This process enters the critical section.
    pub fn granted(&mut self) {
        self.effects.push(Effect::Granted);
    }

    /// This process names a leader: `Id::NONE` if it trusts none any more. The term is 0 if there are none.
    pub fn elected(&mut self, leader: Id, term: u64) {
        self.effects.push(Effect::Elected { leader, term });
    }

    /// Keeps a value across a crash. The last one is handed to `new`.
    pub fn save(&mut self, value: M) {
        self.effects.push(Effect::Save(value));
    }

    /// Writes a line to the trace.
    pub fn log(&mut self, text: impl Into<String>) {
        self.effects.push(Effect::Log(text.into()));
    }
}

/// Random numbers that follow from the 64 bits of an event (SplitMix64, of Steele, Lea and Flood, 2014).
pub struct Random(Cell<u64>);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Cell::new(seed))
    }

    pub fn bits(&self) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let z = self.0.get();
        let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number from 0 to below `n`, which is at least 1.
    pub fn below(&self, n: u64) -> u64 {
        (u128::from(self.bits()) * u128::from(n) >> 64) as u64
    }

    /// A number from 0 to below 1.
    pub fn fraction(&self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A duration from `from` to below `to`.
    pub fn between(&self, from: Duration, to: Duration) -> Duration {
        from + Duration::from_nanos(self.below(nanoseconds(to - from)))
    }
}
