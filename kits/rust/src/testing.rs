//! Runs processes in memory, for unit tests: without Conclave, and without time but for timers.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::kit::{step, Event};
use crate::{nanoseconds, Config, Effect, Env, Id, Json, Message, Network, Plugin, Random};

/// Processes 1 to n, with links that keep the order of messages. Every event returns its effects, and panics
/// if the invariant does not hold afterwards.
pub struct Cluster<P: Plugin> {
    configs: Vec<Config>,
    /// By ID; those that have crashed are missing.
    processes: BTreeMap<Id, P>,
    saved: BTreeMap<Id, P::Message>,
    links: BTreeMap<(Id, Id), VecDeque<P::Message>>,
    /// When each timer is due.
    timers: BTreeMap<(Id, String), Duration>,
    now: Duration,
    random: Option<Random>,
    /// Messages sent, by kind.
    sent: BTreeMap<&'static str, usize>,
    inside: Vec<Id>,
    leaders: BTreeMap<Id, Id>,
}

/// What a process asked for during an event.
pub type Effects<P> = Vec<Effect<<P as crate::Process>::Message>>;

impl<P: Plugin> Cluster<P> {
    /// Processes on a complete network, or on a ring in ascending order if the algorithm needs one, with
    /// a latency of 1 ms at most and these parameters; the others have their defaults.
    pub fn new(n: u32, given: &[(&'static str, Json)]) -> Self {
        let spec = P::spec();
        let latency = Duration::from_millis(1);
        let mut network = Network { nodes: n, latency, mean: latency, bounded: true, ..Network::default() };
        for parameter in &spec.parameters {
            let value = match (given.iter().find(|(name, _)| *name == parameter.name), &parameter.asks) {
                (Some((_, value)), _) => value.clone(),
                (None, Some(asks)) => asks(&network),
                (None, None) => parameter.default.clone(),
            };
            network.params.push(parameter.name, value);
        }
        let peers: Vec<Id> = (1..=n).map(Id).collect();
        let configs = peers.iter().map(|id| Config {
            id: *id,
            neighbors: if spec.needs.topology == "ring" { vec![Id(id.0 % n + 1)] } else { peers.clone() },
            peers: peers.clone(),
            ring: peers.clone(),
            params: network.params.clone(),
            ..Config::default()
        });
        let mut cluster = Cluster {
            configs: configs.collect(),
            processes: BTreeMap::new(),
            saved: BTreeMap::new(),
            links: BTreeMap::new(),
            timers: BTreeMap::new(),
            now: Duration::ZERO,
            random: Some(Random::new(1)).filter(|_| spec.draws),
            sent: BTreeMap::new(),
            inside: Vec::new(),
            leaders: BTreeMap::new(),
        };
        peers.iter().for_each(|id| cluster.begin(*id));
        cluster
    }

    fn begin(&mut self, id: Id) {
        let process = P::new(self.configs[id.0 as usize - 1].clone(), self.saved.get(&id).cloned());
        self.processes.insert(id, process);
        if P::HANDLERS.starter.is_some() {
            self.event(id, Event::Start);
        }
    }

    fn event(&mut self, id: Id, event: Event<P::Message>) -> Effects<P> {
        let process = self.processes.get_mut(&id).unwrap_or_else(|| panic!("there is no process {}", id));
        let (mut effects, mut to_itself) = (Vec::new(), VecDeque::new());
        let random = self.random.as_ref().map(|random| Random::new(random.bits()));
        let now = nanoseconds(self.now);
        step(
            process,
            Env { own: id, effects: &mut effects, to_itself: &mut to_itself, now, session: 0, random },
            event,
        );
        if let Err(text) = process.invariant() {
            panic!("process {}: {}", id, text);
        }
        effects.iter().for_each(|effect| self.take(id, effect));
        effects
    }

    fn take(&mut self, id: Id, effect: &Effect<P::Message>) {
        match effect.clone() {
            Effect::Send { to, message } => {
                *self.sent.entry(P::Message::NAMES[message.index() as usize]).or_default() += 1;
                self.links.entry((id, to)).or_default().push_back(message);
            }
            Effect::Set { timer, after } => drop(self.timers.insert((id, timer.into()), self.now + after)),
            Effect::Cancel { timer } => drop(self.timers.remove(&(id, timer.into()))),
            Effect::Granted => self.inside.push(id),
            Effect::Elected { leader, .. } => drop(self.leaders.insert(id, leader)),
            Effect::Save(value) => drop(self.saved.insert(id, value)),
            Effect::Log(_) => {}
        }
    }

    pub fn request(&mut self, id: u32) -> Effects<P> {
        self.event(Id(id), Event::Request(0))
    }

    pub fn release(&mut self, id: u32) -> Effects<P> {
        self.inside.retain(|inside| *inside != Id(id));
        self.event(Id(id), Event::Release)
    }

    pub fn elect(&mut self, id: u32) -> Effects<P> {
        self.event(Id(id), Event::Elect)
    }

    pub fn suspect(&mut self, id: u32, peer: u32) -> Effects<P> {
        self.event(Id(id), Event::Suspect(Id(peer)))
    }

    pub fn restore(&mut self, id: u32, peer: u32) -> Effects<P> {
        self.event(Id(id), Event::Restore(Id(peer)))
    }

    pub fn command(&mut self, id: u32, op: &str, target: u32) -> Effects<P> {
        self.event(Id(id), Event::Do(op, Id(target)))
    }

    /// Hands a message to a process, whether or not another has sent it.
    pub fn receive(&mut self, id: u32, from: u32, message: P::Message) -> Effects<P> {
        self.event(Id(id), Event::Receive(Id(from), message))
    }

    /// Delivers the oldest message that is in transit from one process to another. Panics if none is.
    pub fn deliver(&mut self, from: u32, to: u32) -> Effects<P> {
        let message = self.links.get_mut(&(Id(from), Id(to))).and_then(VecDeque::pop_front);
        self.receive(to, from, message.unwrap_or_else(|| panic!("no message is in transit from {} to {}", from, to)))
    }

    /// Delivers one message of each link in turn until none is in transit. What goes to a process that has
    /// crashed is lost.
    pub fn settle(&mut self) {
        loop {
            let waiting: Vec<_> = self.links.iter().filter(|link| !link.1.is_empty()).map(|link| *link.0).collect();
            if waiting.is_empty() {
                return;
            }
            for (from, to) in waiting {
                if self.processes.contains_key(&to) {
                    self.deliver(from.0, to.0);
                } else {
                    self.links.remove(&(from, to));
                }
            }
        }
    }

    /// Lets the clock run until the next timer expires, and says which. `None`: no timer is set.
    pub fn expire(&mut self) -> Option<(Id, String)> {
        let (key, due) = self.timers.iter().min_by_key(|timer| timer.1).map(|(key, due)| (key.clone(), *due))?;
        self.timers.remove(&key);
        self.now = due;
        self.event(key.0, Event::Timeout(&key.1));
        Some(key)
    }

    /// A process loses all but what it has saved.
    pub fn crash(&mut self, id: u32) {
        self.processes.remove(&Id(id));
        self.timers.retain(|timer, _| timer.0 != Id(id));
        self.inside.retain(|inside| *inside != Id(id));
        self.leaders.remove(&Id(id));
    }

    /// A process that has crashed comes back.
    pub fn recover(&mut self, id: u32) {
        assert!(!self.processes.contains_key(&Id(id)), "process {} has not crashed", id);
        self.configs[id as usize - 1].incarnation += 1;
        self.begin(Id(id));
    }

    /// The processes in the critical section, in the order of their entries.
    pub fn inside(&self) -> &[Id] {
        &self.inside
    }

    /// The leader that each live process has named last.
    pub fn leaders(&self) -> &BTreeMap<Id, Id> {
        &self.leaders
    }

    /// How many messages of that kind have been sent.
    pub fn sent(&self, kind: &str) -> usize {
        self.sent.get(kind).copied().unwrap_or(0)
    }
}
