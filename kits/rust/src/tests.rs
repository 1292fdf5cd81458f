//! Tests of the protocol, in both forms, with a process that takes every event.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::json::{quoted, read, Value};
use crate::kit::Kit;
use crate::Message as _;
use crate::*;

record! {
    #[derive(Clone, Debug, PartialEq)]
    struct Pair { id: Id, r#type: i32 }
}

messages! {
    #[derive(Clone, Debug, PartialEq)]
    enum Message {
        All = "ALL" {
            uint: u64, signed: i64, flag: bool, real: f64, text: String, wait: Duration, ids: Vec<Id>,
            pair: Pair
        },
        Empty = "EMPTY",
        Long = auxiliary "LONG" { text: String },
        State = saves "STATE" { count: u32 },
    }
}

fn all() -> Message {
    Message::All {
        uint: 300,
        signed: -65,
        flag: true,
        real: -0.5,
        text: "é\"\n".into(),
        wait: Duration::from_millis(1),
        ids: vec![1, 200],
        pair: Pair { id: 2, r#type: -1 },
    }
}

#[derive(Debug)]
#[allow(dead_code)] // the state shows them
struct Everything {
    id: Id,
    incarnation: u32,
    count: u32,
    votes: BTreeMap<Id, bool>,
    last: Option<(Id, Message)>,
    names: Vec<String>,
}

impl Process for Everything {
    type Message = Message;

    const SPEC: &'static str = r#"{
        "summary": "takes
            everything",
        "draws": true,
        "doubts": true
    }"#;

    fn new(config: Config, _: Params, saved: Option<Message>) -> Self {
        let count = if let Some(Message::State { count }) = saved { count } else { 0 };
        let names = vec!["a".into(), "b,]".into()];
        let (id, incarnation) = (config.id, config.incarnation);
        Everything { id, incarnation, count, votes: [(1, true)].into(), last: None, names }
    }

    fn default_of(parameter: &str, network: &Network, params: &Params) -> String {
        assert_eq!(parameter, "t");
        if params.get("flag") {
            network.latency.as_nanos().to_string()
        } else {
            "7".into()
        }
    }

    fn doubt(network: &Network, params: &Params) -> Result<(), String> {
        let times: Vec<Duration> = params.all("t", network.nodes as usize);
        if times.iter().all(|t| *t >= network.latency) {
            Ok(())
        } else {
            Err(format!("t {:?} < d", times[0]))
        }
    }

    fn receive(&mut self, env: &mut Env<Message>, from: Id, message: Message) {
        match &message {
            Message::Long { text } if text == "panic" => panic!("the {} falls", "sky"),
            Message::Long { .. } => env.send(from, message.clone()),
            Message::Empty => env.log(&format!("from {} at {}", from, env.now.as_nanos())),
            _ => env.send(2, message.clone()),
        }
        self.last = Some((from, message));
    }

    fn invariant(&self) -> Result<(), String> {
        if self.count > 9 {
            Err("too many".into())
        } else {
            Ok(())
        }
    }
}

impl Everything {
    fn elect(&mut self, env: &mut Env<Message>) {
        env.elected(3, 7);
        env.send(self.id, Message::Empty);
        env.send(self.id, Message::State { count: 1 });
        env.elected(NONE, 0);
    }

    fn start(&mut self, env: &mut Env<Message>) {
        self.count += 5;
        env.save(Message::State { count: self.count });
        env.save(Message::Empty);
    }

    fn timeout(&mut self, env: &mut Env<Message>, timer: String) {
        env.cancel_timer(&timer);
        env.set_timer("again", Duration::from_nanos(200));
    }

    fn suspect(&mut self, env: &mut Env<Message>, peer: Id) {
        env.log(&format!("suspects {}", peer));
    }
    fn restore(&mut self, env: &mut Env<Message>, peer: Id) {
        env.log(&format!("trusts {}", peer));
    }

    fn command(&mut self, env: &mut Env<Message>, target: Id, op: String) {
        let drawn = env.below(1 << 32);
        env.log(&format!("{} {} {}", op, target, drawn));
    }
}

crate::serve!(
    Everything: elect(), start(), timeout(timer), suspect(peer), restore(peer), command(target, op)
);

/// A lock that draws without saying so.
#[derive(Debug)]
struct Lock;

impl Process for Lock {
    type Message = Message;
    const SPEC: &'static str = r#"{"summary": "a lock"}"#;
    fn new(_: Config, _: Params, _: Option<Message>) -> Self {
        Lock
    }
    fn receive(&mut self, _: &mut Env<Message>, _: Id, _: Message) {}
}

impl Lock {
    fn request(&mut self, env: &mut Env<Message>) {
        env.log(&format!("session {}", env.session));
        env.granted();
    }
    fn release(&mut self, env: &mut Env<Message>) {
        env.below(2);
    }
}

mod lock {
    use super::Lock;
    crate::serve!(Lock: request(), release());
}

const NEW: &str =
    r#"{"n":1,"on":"new","process":300,"config":{"id":1,"peers":[1,2],"neighbors":[1,2],"incarnation":1}}"#;

fn kit<P: Plugin>() -> Kit<P> {
    let mut kit = Kit::default();
    assert_eq!(ask(&mut kit, NEW), r#"{"n":1}"#);
    kit
}

fn ask<P: Plugin>(kit: &mut Kit<P>, request: &str) -> String {
    String::from_utf8(kit.answer(request.as_bytes()).to_vec()).expect("UTF-8")
}

/// The answers to an event of process 300 at 1 µs, in JSON and compact.
fn event<P: Plugin>(kits: &mut (Kit<P>, Kit<P>), keys: &str, on: u8, rest: &[u8]) -> (String, Vec<u8>) {
    let request = format!(r#"{{"n":2,"process":300,"now":1000,"random":"000000000000000a",{}}}"#, keys);
    let mut compact = vec![on, 0xac, 2, 0xe8, 7];
    if kits.0.draws {
        compact.extend([10, 0, 0, 0, 0, 0, 0, 0]);
    }
    compact.extend(rest);
    (ask(&mut kits.0, &request), kits.1.answer(&compact).to_vec())
}

#[track_caller]
fn answers<P: Plugin>(
    kits: &mut (Kit<P>, Kit<P>),
    keys: &str,
    on: u8,
    rest: &[u8],
    json: &str,
    compact: &[u8],
) {
    let got = event(kits, keys, on, rest);
    assert_eq!((got.0.as_str(), got.1.as_slice()), (format!(r#"{{"n":2{}}}"#, json).as_str(), compact));
}

fn text(key: u8, text: &str) -> Vec<u8> {
    [&[key, text.len() as u8], text.as_bytes()].concat()
}

#[test]
fn events() {
    let kits = &mut (kit::<Everything>(), kit::<Everything>());
    let json = r#","effects":[{"save":"STATE","msg":{"count":5}},{"save":"EMPTY"}]"#;
    answers(kits, r#""on":"start""#, 1, &[], json, &[6, 3, 1, 5, 6, 1, 0]);

    let json = concat!(
        r#","effects":[{"elected":3,"term":7},{"elected":0},{"log":"from 1 at 1000"},{"send":2,"#,
        r#""kind":"STATE","msg":{"count":1}}]"#
    );
    // What it sent to itself comes last.
    let compact = [&[5, 3, 7, 5, 0, 0], &text(7, "from 1 at 1000")[..], &[1, 2, 3, 1, 1]].concat();
    answers(kits, r#""on":"elect""#, 6, &[], json, &compact);

    let json = r#","effects":[{"cancel":"beat"},{"set":"again","after":200}]"#;
    let compact = [&text(3, "beat")[..], &text(2, "again"), &[0xc8, 1]].concat();
    answers(kits, r#""on":"timeout","timer":"beat""#, 3, &text(4, "beat")[1..], json, &compact);

    let json = r#","effects":[{"log":"suspects 2"}]"#;
    answers(kits, r#""on":"suspect","peer":2"#, 7, &[2], json, &text(7, "suspects 2"));
    let json = r#","effects":[{"log":"trusts 2"}]"#;
    answers(kits, r#""on":"restore","peer":2"#, 8, &[2], json, &text(7, "trusts 2"));

    let drawn = format!("hand 2 {}", 143069886);
    let json = format!(r#","effects":[{{"log":"{}"}}]"#, drawn);
    let op = [&[2], &text(4, "hand")[1..]].concat();
    answers(kits, r#""on":"do","op":"hand","target":2"#, 9, &op, &json, &text(7, &drawn));

    answers(
        kits,
        r#""on":"start""#,
        1,
        &[],
        r#","effects":[{"save":"STATE","msg":{"count":10}},{"save":"EMPTY"}],"broken":"too many""#,
        &[&[6, 3, 1, 10, 6, 1, 0], &text(9, "too many")[..]].concat(),
    );
}

/// Every type of a field, there and back. The bytes are those of Conclave's codec.
#[test]
fn messages() {
    let kits = &mut (kit::<Everything>(), kit::<Everything>());
    let fields = [
        &[0xac, 2, 0x81, 1, 1][..],
        &(-0.5f64).to_le_bytes(),
        &[4, 0xc3, 0xa9, b'"', b'\n', 0x80, 0x89, 0x7a],
        &[2, 1, 0xc8, 1, 2, 1],
    ]
    .concat();
    let mut bytes = Vec::new();
    all().put(&mut bytes);
    assert_eq!((bytes[0], &bytes[1..]), (0, &fields[..]));
    let json = concat!(
        r#""kind":"ALL","msg":{"uint":300,"signed":-65,"flag":true,"real":-0.5,"#,
        r#""text":"é\"\u000a","wait":1000000,"ids":[1,200],"pair":{"id":2,"type":-1}}"#
    );
    answers(
        kits,
        &format!(r#""on":"receive","from":3,{}"#, json),
        2,
        &[&[3, 0][..], &fields].concat(),
        &format!(r#","effects":[{{"send":2,{}}}]"#, json),
        &[&[1, 2, 0, fields.len() as u8][..], &fields].concat(),
    );
    assert_eq!(kits.0.processes[&300].1.last, Some((3, all())));
    assert_eq!(kits.1.processes[&300].1.last, Some((3, all())));

    let long = "x".repeat(200);
    let fields = [&[0xc8, 1], long.as_bytes()].concat();
    let json = format!(r#""kind":"LONG","msg":{{"text":"{}"}}"#, long);
    answers(
        kits,
        &format!(r#""on":"receive","from":3,{}"#, json),
        2,
        &[&[3, 2], &fields[..]].concat(),
        &format!(r#","effects":[{{"send":3,{}}}]"#, json),
        &[&[1, 3, 2, 0xca, 1], &fields[..]].concat(),
    );
}

#[test]
fn numbers() {
    for n in [0, 1, 127, 128, u64::from(u32::MAX), u64::MAX] {
        let mut bytes = Vec::new();
        n.put(&mut bytes);
        assert_eq!(u64::get(&mut &bytes[..]), n);
    }
    for n in [0, -1, 63, 64, -64, -65, i64::MIN, i64::MAX] {
        let mut bytes = Vec::new();
        n.put(&mut bytes);
        assert_eq!(i64::get(&mut &bytes[..]), n);
    }
    for (text, uint, int) in [("5", Some(5), Some(5)), ("-1", None, Some(-1)), ("0.5", None, None)] {
        let value = Value::parse(text).expect("JSON");
        assert_eq!((read::<u64>(&value), read::<i64>(&value)), (uint, int));
    }
}

/// A handler that panics: the answer says where, and the program continues.
#[test]
fn failures() {
    let kits = &mut (kit::<Everything>(), kit::<Everything>());
    let again = concat!(
        r#"{"n":2,"on":"receive","process":300,"now":1,"random":"0","from":1,"kind":"LONG","#,
        r#""msg":{"text":"again"}}"#
    );
    assert!(ask(&mut kits.0, again).contains("65536 messages to oneself in one event: an endless loop"));
    let failed = ask(&mut kits.0, &again.replace("again", "panic"));
    let line =
        include_str!("tests.rs").lines().position(|line| line.contains("the {} falls")).expect("above") + 1;
    assert!(failed.starts_with(r#"{"n":2,"failed":""#) && failed.contains("the sky falls"), "{}", failed);
    assert!(failed.contains(&format!("src/tests.rs:{}", line)), "{}", failed);
    let effects = r#","effects":[{"log":"suspects 2"}]"#;
    answers(kits, r#""on":"suspect","peer":2"#, 7, &[2], effects, &text(7, "suspects 2"));

    for (request, reason) in [
        (r#"{"n":2,"on":"elect","process":5,"now":1,"random":"0"}"#, "there is no such process"),
        (r#"{"n":2,"on":"receive","process":300,"now":1,"random":"0","from":2,"kind":"NO"}"#, "no such kind"),
        (r#"{"n":2,"on":"dance","process":300,"now":1,"random":"0"}"#, "there is no such request"),
        (r#"{"n":2,"on":"suspect","process":300,"now":1,"random":"0","peer":-1}"#, "an event of its form"),
    ] {
        let answer = ask(&mut kits.0, request);
        assert!(answer.starts_with(r#"{"n":2,"failed":""#) && answer.contains(reason), "{}", answer);
    }
}

#[test]
fn a_lock_that_draws_without_saying_so() {
    let kits = &mut (kit::<Lock>(), kit::<Lock>());
    let granted = r#","effects":[{"log":"session 4"},{"granted":true}]"#;
    answers(
        kits,
        r#""on":"request","session":4"#,
        4,
        &[4],
        granted,
        &[&text(7, "session 4")[..], &[4]].concat(),
    );
    let failed = ask(&mut kits.0, r#"{"n":2,"on":"release","process":300,"now":1}"#);
    assert!(failed.contains("\\\"draws\\\": true") && failed.contains("src/tests.rs:"), "{}", failed);
    let failed = ask(&mut kits.0, r#"{"n":2,"on":"start","process":300,"now":1}"#);
    assert!(failed.contains("the process does not handle start"), "{}", failed);
    let elect =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| kits.1.answer(&[6, 0xac, 2, 1]).len()));
    assert!(elect.is_err());
    assert_ne!(panicked(), 0); // as in WebAssembly, where a panic is no answer
}

#[test]
fn before_and_after() {
    let kit = &mut kit::<Everything>();
    let network = r#""network":{"nodes":3,"latency":2000000,"mean":2000000,"bounded":true,"hold":0}"#;
    for (rest, value) in [
        (r#""on":"default","parameter":"t","params":{"flag":true}"#, "2000000"),
        (r#""on":"default","parameter":"t","params":{"flag":false}"#, "7"),
        (r#""on":"doubt","params":{"t":0}"#, "\"t 0ns < d\""),
        (r#""on":"doubt","params":{"t":2000000}"#, "null"),
    ] {
        assert_eq!(
            ask(kit, &format!(r#"{{"n":4,{},{}}}"#, network, rest)),
            format!(r#"{{"n":4,"value":{}}}"#, value)
        );
    }
    ask(kit, &NEW.replace("300", "301").replace("}}", r#"},"saved":{"kind":"STATE","msg":{"count":7}}}"#));
    assert_eq!(
        ask(kit, r#"{"n":5,"on":"state","process":301}"#),
        concat!(
            r#"{"n":5,"state":{"id":1,"incarnation":1,"count":7,"votes":"{1: true}","last":"None","#,
            r#""names":["a","b,]"]}}"#
        )
    );
    assert_eq!(ask(kit, r#"{"n":6,"on":"drop","process":301}"#), r#"{"n":6}"#);
    assert!(ask(kit, r#"{"n":7,"on":"state","process":301}"#).starts_with(r#"{"n":7,"failed":"#));
    assert_eq!(ask(kit, r#"{"n":8,"on":"end"}"#), "");
}

#[test]
fn describe() {
    let want = concat!(
        r#"{"n":1,"protocol":1,"spec":{"problem":"election","messages":["#,
        r#"{"kind":"ALL","fields":[["uint","uint"],"#,
        r#"["signed","int"],["flag","bool"],["real","float"],["text","string"],["wait","duration"],"#,
        r#"["ids",["uint"]],["pair",{"fields":[["id","uint"],["type","int"]]}]]},"#,
        r#"{"kind":"EMPTY","fields":[]}],"#,
        r#""auxiliary":[{"kind":"LONG","fields":[["text","string"]]}],"#,
        r#""saves":[{"kind":"STATE","fields":[["count","uint"]]}],"#,
        r#""handles":["start","timeout","suspect","restore","do"],"states":true, "#,
        r#""summary": "takes everything", "draws": true, "doubts": true }}"#
    );
    assert_eq!(ask(&mut Kit::<Everything>::default(), r#"{"n":1,"on":"describe","protocols":[1]}"#), want);
    let lock = ask(&mut Kit::<Lock>::default(), r#"{"n":1,"on":"describe","protocols":[1]}"#);
    assert!(lock.contains(r#""problem":"mutex""#) && lock.contains(r#""handles":[]"#), "{}", lock);
}

#[test]
fn json() {
    assert_eq!(quoted("\u{7} /\\\"é"), r#""\u0007 /\\\"é""#);
    let text = r#" { "a" : [1, -2.5,true,null,"\ud83d\ude00\u0007 \/\\\n"] ,"b":{}} "#;
    let value = Value::parse(text).expect("it is JSON");
    let items: Vec<_> = value.key("a").items.iter().map(|item| item.1.raw.as_str()).collect();
    assert_eq!(items, ["1", "-2.5", "true", "", "\"😀\u{7} /\\\n"]);
    assert_eq!((value.key("b").raw.as_str(), value.key("c").raw.as_str()), ("{", ""));
    for wrong in ["", "{", "[1,]", "[1 2]", "{\"a\"}", "nul", "1 2", "\"\\ud83d\"", "inf", "NaN", "[1}"] {
        assert!(Value::parse(wrong).is_none(), "{}", wrong);
    }
}
