//! Algorithms for Conclave in Rust: a process takes one event at a time and asks its `Env` for effects.
//!
//! Implement [`Process`], write a method for each event that the algorithm handles, and list them:
//! `serve!(MyLock: request(), release());`.

mod fields;
mod json;
mod kit;
pub mod testing;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt::Debug;
use std::time::Duration;

use fields::put_text;
use json::{Value, NULL};

pub use fields::*;
pub use kit::*;

/// What every algorithm has. Conclave sees the fields of a process by its derived `Debug`, so it must not
/// hold a `HashMap` or `HashSet`, whose order changes from run to run: use `BTreeMap` and `BTreeSet`.
pub trait Process: Debug + Sized + 'static {
    /// All kinds of messages; see `messages!`.
    type Message: Message;

    /// What the algorithm says about itself: the `spec` of `docs/reference/protocol.md`, in JSON. The kit
    /// adds the problem, the kinds of messages, `handles` and `states`. A string may go over several lines.
    const SPEC: &'static str;

    /// Makes a process, with what it last saved before it crashed.
    fn new(config: Config, params: Params, saved: Option<Self::Message>) -> Self;

    fn receive(&mut self, env: &mut Env<Self::Message>, from: Id, message: Self::Message);

    /// Says which local invariant does not hold. It is called after every event.
    fn invariant(&self) -> Result<(), String> {
        Ok(())
    }

    /// The default, in JSON, of a parameter that `asks`. `params` are those before it.
    fn default_of(parameter: &str, _network: &Network, _params: &Params) -> String {
        panic!("the parameter {} asks for its default", parameter)
    }

    /// Says why the promises do not hold with these parameters, if the algorithm `doubts`.
    fn doubt(_network: &Network, _params: &Params) -> Result<(), String> {
        Ok(())
    }
}

/// A process with the events that it handles; `serve!` implements it.
pub trait Plugin: Process {
    const HANDLES: &'static [&'static str];
    fn handle(&mut self, env: &mut Env<Self::Message>, event: &str, input: &mut &[u8]);
}

/// All that a process can reach of its surroundings, during one event.
pub struct Env<M> {
    /// The local clock: time since the run began.
    pub now: Duration,
    /// What the request is for, where several sessions exclude each other; otherwise 0.
    pub session: u32,
    id: Id,
    random: Option<u64>,
    effects: Vec<u8>,
    to_itself: VecDeque<M>,
}

impl<M: Message> Env<M> {
    /// Sends to a neighbor, or to oneself: that is received right after this event, before any other.
    pub fn send(&mut self, to: Id, message: M) {
        if to == self.id {
            self.to_itself.push_back(message);
        } else {
            to.put(self.effect(1));
            self.put(message);
        }
    }

    /// Sends to each, in this order.
    pub fn broadcast(&mut self, to: &[Id], message: M) {
        to.iter().for_each(|to| self.send(*to, message.clone()));
    }

    /// Starts a timer, or starts it again.
    pub fn set_timer(&mut self, timer: &str, after: Duration) {
        put_text(timer, self.effect(2));
        (after.as_nanos() as u64).put(&mut self.effects);
    }

    pub fn cancel_timer(&mut self, timer: &str) {
        put_text(timer, self.effect(3));
    }

    /// This process enters the critical section.
    pub fn granted(&mut self) {
        self.effect(4);
    }

    /// This process names a leader: `NONE` if it trusts none any more. The term is 0 if there are none.
    pub fn elected(&mut self, leader: Id, term: u64) {
        leader.put(self.effect(5));
        term.put(&mut self.effects);
    }

    /// Keeps a value across a crash. The last one is handed to `new`.
    pub fn save(&mut self, value: M) {
        self.effect(6);
        self.put(value);
    }

    /// Writes a line to the trace.
    pub fn log(&mut self, line: &str) {
        put_text(line, self.effect(7));
    }

    /// A random number from 0 to below `n`, which is at least 1. It follows from the 64 bits of the event
    /// (SplitMix64, of Steele, Lea and Flood, 2014).
    #[track_caller]
    pub fn below(&mut self, n: u64) -> u64 {
        let state = self.random.as_mut().expect("the SPEC must have \"draws\": true");
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (u128::from(z ^ z >> 31) * u128::from(n) >> 64) as u64
    }

    fn effect(&mut self, number: u8) -> &mut Vec<u8> {
        self.effects.push(number);
        &mut self.effects
    }

    /// Puts the index of the kind, the number of bytes of the fields, and these.
    fn put(&mut self, message: M) {
        let start = self.effects.len() + 1;
        message.put(&mut self.effects);
        let end = self.effects.len();
        ((end - start) as u64).put(&mut self.effects);
        self.effects[start..].rotate_left(end - start);
    }
}

record! {
    /// What an algorithm may know of the links, and of the load, before the run.
    #[derive(Clone, Debug, Default)]
    pub struct Network {
        pub nodes: u32,
        /// The largest one-way latency, or its 99.9th percentile if it is not bounded.
        pub latency: Duration,
        /// The largest mean one-way latency of a link.
        pub mean: Duration,
        pub bounded: bool,
        /// The longest stay in the critical section.
        pub hold: Duration,
    }
}

record! {
    /// What one process knows before the run starts.
    #[derive(Clone, Debug, Default)]
    pub struct Config {
        pub id: Id,
        /// All processes, ascending.
        pub peers: Vec<Id>,
        /// Those that it may send to, in the order of the topology; on a ring the successor first.
        pub neighbors: Vec<Id>,
        /// Weights of the links to the neighbors, in their order.
        pub weights: Vec<u32>,
        /// The order on a ring.
        pub ring: Vec<Id>,
        /// The leader that is settled before the run starts.
        pub leader: Id,
        /// That leader has crashed since.
        pub leader_down: bool,
        /// The process with the token at the start.
        pub holder: Id,
        /// 0, and one more at every recovery.
        pub incarnation: u32,
    }
}

impl Config {
    /// All processes but this one, ascending.
    pub fn others(&self) -> Vec<Id> {
        self.peers.iter().copied().filter(|id| *id != self.id).collect()
    }
}

/// The values of the parameters.
#[derive(Clone, Default)]
pub struct Params {
    own: Value,
    all: Value,
}

impl Params {
    /// The value of a parameter of this process. Panics if none has that name and type.
    #[track_caller]
    pub fn get<T: Field>(&self, name: &str) -> T {
        Some(self.own.key(name)).filter(|value| *value != NULL).and_then(json::read).expect(name)
    }

    /// The values of a parameter of all `n` processes, by ID.
    #[track_caller]
    pub fn all<T: Field + Clone>(&self, name: &str, n: usize) -> Vec<T> {
        match self.all.key(name) {
            all if all == NULL => vec![self.get(name); n],
            list => json::read(list).expect(name),
        }
    }
}
