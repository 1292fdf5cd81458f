//! What an algorithm says about itself, and what it learns before the run. `docs/reference/protocol.md`
//! explains every key; words such as topologies are those of `bench describe`.

use std::fmt::{Debug, Formatter};
use std::time::Duration;

use crate::{Field, Id, Json, Result};

/// Works out a default.
pub type Asks = Box<dyn Fn(&Network) -> Json>;

/// Says why promises do not hold.
pub type Doubt = fn(&Network) -> Result<()>;

/// What default time-outs leave on top of the latency, for the schedulers of real machines.
pub const SLACK: Duration = Duration::from_millis(20);

/// What a part of a Spec is in JSON: null if it is false or empty.
pub(crate) trait Described {
    fn described(&self) -> Json;
}

macro_rules! described_as {
    ($($type:ty: $it:ident => $json:expr, unless $empty:expr;)*) => { $(
        impl Described for $type {
            fn described(&self) -> Json {
                let $it = self;
                if $empty { Json::Null } else { $json }
            }
        }
    )* };
}

described_as! {
    Json: it => it.clone(), unless it == &Json::Null;
    bool: it => Json::Bool(true), unless !it;
    u32: it => it.to_json(), unless *it == 0;
    &'static str: it => (*it).into(), unless it.is_empty();
    Option<Asks>: it => Json::Bool(true), unless it.is_none();
    Option<Doubt>: it => Json::Bool(true), unless it.is_none();
}

impl<T: Described> Described for Vec<T> {
    fn described(&self) -> Json {
        if self.is_empty() {
            Json::Null
        } else {
            Json::List(self.iter().map(T::described).collect())
        }
    }
}

/// Declares structs with a `Default`, and how they are described.
macro_rules! described {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)? })*) => { $(
        $(#[$meta])*
        #[derive(Default)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type),* }

        impl Described for $name {
            fn described(&self) -> Json {
                let it = Json::sparse([
                    $((stringify!($field), self.$field.described())),*
                ]);
                if it == Json::Object(Vec::new()) { Json::Null } else { it }
            }
        }
    )* };
}

described! {
    /// What an algorithm says about itself. Defaults are the usual model of papers: a complete network
    /// without faults. The kinds of messages, the problem and `handles` come from the types.
    Spec {
        /// One line.
        summary: &'static str,
        /// Where the rules come from; empty: unpublished.
        paper: Paper,
        /// The kind that hands the token on.
        token: &'static str,
        parameters: Vec<Parameter>,
        /// The timers that it sets: a name, or a prefix and `*`; none: any.
        timers: Vec<&'static str>,
        /// The algorithm uses `Env::random`.
        draws: bool,
        perpetual: bool,
        told: bool,
        periods: Vec<Period>,
        needs: Needs,
        survives: Survives,
        promises: Promises,
        /// `"agreed"`, `"led"` or `"served"`: which outages count.
        service: &'static str,
        /// What happens beyond what it survives, in sentences.
        breaks: &'static str,
        /// Says with which parameters the promises do not hold, and why.
        doubts: Option<Doubt>,
    }
    Paper {
        authors: &'static str,
        title: &'static str,
        venue: &'static str,
        year: u32,
        doi: &'static str,
        deviations: &'static str,
    }
    /// What a leader repeats: the parameter with the time, and the timer that is set to it.
    Period { parameter: &'static str, spread: &'static str, timer: &'static str, reply: bool }
    Needs {
        topology: &'static str,
        fifo: bool,
        anonymous: bool,
        synchrony: &'static str,
        detector: &'static str,
        /// The least number of processes.
        nodes: u32,
    }
    Survives {
        loss: bool,
        duplication: bool,
        partition: bool,
        recovery: bool,
        /// A number, `"minority"` or `"all but one"`.
        crashes: Json,
    }
    Promises {
        starvation_free: bool,
        request_order: bool,
        announced: bool,
        leadership: &'static str,
        highest: bool,
        /// `"steady"`, or nothing.
        live: &'static str,
    }
    /// A parameter. `fixed`, `one_of` and `asking` make one.
    Parameter {
        name: &'static str,
        r#type: Json,
        doc: &'static str,
        default: Json,
        asks: Option<Asks>,
        min: Json,
        max: Json,
        choices: Vec<&'static str>,
        /// It may be a list with a value for each process.
        per_process: bool,
        /// It names a process.
        process: bool,
        /// `"patience"` or `"spread"`.
        tunes: &'static str,
    }
}

impl Parameter {
    /// A parameter with a constant default, whose type follows: `bool`, `i64`, `f64` or `Duration`.
    pub fn fixed<T: Field>(name: &'static str, default: T, doc: &'static str) -> Self {
        Parameter { name, doc, r#type: T::kind(), default: default.to_json(), ..Self::default() }
    }

    /// A parameter whose default follows from the network, and from the parameters before this one.
    pub fn asking<T: Field + 'static>(name: &'static str, default: fn(&Network) -> T, doc: &'static str) -> Self {
        let asks: Asks = Box::new(move |network| default(network).to_json());
        Parameter { name, doc, r#type: T::kind(), asks: Some(asks), ..Self::default() }
    }

    /// A word, the first of these by default.
    pub fn one_of(name: &'static str, choices: &[&'static str], doc: &'static str) -> Self {
        Parameter {
            name,
            doc,
            r#type: "enum".into(),
            default: choices[0].into(),
            choices: choices.to_vec(),
            ..Self::default()
        }
    }

    /// The least value.
    pub fn at_least<T: Field>(self, min: T) -> Self {
        Parameter { min: min.to_json(), ..self }
    }
}

/// The values of the parameters.
#[derive(Clone, Default)]
pub struct Params {
    pub(crate) own: Json,
    pub(crate) all: Json,
}

impl Params {
    pub(crate) fn push(&mut self, name: &'static str, value: Json) {
        match &mut self.own {
            Json::Object(entries) => entries.push((name.into(), value)),
            own => *own = Json::object([(name, value)]),
        }
    }

    /// The value of a parameter of this process. Panics if none has that name and type.
    #[track_caller]
    pub fn get<T: Field>(&self, name: &str) -> T {
        self.own.get(name).expect("parameter")
    }

    /// The value of a parameter of that process.
    #[track_caller]
    pub fn of<T: Field>(&self, name: &str, id: Id) -> T {
        match self.all.key(name) {
            Json::List(list) => T::from_json(&list[id.0 as usize - 1]).expect(name),
            _ => self.get(name),
        }
    }
}

/// Declares structs that requests hold, with `params` apart. Keys are absent if they are 0, false or empty.
macro_rules! known {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)? })*) => { $(
        $(#[$meta])*
        #[derive(Clone, Default)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)* pub params: Params }

        impl $name {
            pub(crate) fn read(json: &Json, params: Params) -> Result<Self> {
                Ok($name { $($field: json.get_or_default(stringify!($field))?,)* params })
            }
        }
    )* };
}

known! {
    /// What an algorithm may know of the links, and of the load, before the run. Its `params` are those that
    /// stand before this one, or all.
    Network {
        nodes: u32,
        /// The largest one-way latency, or its 99.9th percentile if it is not bounded.
        latency: Duration,
        /// The largest mean one-way latency of a link.
        mean: Duration,
        bounded: bool,
        /// The longest stay in the critical section.
        hold: Duration,
    }
    /// What one process knows before the run starts.
    Config {
        id: Id,
        /// All processes, ascending.
        peers: Vec<Id>,
        /// Those that it may send to, in the order of the topology; on a ring the successor first.
        neighbors: Vec<Id>,
        /// Weights of the links to the neighbors, in their order.
        weights: Vec<u32>,
        /// The order on a ring.
        ring: Vec<Id>,
        /// The leader that is settled before the run starts.
        leader: Id,
        /// That leader has crashed since.
        leader_down: bool,
        /// The process with the token at the start.
        holder: Id,
        /// 0, and one more at every recovery.
        incarnation: u32,
    }
}

impl Config {
    /// All processes but this one, ascending.
    pub fn others(&self) -> impl Iterator<Item = Id> + '_ {
        self.peers.iter().copied().filter(move |id| *id != self.id)
    }
}

/// In the state of a process the ID and the incarnation stand for all: the rest does not change.
impl Debug for Config {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{},{}]", self.id, self.incarnation)
    }
}

/// A duration as reports of Conclave write it: `1.5s`, `2m0s`.
pub fn written(d: Duration) -> String {
    let (minutes, rest) = (d.as_secs() / 60, d - Duration::from_secs(d.as_secs() / 60 * 60));
    match minutes {
        0 if d == Duration::ZERO => "0s".into(),
        0 => format!("{:?}", d),
        _ if minutes < 60 => format!("{}m{}s", minutes, rest.as_secs_f64()),
        _ => format!("{}h{}m{}s", minutes / 60, minutes % 60, rest.as_secs_f64()),
    }
}
