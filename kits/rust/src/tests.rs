//! Tests of the protocol, in both forms, with a process that takes every event.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kit::{note_panics, Kit};
use crate::Message as _;
use crate::*;

record! {
    #[derive(Copy)]
    struct Pair { id: Id, r#type: i32 }
}

messages! {
    enum Message {
        All = "ALL" { uint: u64, signed: i64, flag: bool, real: f64, text: String, wait: Duration, ids: Vec<Id>, pair: Pair },
        Empty = "EMPTY",
        Long = auxiliary "LONG" { text: String },
        State = saved "STATE" { count: u32 },
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
        ids: vec![Id(1), Id(200)],
        pair: Pair { id: Id(2), r#type: -1 },
    }
}

#[derive(Debug)]
#[allow(dead_code)] // the state shows them
struct Everything {
    config: Config,
    count: u32,
    votes: BTreeMap<Id, bool>,
    last: Option<(Id, Message)>,
    names: Vec<String>,
}

impl Process for Everything {
    type Message = Message;

    fn spec() -> Spec {
        Spec {
            summary: "takes everything",
            draws: true,
            parameters: vec![
                Parameter::fixed("flag", false, "a flag"),
                Parameter::asking("t", |net| if net.params.get("flag") { net.latency } else { SLACK }, "a time-out")
                    .at_least(Duration::ZERO),
                Parameter::one_of("mode", &["a", "b"], "a mode"),
            ],
            doubts: Some(|net| match net.params.get::<Duration>("t") {
                t if t < net.latency => Err(format!("t {} is below d", written(t))),
                _ => Ok(()),
            }),
            survives: Survives { crashes: Json::Number(2.0), ..Survives::default() },
            periods: vec![Period { parameter: "t", timer: "beat", ..Period::default() }],
            ..Spec::default()
        }
    }

    fn new(config: Config, saved: Option<Message>) -> Self {
        let count = if let Some(Message::State { count }) = saved { count } else { 0 };
        let names = vec!["a".into(), "b,]".into()];
        Everything { config, count, votes: [(Id(1), true)].into(), last: None, names }
    }

    fn receive(&mut self, env: &mut Env<Message>, from: Id, message: Message) {
        match &message {
            Message::Long { text } if text == "panic" => panic!("the {} falls", "sky"),
            Message::Long { .. } => env.send(from, message.clone()),
            Message::Empty => env.log(format!("from {} at {}", from, written(env.now()))),
            _ => env.send(Id(2), message.clone()),
        }
        self.last = Some((from, message));
    }

    fn invariant(&self) -> Result<()> {
        if self.count > 9 {
            Err("too many".into())
        } else {
            Ok(())
        }
    }
}

impl Elector for Everything {
    fn elect(&mut self, env: &mut Env<Message>) {
        env.elected(Id(3), 7);
        env.send(self.config.id, Message::Empty);
        env.send(self.config.id, Message::State { count: 1 });
        env.elected(Id::NONE, 0);
    }
}

impl Starter for Everything {
    fn start(&mut self, env: &mut Env<Message>) {
        self.count += 5;
        env.save(Message::State { count: self.count });
        env.save(Message::Empty);
    }
}

impl Timed for Everything {
    fn timeout(&mut self, env: &mut Env<Message>, timer: &str) {
        env.cancel_timer(timer.to_owned());
        env.set_timer("again", Duration::from_nanos(200));
    }
}

impl Monitor for Everything {
    fn suspect(&mut self, env: &mut Env<Message>, peer: Id) {
        env.log(format!("suspects {}", peer));
    }
    fn restore(&mut self, env: &mut Env<Message>, peer: Id) {
        env.log(format!("trusts {}", peer));
    }
}

impl Commanded for Everything {
    fn command(&mut self, env: &mut Env<Message>, op: &str, target: Id) {
        env.log(format!("{} {} {}", op, target, env.random().bits()));
    }
}

crate::serve!(Everything);

/// A lock that draws without saying so.
#[derive(Debug)]
struct Lock;

impl Process for Lock {
    type Message = Message;
    fn spec() -> Spec {
        Spec::default()
    }
    fn new(_: Config, _: Option<Message>) -> Self {
        Lock
    }
    fn receive(&mut self, _: &mut Env<Message>, _: Id, _: Message) {}
}

impl Mutex for Lock {
    fn request(&mut self, env: &mut Env<Message>) {
        env.log(format!("session {}", env.session()));
        env.granted();
    }
    fn release(&mut self, env: &mut Env<Message>) {
        env.random();
    }
}

mod lock {
    crate::serve!(super::Lock);
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
    if P::spec().draws {
        compact.extend([10, 0, 0, 0, 0, 0, 0, 0]);
    }
    compact.extend(rest);
    (ask(&mut kits.0, &request), kits.1.answer(&compact).to_vec())
}

#[track_caller]
fn answers<P: Plugin>(kits: &mut (Kit<P>, Kit<P>), keys: &str, on: u8, rest: &[u8], json: &str, compact: &[u8]) {
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

    let json = r#","effects":[{"elected":3,"term":7},{"elected":0},{"log":"from 1 at 1µs"},{"send":2,"kind":"STATE","msg":{"count":1}}]"#;
    let compact = [&[5, 3, 7, 5, 0, 0], &text(7, "from 1 at 1µs")[..], &[1, 2, 3, 1, 1]].concat(); // to itself comes last
    answers(kits, r#""on":"elect""#, 6, &[], json, &compact);

    let json = r#","effects":[{"cancel":"beat"},{"set":"again","after":200}]"#;
    let compact = [&text(3, "beat")[..], &text(2, "again"), &[0xc8, 1]].concat();
    answers(kits, r#""on":"timeout","timer":"beat""#, 3, &text(4, "beat")[1..], json, &compact);

    let json = r#","effects":[{"log":"suspects 2"}]"#;
    answers(kits, r#""on":"suspect","peer":2"#, 7, &[2], json, &text(7, "suspects 2"));
    let json = r#","effects":[{"log":"trusts 2"}]"#;
    answers(kits, r#""on":"restore","peer":2"#, 8, &[2], json, &text(7, "trusts 2"));

    let drawn = format!("hand 2 {}", Random::new(10).bits());
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
    all().encode(&mut bytes);
    assert_eq!(bytes, fields);
    let json = r#""kind":"ALL","msg":{"uint":300,"signed":-65,"flag":true,"real":-0.5,"text":"é\"\u000a","wait":1000000,"ids":[1,200],"pair":{"id":2,"type":-1}}"#;
    answers(
        kits,
        &format!(r#""on":"receive","from":3,{}"#, json),
        2,
        &[&[3, 0][..], &fields].concat(),
        &format!(r#","effects":[{{"send":2,{}}}]"#, json),
        &[&[1, 2, 0, fields.len() as u8][..], &fields].concat(),
    );
    assert_eq!(kits.0.process(300).expect("it is there").1.last, Some((Id(3), all())));
    assert_eq!(kits.1.process(300).expect("it is there").1.last, Some((Id(3), all())));

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
        n.encode(&mut bytes);
        assert_eq!(u64::decode(&mut &bytes[..]), Ok(n));
        assert!(u64::decode(&mut &bytes[..bytes.len() - 1]).is_err());
    }
    for n in [0, -1, 63, 64, -64, -65, i64::MIN, i64::MAX] {
        let mut bytes = Vec::new();
        n.encode(&mut bytes);
        assert_eq!(i64::decode(&mut &bytes[..]), Ok(n));
    }
    assert!(u8::decode(&mut &[0x80, 2][..]).is_err());
    assert!(u8::from_json(&Json::Number(256.0)).is_err());
    assert!(u32::from_json(&Json::Number(-1.0)).is_err());
    assert!(i64::from_json(&Json::Number(0.5)).is_err());
    assert!(Duration::from_json(&Json::Number(-1.0)).is_err());
}

/// A handler that panics: the answer says where, and the program continues.
#[test]
fn failures() {
    note_panics();
    let kits = &mut (kit::<Everything>(), kit::<Everything>());
    let long = [&[1, 2], &text(0, "again")[1..]].concat();
    let (json, compact) = event(kits, r#""on":"receive","from":1,"kind":"LONG","msg":{"text":"again"}"#, 2, &long);
    let reason = "65536 messages to oneself in one event: an endless loop";
    assert!(
        json.ends_with(&format!("{}\"}}", reason)) && String::from_utf8_lossy(&compact).ends_with(reason),
        "{}",
        json
    );
    let (json, compact) = event(
        kits,
        r#""on":"receive","from":2,"kind":"LONG","msg":{"text":"panic"}"#,
        2,
        &[&[2, 2], &text(0, "panic")[1..]].concat(),
    );
    let line = include_str!("tests.rs").lines().position(|line| line.contains("the {} falls")).expect("above") + 1;
    let place = format!("src/tests.rs:{}: the sky falls", line);
    assert!(json.starts_with(r#"{"n":2,"failed":""#) && json.contains(&place), "{}", json);
    assert!(compact[0] == 10 && String::from_utf8_lossy(&compact).ends_with(&place), "{:?}", compact);
    answers(
        kits,
        r#""on":"suspect","peer":2"#,
        7,
        &[2],
        r#","effects":[{"log":"suspects 2"}]"#,
        &text(7, "suspects 2"),
    );

    for (request, reason) in [
        (r#"{"n":2,"on":"elect","process":5,"now":1}"#, "there is no process 5"),
        (r#"{"n":2,"on":"receive","process":300,"now":1,"from":2,"kind":"NO"}"#, "there is no kind \\\"NO\\\""),
        (r#"{"n":2,"on":"dance","process":300,"now":1}"#, "there is no request \\\"dance\\\""),
        (r#"{"n":2,"on":"suspect","process":300,"now":1}"#, "peer: null is no whole number"),
    ] {
        assert_eq!(ask(&mut kits.0, request), format!(r#"{{"n":2,"failed":"{}"}}"#, reason));
    }
    assert_eq!(ask(&mut kits.0, r#"{"n":2"#), r#"{"n":null,"failed":"byte 6 of the request is not as JSON has it"}"#);
}

#[test]
fn a_lock_that_draws_without_saying_so() {
    note_panics();
    let kits = &mut (kit::<Lock>(), kit::<Lock>());
    let granted = r#","effects":[{"log":"session 4"},{"granted":true}]"#;
    answers(kits, r#""on":"request","session":4"#, 4, &[4], granted, &[&text(7, "session 4")[..], &[4]].concat());
    let (_, compact) = event(kits, r#""on":"release""#, 5, &[]);
    assert!(String::from_utf8_lossy(&compact).contains("draws: true"), "{:?}", compact);
}

#[test]
fn before_and_after() {
    let kit = &mut kit::<Everything>();
    let network = r#""network":{"nodes":3,"latency":2000000,"mean":2000000,"bounded":true,"hold":0}"#;
    for (rest, value) in [
        (r#""on":"default","parameter":"t","params":{"flag":true}"#, "2000000"),
        (r#""on":"default","parameter":"t","params":{"flag":false}"#, "20000000"),
        (r#""on":"doubt","params":{"t":0}"#, "\"t 0s is below d\""),
        (r#""on":"doubt","params":{"t":2000000}"#, "null"),
    ] {
        assert_eq!(ask(kit, &format!(r#"{{"n":4,{},{}}}"#, network, rest)), format!(r#"{{"n":4,"value":{}}}"#, value));
    }
    ask(kit, &NEW.replace("300", "301").replace("}}", r#"},"saved":{"kind":"STATE","msg":{"count":7}}}"#));
    assert_eq!(
        ask(kit, r#"{"n":5,"on":"state","process":301}"#),
        r#"{"n":5,"state":{"config":[1,1],"count":7,"votes":"{1: true}","last":"None","names":["a","b,]"]}}"#
    );
    assert_eq!(ask(kit, r#"{"n":6,"on":"drop","process":301}"#), r#"{"n":6}"#);
    assert_eq!(ask(kit, r#"{"n":7,"on":"state","process":301}"#), r#"{"n":7,"failed":"there is no process 301"}"#);
    assert_eq!(ask(kit, r#"{"n":8,"on":"end"}"#), "");
}

#[test]
fn describe() {
    let want = r#"{"n":1,"protocol":1,"spec":{"problem":"election","messages":[{"kind":"ALL","fields":[["uint","uint"],["signed","int"],["flag","bool"],["real","float"],["text","string"],["wait","duration"],["ids",["id"]],["pair",{"fields":[["id","id"],["type","int"]]}]]},{"kind":"EMPTY","fields":[]}],"auxiliary":[{"kind":"LONG","fields":[["text","string"]]}],"saves":[{"kind":"STATE","fields":[["count","uint"]]}],"states":true,"handles":["start","timeout","suspect","restore","do"],"summary":"takes everything","parameters":[{"name":"flag","type":"bool","doc":"a flag","default":false},{"name":"t","type":"duration","doc":"a time-out","asks":true,"min":0},{"name":"mode","type":"enum","doc":"a mode","default":"a","choices":["a","b"]}],"draws":true,"periods":[{"parameter":"t","timer":"beat"}],"survives":{"crashes":2},"doubts":true}}"#;
    assert_eq!(ask(&mut Kit::<Everything>::default(), r#"{"n":1,"on":"describe","protocols":[1]}"#), want);
    let lock = ask(&mut Kit::<Lock>::default(), r#"{"n":1,"on":"describe","protocols":[1]}"#);
    assert!(lock.contains(r#""problem":"mutex""#) && lock.contains(r#""handles":[]"#), "{}", lock);
}

#[test]
fn json() {
    let text = r#"{"a":[1,-2.5,true,null,"\ud83d\ude00\u0007 \/\\"],"b":{}}"#;
    let parsed = Json::parse(&format!(" {} ", text.replace(':', " :\n"))).expect("it is JSON");
    assert_eq!(parsed.to_string(), "{\"a\":[1,-2.5,true,null,\"😀\\u0007 /\\\\\"],\"b\":{}}");
    for wrong in ["", "{", "[1,]", "{\"a\"}", "nul", "1 2", "\"\\x\"", "\"\\ud83d\"", "inf", "NaN"] {
        assert!(Json::parse(wrong).is_err(), "{}", wrong);
    }
}

#[test]
fn durations() {
    for (nanoseconds, want) in
        [(0, "0s"), (1_500, "1.5µs"), (4_000_000, "4ms"), (90_500_000_000, "1m30.5s"), (3_600_000_000_000, "1h0m0s")]
    {
        assert_eq!(written(Duration::from_nanos(nanoseconds)), want);
    }
}
