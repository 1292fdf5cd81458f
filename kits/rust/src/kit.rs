//! The step protocol: requests in, answers out, as JSON or in the compact layout.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Write;
use std::marker::PhantomData;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};

use crate::fields::{put_text, take, take_text};
use crate::spec::Described;
use crate::*;

type On<P> = fn(&mut P, &mut Env<<P as Process>::Message>);
type OnText<P> = fn(&mut P, &mut Env<<P as Process>::Message>, &str);
type OnPeer<P> = fn(&mut P, &mut Env<<P as Process>::Message>, Id);
type OnCommand<P> = fn(&mut P, &mut Env<<P as Process>::Message>, &str, Id);

macro_rules! handlers {
    ($($name:ident, $needs:ident: $type:ty = $functions:expr;)*) => {
        /// The events that a process takes, by the traits that it implements.
        pub struct Handlers<P: Process> { $(pub $name: Option<$type>),* }

        /// Finds out which traits P implements: `<Has<P>>::timed` is the constant here if P is `Timed`, and
        /// otherwise that of `Lacks`, since constants of a type come before those of its traits.
        pub struct Has<P>(PhantomData<P>);

        $(#[allow(non_upper_case_globals)]
        impl<P: $needs> Has<P> {
            pub const $name: Option<$type> = Some($functions);
        })*

        /// See `Has`.
        #[allow(non_upper_case_globals)]
        pub trait Lacks<P: Process> { $(const $name: Option<$type> = None;)* }

        impl<P: Process> Lacks<P> for Has<P> {}
    };
}

handlers! {
    mutex, Mutex: (On<P>, On<P>) = (P::request, P::release);
    elector, Elector: On<P> = P::elect;
    starter, Starter: On<P> = P::start;
    timed, Timed: OnText<P> = P::timeout;
    monitor, Monitor: (OnPeer<P>, OnPeer<P>) = (P::suspect, P::restore);
    commanded, Commanded: OnCommand<P> = P::command;
}

/// A process with its handlers; `serve!` implements it.
pub trait Plugin: Process {
    const HANDLERS: Handlers<Self>;
}

/// Makes a program of a process, or a module of WebAssembly.
#[macro_export]
macro_rules! serve {
    ($process:ty) => {
        impl $crate::Plugin for $process {
            const HANDLERS: $crate::Handlers<Self> = {
                #[allow(unused_imports)]
                use $crate::{Has, Lacks};
                $crate::Handlers {
                    mutex: <Has<$process>>::mutex,
                    elector: <Has<$process>>::elector,
                    starter: <Has<$process>>::starter,
                    timed: <Has<$process>>::timed,
                    monitor: <Has<$process>>::monitor,
                    commanded: <Has<$process>>::commanded,
                }
            };
        }

        #[allow(dead_code)]
        fn main() {
            #[cfg(not(target_arch = "wasm32"))]
            $crate::serve::<$process>();
        }

        #[cfg(target_arch = "wasm32")]
        thread_local! {
            static GUEST: std::cell::RefCell<$crate::Guest<$process>> = std::cell::RefCell::default();
        }

        #[cfg(target_arch = "wasm32")]
        #[no_mangle]
        pub extern "C" fn conclave_room(length: i32) -> i32 {
            GUEST.with(|guest| guest.borrow_mut().room(length))
        }

        #[cfg(target_arch = "wasm32")]
        #[no_mangle]
        pub extern "C" fn conclave_call(length: i32) -> i64 {
            GUEST.with(|guest| guest.borrow_mut().call(length))
        }
    };
}

/// Reads requests from standard input, and answers them on standard output, until `end`.
pub fn serve<P: Plugin>() {
    let mut answers = standard_output();
    let mut kit = Kit::<P>::default();
    note_panics();
    for line in std::io::stdin().lines() {
        let line = line.expect("cannot read a request");
        match kit.answer(line.as_bytes()) {
            b"" => return,
            answer => answers.write_all(&[answer, b"\n"].concat()).expect("cannot write an answer"),
        }
    }
}

/// Standard output for answers alone: whatever else prints to it comes out on standard error.
#[cfg(unix)]
fn standard_output() -> impl Write {
    extern "C" {
        fn dup(descriptor: i32) -> i32;
        fn dup2(from: i32, to: i32) -> i32;
    }
    // Safe: 1 and 2 are open from the start, and nothing else has the new descriptor.
    unsafe {
        let kept = dup(1);
        dup2(2, 1);
        <std::fs::File as std::os::unix::io::FromRawFd>::from_raw_fd(kept)
    }
}

#[cfg(not(unix))]
fn standard_output() -> impl Write {
    std::io::stdout()
}

/// A kit within WebAssembly, with the buffer into which the host writes requests.
pub struct Guest<P: Plugin> {
    kit: Kit<P>,
    room: Vec<u8>,
}

impl<P: Plugin> Default for Guest<P> {
    fn default() -> Self {
        note_panics();
        Guest { kit: Kit::default(), room: Vec::new() }
    }
}

impl<P: Plugin> Guest<P> {
    /// The address of a buffer with room for so many bytes.
    pub fn room(&mut self, length: i32) -> i32 {
        self.room.resize(self.room.len().max(length as usize), 0);
        self.room.as_ptr() as i32
    }

    /// Handles the request of so many bytes: the address and the length of its answer.
    pub fn call(&mut self, length: i32) -> i64 {
        let answer = self.kit.answer(&self.room[..length as usize]);
        (answer.as_ptr() as i64) << 32 | answer.len() as i64
    }
}

/// An event, with what comes along.
pub(crate) enum Event<'a, M> {
    Start,
    Receive(Id, M),
    Timeout(&'a str),
    Request(u32),
    Release,
    Elect,
    Suspect(Id),
    Restore(Id),
    Do(&'a str, Id),
}

impl<'a, M: Message> Event<'a, M> {
    fn decode(on: u8, input: &mut &'a [u8]) -> Result<Self> {
        Ok(match on {
            1 => Event::Start,
            2 => {
                let from = Id::decode(input)?;
                Event::Receive(from, M::decode(take(input, 1)?[0], input)?)
            }
            3 => Event::Timeout(take_text(input)?),
            4 => Event::Request(u32::decode(input)?),
            5 => Event::Release,
            6 => Event::Elect,
            7 => Event::Suspect(Id::decode(input)?),
            8 => Event::Restore(Id::decode(input)?),
            9 => {
                let target = Id::decode(input)?;
                Event::Do(take_text(input)?, target)
            }
            _ => return Err(format!("there is no event {}", on)),
        })
    }

    fn read(on: &str, request: &'a Json) -> Result<Self> {
        Ok(match on {
            "start" => Event::Start,
            "receive" => Event::Receive(request.get("from")?, message(request)?),
            "timeout" => Event::Timeout(request.key("timer").text()),
            "request" => Event::Request(request.get_or_default("session")?),
            "release" => Event::Release,
            "elect" => Event::Elect,
            "suspect" => Event::Suspect(request.get("peer")?),
            "restore" => Event::Restore(request.get("peer")?),
            "do" => Event::Do(request.key("op").text(), request.get_or_default("target")?),
            _ => return Err(format!("there is no request {:?}", on)),
        })
    }
}

/// The message of the kind that `kind` names, with the fields of `msg`.
fn message<M: Message>(json: &Json) -> Result<M> {
    let kind = json.key("kind").text();
    let index = M::NAMES.iter().position(|name| *name == kind).ok_or_else(|| format!("there is no kind {:?}", kind))?;
    M::from_json(index as u8, json.key("msg"))
}

impl<M: Message> Effect<M> {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Effect::Send { to, message } => {
                out.push(1);
                to.encode(out);
                put_message(out, message);
            }
            Effect::Set { timer, after } => {
                out.push(2);
                put_text(out, timer);
                nanoseconds(*after).encode(out);
            }
            Effect::Cancel { timer } => {
                out.push(3);
                put_text(out, timer);
            }
            Effect::Granted => out.push(4),
            Effect::Elected { leader, term } => {
                out.push(5);
                leader.encode(out);
                term.encode(out);
            }
            Effect::Save(value) => {
                out.push(6);
                put_message(out, value);
            }
            Effect::Log(text) => {
                out.push(7);
                put_text(out, text);
            }
        }
    }

    fn to_json(&self) -> Json {
        match self {
            Effect::Send { to, message } => {
                Json::sparse([("send", to.to_json()), ("kind", name_of(message)), ("msg", fields_of(message))])
            }
            Effect::Set { timer, after } => {
                Json::object([("set", timer.to_string().into()), ("after", after.to_json())])
            }
            Effect::Cancel { timer } => Json::object([("cancel", timer.to_string().into())]),
            Effect::Granted => Json::object([("granted", Json::Bool(true))]),
            Effect::Elected { leader, term } => {
                let term = if *term == 0 { Json::Null } else { term.to_json() };
                Json::sparse([("elected", leader.to_json()), ("term", term)])
            }
            Effect::Save(value) => Json::sparse([("save", name_of(value)), ("msg", fields_of(value))]),
            Effect::Log(text) => Json::object([("log", text.clone().into())]),
        }
    }
}

fn name_of<M: Message>(message: &M) -> Json {
    M::NAMES[message.index() as usize].into()
}

/// Null if there are none.
fn fields_of<M: Message>(message: &M) -> Json {
    let fields = message.to_json();
    if fields == Json::Object(Vec::new()) {
        Json::Null
    } else {
        fields
    }
}

/// The index of the kind, the number of bytes and the fields.
fn put_message<M: Message>(out: &mut Vec<u8>, message: &M) {
    out.push(message.index());
    let start = out.len() + 1;
    out.push(0);
    message.encode(out);
    let length = out.len() - start;
    if length < 0x80 {
        out[start - 1] = length as u8;
    } else {
        let mut prefix = Vec::new();
        (length as u64).encode(&mut prefix);
        out.splice(start - 1..start, prefix);
    }
}

thread_local! {
    static FAILURE: RefCell<String> = RefCell::default();
}

/// Has panics noted, with the place where they happened, instead of printed.
pub(crate) fn note_panics() {
    set_hook(Box::new(|info| {
        let payload: &dyn Any = info.payload();
        let text = payload.downcast_ref::<&str>().map(|s| s.to_string()).or_else(|| payload.downcast_ref().cloned());
        let place = info.location().map(|at| format!("{}:{}: ", at.file(), at.line()));
        FAILURE.with(|failure| failure.replace(place.unwrap_or_default() + &text.unwrap_or_default()));
    }));
}

/// Calls code of the algorithm. In WebAssembly a panic ends everything instead.
fn guarded<T>(code: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|_| FAILURE.with(|failure| failure.take()))
}

/// Messages to oneself in one event: more are an endless loop.
const MOST_TO_ITSELF: usize = 1 << 16;

/// Hands an event to a process, and then what it has sent to itself.
pub(crate) fn step<P: Plugin>(process: &mut P, mut env: Env<P::Message>, event: Event<P::Message>) {
    let (handlers, env) = (&P::HANDLERS, &mut env);
    match event {
        Event::Receive(from, message) => process.receive(env, from, message),
        Event::Start => handlers.starter.expect("the process is no Starter")(process, env),
        Event::Timeout(timer) => handlers.timed.expect("the process is not Timed")(process, env, timer),
        Event::Request(session) => {
            env.session = session;
            handlers.mutex.expect("the process is no Mutex").0(process, env)
        }
        Event::Release => handlers.mutex.expect("the process is no Mutex").1(process, env),
        Event::Elect => handlers.elector.expect("the process is no Elector")(process, env),
        Event::Suspect(peer) => handlers.monitor.expect("the process is no Monitor").0(process, env, peer),
        Event::Restore(peer) => handlers.monitor.expect("the process is no Monitor").1(process, env, peer),
        Event::Do(op, target) => handlers.commanded.expect("the process is not Commanded")(process, env, op, target),
    }
    for count in 0.. {
        assert!(count < MOST_TO_ITSELF, "{} messages to oneself in one event: an endless loop", count);
        match env.to_itself.pop_front() {
            Some(message) => process.receive(env, env.own, message),
            None => return,
        }
    }
}

/// The fields of a process, from its derived `Debug`: numbers, truth values, strings and lists of them
/// as in JSON, the others as text.
fn state_of(process: &impl Debug) -> Json {
    let (text, mut fields) = (format!("{:#?}", process), Vec::<(String, String)>::new());
    for line in text.lines() {
        match line.strip_prefix("    ").map(|field| (field.starts_with([' ', '}', ']', ')']), field)) {
            None => {} // the name of the type, or the end
            Some((false, field)) => {
                let (name, value) = match field.split_once(": ") {
                    Some((name, value)) => (name.to_owned(), value),
                    None => (fields.len().to_string(), field), // of a tuple
                };
                fields.push((name, value.into()));
            }
            Some((true, rest)) => {
                let (rest, (_, value)) = (rest.trim_start(), fields.last_mut().expect("a field comes first"));
                if rest.starts_with(['}', ']', ')']) && value.ends_with(',') {
                    value.pop();
                }
                value.push_str(rest);
            }
        }
    }
    let value = |text: &str| Json::parse(text).unwrap_or_else(|_| text.to_owned().into());
    Json::Object(fields.into_iter().map(|(name, v)| (name.into(), value(v.trim_end_matches(',')))).collect())
}

/// Hashes the numbers of processes, which come in sequence, by multiplication (Knuth, volume 3, 6.4).
#[derive(Default)]
struct Multiplied(u64);

impl Hasher for Multiplied {
    fn write(&mut self, _: &[u8]) {
        unreachable!("only numbers are hashed")
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

/// All processes of a program.
pub(crate) struct Kit<P: Plugin> {
    processes: HashMap<u64, (Id, P), BuildHasherDefault<Multiplied>>,
    spec: Spec,
    effects: Vec<Effect<P::Message>>,
    to_itself: VecDeque<P::Message>,
    answer: Vec<u8>,
}

impl<P: Plugin> Default for Kit<P> {
    fn default() -> Self {
        let spec = P::spec();
        let (processes, effects, to_itself, answer) = Default::default();
        Kit { processes, spec, effects, to_itself, answer }
    }
}

impl<P: Plugin> Kit<P> {
    /// The answer to a request; empty: the run is over.
    pub(crate) fn answer(&mut self, request: &[u8]) -> &[u8] {
        self.answer.clear();
        if request.first() == Some(&b'{') {
            self.json(request);
        } else if let Err(text) = self.compact(request) {
            self.answer.clear();
            self.answer.push(10);
            put_text(&mut self.answer, &text);
        }
        &self.answer
    }

    pub(crate) fn process(&mut self, number: u64) -> Result<&mut (Id, P)> {
        self.processes.get_mut(&number).ok_or_else(|| format!("there is no process {}", number))
    }

    /// Lets a process take an event: the effects are in self.effects, and the answer is what is broken.
    fn event(
        &mut self,
        process: u64,
        now: u64,
        random: Option<u64>,
        event: Event<P::Message>,
    ) -> Result<Option<String>> {
        let (own, process) =
            self.processes.get_mut(&process).ok_or_else(|| format!("there is no process {}", process))?;
        let (own, effects, to_itself) = (*own, &mut self.effects, &mut self.to_itself);
        effects.clear();
        to_itself.clear();
        let env = Env { own, effects, to_itself, now, session: 0, random: random.map(Random::new) };
        guarded(|| {
            step(process, env, event);
            process.invariant().err()
        })
    }

    fn compact(&mut self, mut input: &[u8]) -> Result<()> {
        let input = &mut input;
        let on = take(input, 1)?[0];
        let (process, now) = (u64::decode(input)?, u64::decode(input)?);
        let random =
            if self.spec.draws { Some(u64::from_le_bytes(take(input, 8)?.try_into().expect("8"))) } else { None };
        let broken = self.event(process, now, random, Event::decode(on, input)?)?;
        self.effects.iter().for_each(|effect| effect.encode(&mut self.answer));
        if let Some(text) = broken {
            self.answer.push(9);
            put_text(&mut self.answer, &text);
        }
        Ok(())
    }

    fn json(&mut self, request: &[u8]) {
        let request = std::str::from_utf8(request).map_err(|e| e.to_string()).and_then(Json::parse);
        let (n, answer) = match &request {
            Ok(request) if request.key("on").text() == "end" => return,
            Ok(request) => (request.key("n").clone(), self.object(request)),
            Err(text) => (Json::Null, Err(text.clone())),
        };
        let mut entries = vec![("n", n)];
        entries.extend(answer.unwrap_or_else(|text| vec![("failed", text.into())]));
        write!(self.answer, "{}", Json::object(entries)).expect("memory takes everything");
    }

    fn object(&mut self, request: &Json) -> Result<Vec<(&'static str, Json)>> {
        let process = request.get_or_default("process")?;
        match request.key("on").text() {
            "describe" => {
                let mut answer = vec![("protocol", Json::Number(1.0)), ("spec", self.describe())];
                answer.extend(cfg!(target_arch = "wasm32").then(|| ("compact", Json::Bool(true))));
                return Ok(answer);
            }
            "default" => {
                let network = network(request)?;
                let name = request.key("parameter").text();
                let asked = self.spec.parameters.iter().find(|p| p.name == name).and_then(|p| p.asks.as_ref());
                let asked = asked.ok_or_else(|| format!("there is no default of {:?} to ask for", name))?;
                Ok(vec![("value", guarded(|| asked(&network))?)])
            }
            "doubt" => {
                let network = network(request)?;
                let doubt = self.spec.doubts.ok_or("there are no doubts")?;
                Ok(vec![("value", guarded(|| doubt(&network))?.err().map_or(Json::Null, Json::from))])
            }
            "new" => {
                let config = request.key("config");
                let (own, all) = (config.key("params").clone(), config.key("all").clone());
                let config = Config::read(config, Params { own, all })?;
                let saved = request.key("saved");
                let saved = if saved == &Json::Null { None } else { Some(message(saved)?) };
                self.processes.insert(process, (config.id, guarded(|| P::new(config, saved))?));
                Ok(Vec::new())
            }
            "state" => Ok(vec![("state", state_of(&self.process(process)?.1))]),
            "drop" => {
                self.processes.remove(&process);
                Ok(Vec::new())
            }
            on => {
                let random = request.key("random").text();
                let random = if random.is_empty() { None } else { u64::from_str_radix(random, 16).ok() };
                let broken = self.event(process, request.get("now")?, random, Event::read(on, request)?)?;
                let effects = Json::List(self.effects.iter().map(Effect::to_json).collect());
                let effects = ("effects", Some(effects).filter(|_| !self.effects.is_empty()));
                let keys = [effects, ("broken", broken.map(Json::from))];
                Ok(keys.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
            }
        }
    }

    fn describe(&self) -> Json {
        let (has, kinds) = (&P::HANDLERS, P::Message::kinds());
        let group = |name| Json::List(kinds.iter().filter(|k| k.group == name).map(Kind::to_json).collect());
        let events = [
            ("start", has.starter.is_some()),
            ("timeout", has.timed.is_some()),
            ("suspect", has.monitor.is_some()),
            ("restore", has.monitor.is_some()),
            ("do", has.commanded.is_some()),
        ];
        let problem = match (has.mutex, has.elector) {
            (Some(_), None) => "mutex",
            (None, Some(_)) => "election",
            _ => panic!("the process is not either a Mutex or an Elector"),
        };
        let events = events.iter().filter(|event| event.1).map(|event| event.0.into()).collect();
        let spec = Json::object([
            ("problem", problem.into()),
            ("messages", group("")),
            ("auxiliary", group("auxiliary")),
            ("saves", group("saved")),
            ("states", Json::Bool(true)),
            ("handles", Json::List(events)),
        ]);
        match (spec, self.spec.described()) {
            (Json::Object(spec), Json::Object(own)) => Json::Object(spec.into_iter().chain(own).collect()),
            (spec, _) => spec,
        }
    }
}

/// The network that a request names, with its parameters.
fn network(request: &Json) -> Result<Network> {
    let own = request.key("params").clone();
    Network::read(request.key("network"), Params { own, all: Json::Null })
}
