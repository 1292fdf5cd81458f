//! Runs processes in memory, for unit tests: without Conclave, and without time but for timers.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::fields::{put_text, take, Field, Message};
use crate::json::{read, Value};
use crate::kit::Kit;
use crate::{Config, Id, Network, Params, Plugin};

/// One thing that a process asked for during an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<M> {
    Send { to: Id, message: M },
    Set { timer: String, after: Duration },
    Cancel { timer: String },
    Granted,
    Elected { leader: Id, term: u64 },
    Save(M),
    Log(String),
}

impl<M: Message> Effect<M> {
    fn get(input: &mut &[u8]) -> Self {
        match u8::get(input) {
            1 => Effect::Send { to: Id::get(input), message: framed(input) },
            2 => Effect::Set { timer: String::get(input), after: Duration::from_nanos(u64::get(input)) },
            3 => Effect::Cancel { timer: String::get(input) },
            4 => Effect::Granted,
            5 => Effect::Elected { leader: Id::get(input), term: u64::get(input) },
            6 => Effect::Save(framed(input)),
            7 => Effect::Log(String::get(input)),
            effect => panic!("there is no effect {}", effect),
        }
    }
}

/// A message with the number of bytes of its fields behind its kind.
fn framed<M: Message>(input: &mut &[u8]) -> M {
    let (mut bytes, length) = (vec![u8::get(input)], u64::get(input));
    bytes.extend_from_slice(take(input, length as usize));
    M::get(&mut &bytes[..])
}

/// Processes 1 to n, with links that keep the order of messages. Every event returns its effects, and panics
/// if the invariant does not hold afterwards.
pub struct Cluster<P: Plugin> {
    kit: Kit<P>,
    configs: Vec<Config>,
    params: Params,
    saved: BTreeMap<Id, P::Message>,
    links: BTreeMap<(Id, Id), VecDeque<P::Message>>,
    /// When each timer is due.
    timers: BTreeMap<(Id, String), Duration>,
    now: Duration,
    drawn: u64,
    /// Messages sent, by kind.
    sent: BTreeMap<String, usize>,
    inside: Vec<Id>,
    leaders: BTreeMap<Id, Id>,
}

/// What a process asked for during an event.
pub type Effects<P> = Vec<Effect<<P as crate::Process>::Message>>;

impl<P: Plugin> Cluster<P> {
    /// Processes on a complete network, or on a ring in ascending order if the algorithm needs one, with
    /// a latency of 1 ms at most and these parameters, an object in JSON; the others have their defaults.
    pub fn new(n: u32, params: &str) -> Self {
        let (kit, given) = (Kit::<P>::default(), Value::parse(params).expect("parameters in JSON"));
        let spec = Value::parse(&kit.spec).expect("a spec");
        let latency = Duration::from_millis(1);
        let network = Network { nodes: n, latency, mean: latency, bounded: true, hold: latency };
        let mut params = Params::default();
        for (_, parameter) in &spec.key("parameters").items {
            let name = parameter.key("name").text();
            let default = || match parameter.key("asks").raw.as_str() {
                "true" => Value::parse(&P::default_of(name, &network, &params)).expect("a default in JSON"),
                _ => parameter.key("default").clone(),
            };
            let value =
                given.items.iter().find(|item| item.0 == name).map_or_else(default, |item| item.1.clone());
            params.own.items.push((name.into(), value));
        }
        let peers: Vec<Id> = (1..=n).collect();
        let ring = spec.key("needs").key("topology").text() == "ring";
        let configs = peers.iter().map(|id| Config {
            id: *id,
            neighbors: if ring { vec![id % n + 1] } else { peers.clone() },
            peers: peers.clone(),
            ring: peers.clone(),
            ..Config::default()
        });
        let mut cluster = Cluster {
            configs: configs.collect(),
            kit,
            params,
            saved: BTreeMap::new(),
            links: BTreeMap::new(),
            timers: BTreeMap::new(),
            now: Duration::ZERO,
            drawn: 0,
            sent: BTreeMap::new(),
            inside: Vec::new(),
            leaders: BTreeMap::new(),
        };
        peers.iter().for_each(|id| cluster.begin(*id));
        cluster
    }

    fn begin(&mut self, id: Id) {
        let config = self.configs[id as usize - 1].clone();
        let process = P::new(config, self.params.clone(), self.saved.get(&id).cloned());
        self.kit.processes.insert(id.into(), (id, process));
        if P::HANDLES.contains(&"start") {
            self.event(id, 1, &[]);
        }
    }

    /// Hands an event with these arguments, in the compact layout, to a process.
    fn event(&mut self, id: Id, on: u8, arguments: &[u8]) -> Effects<P> {
        assert!(self.kit.processes.contains_key(&id.into()), "there is no process {}", id);
        let mut event = vec![on];
        id.put(&mut event);
        (self.now.as_nanos() as u64).put(&mut event);
        if self.kit.draws {
            self.drawn += 1;
            event.extend(self.drawn.to_le_bytes());
        }
        event.extend_from_slice(arguments);
        if let Err(text) = self.kit.event(&mut &event[..]) {
            panic!("process {}: {}", id, text);
        }
        let (mut effects, bytes) = (Vec::new(), self.kit.env.effects.clone());
        let input = &mut &bytes[..];
        while !input.is_empty() {
            effects.push(Effect::get(input));
        }
        effects.iter().for_each(|effect| self.take(id, effect));
        effects
    }

    fn take(&mut self, id: Id, effect: &Effect<P::Message>) {
        match effect.clone() {
            Effect::Send { to, message } => {
                let mut bytes = Vec::new();
                message.put(&mut bytes);
                let kind: String = read(self.kit.kinds[bytes[0] as usize].key("kind")).expect("a name");
                *self.sent.entry(kind).or_default() += 1;
                self.links.entry((id, to)).or_default().push_back(message);
            }
            Effect::Set { timer, after } => drop(self.timers.insert((id, timer), self.now + after)),
            Effect::Cancel { timer } => drop(self.timers.remove(&(id, timer))),
            Effect::Granted => self.inside.push(id),
            Effect::Elected { leader, .. } => drop(self.leaders.insert(id, leader)),
            Effect::Save(value) => drop(self.saved.insert(id, value)),
            Effect::Log(_) => {}
        }
    }

    pub fn request(&mut self, id: Id) -> Effects<P> {
        self.event(id, 4, &[0])
    }

    pub fn release(&mut self, id: Id) -> Effects<P> {
        self.inside.retain(|inside| *inside != id);
        self.event(id, 5, &[])
    }

    pub fn elect(&mut self, id: Id) -> Effects<P> {
        self.event(id, 6, &[])
    }

    pub fn suspect(&mut self, id: Id, peer: Id) -> Effects<P> {
        self.event(id, 7, &encoded(&peer))
    }

    pub fn restore(&mut self, id: Id, peer: Id) -> Effects<P> {
        self.event(id, 8, &encoded(&peer))
    }

    pub fn command(&mut self, id: Id, target: Id, op: &str) -> Effects<P> {
        let mut arguments = encoded(&target);
        put_text(op, &mut arguments);
        self.event(id, 9, &arguments)
    }

    /// Hands a message to a process, whether or not another has sent it.
    pub fn receive(&mut self, id: Id, from: Id, message: P::Message) -> Effects<P> {
        let mut arguments = encoded(&from);
        message.put(&mut arguments);
        self.event(id, 2, &arguments)
    }

    /// Delivers the oldest message that is in transit from one process to another. Panics if none is.
    pub fn deliver(&mut self, from: Id, to: Id) -> Effects<P> {
        let message = self.links.get_mut(&(from, to)).and_then(VecDeque::pop_front);
        self.receive(to, from, message.expect("no message is in transit there"))
    }

    /// Delivers one message of each link in turn until none is in transit. What goes to a process that has
    /// crashed is lost.
    pub fn settle(&mut self) {
        loop {
            let waiting = self.links.iter().filter(|link| !link.1.is_empty());
            let waiting: Vec<_> = waiting.map(|link| *link.0).collect();
            if waiting.is_empty() {
                return;
            }
            for (from, to) in waiting {
                if self.kit.processes.contains_key(&to.into()) {
                    self.deliver(from, to);
                } else {
                    self.links.remove(&(from, to));
                }
            }
        }
    }

    /// Lets the clock run until the next timer expires, and says which. `None`: no timer is set.
    pub fn expire(&mut self) -> Option<(Id, String)> {
        let first = self.timers.iter().min_by_key(|timer| timer.1);
        let (key, due) = first.map(|(key, due)| (key.clone(), *due))?;
        self.timers.remove(&key);
        self.now = due;
        self.event(key.0, 3, &encoded(&key.1));
        Some(key)
    }

    /// A process loses all but what it has saved.
    pub fn crash(&mut self, id: Id) {
        self.kit.processes.remove(&id.into());
        self.timers.retain(|timer, _| timer.0 != id);
        self.inside.retain(|inside| *inside != id);
        self.leaders.remove(&id);
    }

    /// A process that has crashed comes back.
    pub fn recover(&mut self, id: Id) {
        assert!(!self.kit.processes.contains_key(&id.into()), "process {} has not crashed", id);
        self.configs[id as usize - 1].incarnation += 1;
        self.begin(id);
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

fn encoded(value: &impl Field) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.put(&mut bytes);
    bytes
}
