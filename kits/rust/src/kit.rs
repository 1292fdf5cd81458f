//! The step protocol: requests in, answers out. What comes as JSON goes through the compact layout.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};

use crate::fields::{joined, put_text};
use crate::json::{pack, quoted, read, unpack};
use crate::*;

/// Makes a program of a process, or a module of WebAssembly. It names the events that the process handles,
/// with their arguments, and the process has a method of that name for each:
///
/// - `request()` and `release()`, of mutual exclusion: the application wants to enter, or has left;
/// - `elect()`, of election: starts one;
/// - `start()`, also after a recovery;
/// - `timeout(timer)`, with a `String`;
/// - `suspect(peer)` and `restore(peer)`, to listen to the failure detector itself;
/// - `command(target, op)`, an operation of its own (the event `do`); the target may be `NONE`.
///
/// The first two arguments of a method are `&mut self` and `env: &mut Env<Message>`.
#[macro_export]
macro_rules! serve {
    ($process:ident: $($event:ident($($argument:ident),*)),*) => {
        impl $crate::Plugin for $process {
            const HANDLES: &'static [&'static str] = &[$(stringify!($event)),*];

            fn handle(&mut self, env: &mut $crate::Env<Self::Message>, event: &str, _input: &mut &[u8]) {
                match event {
                    $(stringify!($event) => {
                        $(let $argument = $crate::Field::get(_input);)*
                        self.$event(env, $($argument),*)
                    })*
                    _ => panic!("the process does not handle {}: serve! does not name it", event),
                }
            }
        }

        #[cfg(target_arch = "wasm32")]
        mod exports {
            thread_local! {
                static KIT: std::cell::RefCell<$crate::Kit<super::$process>> = Default::default();
            }
            #[no_mangle]
            extern "C" fn conclave_room(length: usize) -> *const u8 {
                KIT.with(|kit| kit.borrow_mut().room(length))
            }
            #[no_mangle]
            extern "C" fn conclave_call(length: usize) -> i64 {
                KIT.with(|kit| kit.borrow_mut().call(length))
            }
            #[no_mangle]
            extern "C" fn conclave_panic() -> i64 {
                $crate::panicked()
            }
        }

        #[allow(dead_code)]
        fn main() {
            #[cfg(not(target_arch = "wasm32"))]
            $crate::run::<$process>();
        }
    };
}

/// Reads requests from standard input, and answers them on standard output, until `end`.
pub fn run<P: Plugin>() {
    let (mut kit, mut output) = (Kit::<P>::default(), standard_output());
    for line in std::io::stdin().lines() {
        match kit.answer(line.expect("cannot read a request").as_bytes()) {
            b"" => return,
            answer => output.write_all(&[answer, b"\n"].concat()).expect("cannot write an answer"),
        }
    }
}

/// Standard output for answers alone: whatever else prints to it comes out on standard error.
fn standard_output() -> impl Write {
    #[cfg(unix)]
    unsafe {
        // Safe: 1 and 2 are open from the start, and nothing else has the new descriptor.
        extern "C" {
            fn dup(descriptor: i32) -> i32;
            fn dup2(from: i32, to: i32) -> i32;
        }
        let kept = dup(1);
        dup2(2, 1);
        <std::fs::File as std::os::unix::io::FromRawFd>::from_raw_fd(kept)
    }
    #[cfg(not(unix))]
    std::io::stdout()
}

thread_local! {
    /// The text of the last panic, with the place where it happened.
    static PANIC: RefCell<String> = RefCell::default();
}

/// Where the text of the last panic is, for the host of a module; 0: there was none.
pub fn panicked() -> i64 {
    PANIC.with(|panic| located(panic.borrow().as_bytes()))
}

/// The address and the length; 0 if there are no bytes.
fn located(bytes: &[u8]) -> i64 {
    let at = if bytes.is_empty() { 0 } else { bytes.as_ptr() as i64 };
    at << 32 | bytes.len() as i64
}

/// Events and effects in the order of their numbers in the compact layout, from 1 on.
const EVENTS: &str = r#"{"start":{},"receive":{"fields":[["from","uint"]]},
    "timeout":{"fields":[["timer","string"]]},"request":{"fields":[["session","uint"]]},"release":{},
    "elect":{},"suspect":{"fields":[["peer","uint"]]},"restore":{"fields":[["peer","uint"]]},
    "do":{"fields":[["target","uint"],["op","string"]]},
    "all":{"fields":[["process","uint"],["now","uint"]]}}"#;
const EFFECTS: &str = r#"[{"fields":[["send","uint"]]},{"fields":[["set","string"],["after","uint"]]},
    {"fields":[["cancel","string"]]},{},{"fields":[["elected","uint"],["term","uint"]]},{},
    {"fields":[["log","string"]]}]"#;

/// Messages to oneself in one event: more are an endless loop.
const MOST_TO_ITSELF: usize = 1 << 16;

/// The fields of a process from its derived `Debug`: what is JSON as it is, the others as text.
fn state(process: &impl Debug) -> String {
    let mut fields = Vec::<String>::new();
    for line in format!("{:#?}", process).lines().filter_map(|line| line.strip_prefix("    ")) {
        if !line.starts_with([' ', '}', ']', ')']) {
            fields.push(String::new());
        }
        let (field, line) = (fields.last_mut().expect("a field comes first"), line.trim_start());
        let behind_the_last = field.ends_with(',') && line.starts_with(['}', ']', ')']);
        field.truncate(field.len() - usize::from(behind_the_last));
        field.push_str(line);
    }
    let pair = |field: &String| {
        let (name, value) = field.trim_end_matches(',').split_once(": ").expect("a named field");
        format!("\"{}\":{}", name, Value::parse(value).map_or_else(|| quoted(value), |_| value.into()))
    };
    format!("{{{}}}", joined(fields.iter().map(pair)))
}

/// All processes of a program.
pub struct Kit<P: Plugin> {
    pub(crate) processes: BTreeMap<u64, (Id, P)>,
    pub(crate) spec: String,
    pub(crate) draws: bool,
    pub(crate) kinds: Vec<Value>,
    events: Value,
    effects: Value,
    pub(crate) env: Env<P::Message>,
    room: Vec<u8>,
}

impl<P: Plugin> Default for Kit<P> {
    fn default() -> Self {
        set_hook(Box::new(|info| {
            eprintln!("{}", info);
            PANIC.with(|panic| *panic.borrow_mut() = info.to_string().replace('\n', " "));
        }));
        let parsed = |text: &str| Value::parse(text).expect("SPEC is no JSON");
        let spec = P::SPEC.split_whitespace().collect::<Vec<_>>().join(" ");
        let (now, to_itself) = (Duration::ZERO, VecDeque::new());
        Kit {
            processes: BTreeMap::new(),
            draws: parsed(&spec).key("draws").raw == "true",
            spec,
            kinds: P::Message::kinds().iter().map(|kind| parsed(&kind.1)).collect(),
            events: parsed(EVENTS),
            effects: parsed(EFFECTS),
            env: Env { now, session: 0, id: NONE, random: None, effects: Vec::new(), to_itself },
            room: Vec::new(),
        }
    }
}

impl<P: Plugin> Kit<P> {
    /// The address of a buffer with room for so many bytes.
    pub fn room(&mut self, length: usize) -> *const u8 {
        self.room.resize(self.room.len().max(length), 0);
        self.room.as_ptr()
    }

    /// Handles the request of so many bytes in that buffer: the address and the length of its answer.
    pub fn call(&mut self, length: usize) -> i64 {
        let room = std::mem::take(&mut self.room);
        let answer = located(self.answer(&room[..length]));
        self.room = room;
        answer
    }

    /// The answer to a request; empty: no effects, or the run is over.
    pub(crate) fn answer(&mut self, request: &[u8]) -> &[u8] {
        if request.starts_with(b"{") {
            self.env.effects = self.json(std::str::from_utf8(request).expect("UTF-8")).into_bytes();
        } else if let Err(text) = self.event(&mut &request[..]) {
            put_text(&text, self.env.effect(9));
        }
        &self.env.effects
    }

    /// Hands an event to a process, and then what it has sent to itself; says what is broken then.
    pub(crate) fn event(&mut self, input: &mut &[u8]) -> Result<(), String> {
        let (on, number, env) = (u8::get(input), u64::get(input), &mut self.env);
        let (id, process) = self.processes.get_mut(&number).expect("there is no such process");
        env.id = *id;
        env.now = Duration::from_nanos(u64::get(input));
        env.random = if self.draws { Some(f64::get(input).to_bits()) } else { None };
        env.session = if on == 4 { u32::get(input) } else { 0 };
        env.effects.clear();
        env.to_itself.clear();
        match on {
            2 => process.receive(env, Id::get(input), P::Message::get(input)),
            9 => process.handle(env, "command", input),
            _ => process.handle(env, &self.events.items[on as usize - 1].0, input),
        }
        for count in 0.. {
            assert!(count < MOST_TO_ITSELF, "{} messages to oneself in one event: an endless loop", count);
            match env.to_itself.pop_front() {
                Some(message) => process.receive(env, env.id, message),
                None => break,
            }
        }
        process.invariant()
    }

    fn json(&mut self, request: &str) -> String {
        let request = Value::parse(request).expect("a request is JSON");
        if request.key("on").text() == "end" {
            return String::new();
        }
        // In WebAssembly a panic ends everything instead.
        let keys = catch_unwind(AssertUnwindSafe(|| self.keys(request.key("on").text(), &request)));
        let failed = |_| format!(",\"failed\":{}", quoted(&PANIC.with(|panic| panic.take())));
        format!("{{\"n\":{}{}}}", request.key("n").raw, keys.unwrap_or_else(failed))
    }

    /// The keys of an answer, with a comma before each.
    fn keys(&mut self, on: &str, request: &Value) -> String {
        let number: u64 = read(request.key("process")).expect("process");
        let (own, all) = (request.key("params").clone(), Value::default());
        let (params, network) = (Params { own, all }, read(request.key("network")).expect("network"));
        match on {
            "describe" => self.describe(),
            "default" => {
                format!(",\"value\":{}", P::default_of(request.key("parameter").text(), &network, &params))
            }
            "doubt" => {
                let doubt = P::doubt(&network, &params).err();
                format!(",\"value\":{}", doubt.map_or("null".into(), |text| quoted(&text)))
            }
            "new" => {
                let config = request.key("config");
                let params = Params { own: config.key("params").clone(), all: config.key("all").clone() };
                let config: Config = read(config).expect("config");
                let saved = Some(request.key("saved")).filter(|saved| *saved != NULL);
                let saved = saved.map(|saved| P::Message::get(&mut &self.message(saved)[..]));
                self.processes.insert(number, (config.id, P::new(config, params, saved)));
                String::new()
            }
            "state" => format!(",\"state\":{}", state(&self.processes[&number].1)),
            "drop" => self.processes.remove(&number).map_or(String::new(), |_| String::new()),
            on => self.effects(on, request),
        }
    }

    /// The message that an object has, in the compact layout.
    fn message(&self, object: &Value) -> Vec<u8> {
        let index = self.kinds.iter().position(|kind| kind.key("kind") == object.key("kind"));
        let mut out = vec![index.expect("there is no such kind") as u8];
        pack(&self.kinds[out[0] as usize], object.key("msg"), &mut out).expect("a message of its form");
        out
    }

    fn effects(&mut self, on: &str, request: &Value) -> String {
        let index = self.events.items.iter().position(|event| event.0 == on);
        let mut event = vec![index.expect("there is no such request") as u8 + 1];
        pack(self.events.key("all"), request, &mut event).expect("numbers");
        if self.draws {
            let bits = u64::from_str_radix(request.key("random").text(), 16).expect("random");
            event.extend(bits.to_le_bytes());
        }
        pack(self.events.key(on), request, &mut event).expect("an event of its form");
        if on == "receive" {
            event.extend(self.message(request));
        }
        let broken = self.event(&mut &event[..]).err();
        let broken = broken.map_or(String::new(), |text| format!(",\"broken\":{}", quoted(&text)));
        let (mut effects, input) = (Vec::new(), &mut &self.env.effects[..]);
        while !input.is_empty() {
            effects.push(match u8::get(input) {
                effect @ (1 | 6) => {
                    let to = if effect == 1 { Some(Id::get(input)) } else { None };
                    let start = to.map_or("save".into(), |to| format!("send\":{},\"kind", to));
                    let (kind, _) = (&self.kinds[u8::get(input) as usize], u64::get(input));
                    let name = quoted(kind.key("kind").text());
                    format!("{{\"{}\":{},\"msg\":{}}}", start, name, unpack(kind, input))
                        .replace(",\"msg\":{}", "")
                }
                4 => "{\"granted\":true}".into(),
                effect => {
                    unpack(&self.effects.items[effect as usize - 1].1, input).replace(",\"term\":0", "")
                }
            });
        }
        format!(",\"effects\":[{}]{}", effects.join(","), broken)
    }

    fn describe(&self) -> String {
        let has = |event: &&str| P::HANDLES.contains(event);
        let optional = ["start", "timeout", "suspect", "restore", "command"].into_iter().filter(has);
        let kinds = |group: &str| {
            joined(P::Message::kinds().into_iter().filter(|kind| kind.0 == group).map(|kind| kind.1))
        };
        format!(
            concat!(
                r#","protocol":1{},"spec":{{"problem":"{}","messages":[{}],"auxiliary":[{}],"saves":[{}],"#,
                r#""handles":[{}],"states":true,{}"#
            ),
            if cfg!(target_arch = "wasm32") { r#","compact":true"# } else { "" },
            if has(&"elect") { "election" } else { "mutex" },
            kinds(""),
            kinds("auxiliary"),
            kinds("saves"),
            joined(optional.map(|event| quoted(event).replace("command", "do"))),
            &self.spec[1..],
        )
    }
}
