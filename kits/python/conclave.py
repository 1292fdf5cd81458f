"""Write an algorithm for Conclave in Python.

An algorithm is a class: a Mutex or an Election, with a Spec and a method for each event that it
handles. One object is one process. It receives one event at a time and asks its Env for effects. It
needs no clock, socket or thread, and it shares nothing with other objects. See README.md, and
examples/ricart_agrawala.py for a whole algorithm.

All times and durations are in nanoseconds. Processes are numbered from 1; NONE is no process.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Annotated, Any, ClassVar, TypedDict, Union, get_args, get_origin, get_type_hints

NONE = 0
MILLISECOND = 1_000_000
SLACK = 20 * MILLISECOND  # what default time-outs leave for the schedulers of real machines

# Types for the fields of messages, beside int, bool, float, str, list[...] and other dataclasses.
Uint = Annotated[int, "uint"]  # from 0 on
ID = Annotated[int, "id"]  # of a process; NONE is allowed
Duration = Annotated[int, "duration"]  # in nanoseconds


class Message:
    """The base of all kinds of messages, and of what is saved.

    A kind is a dataclass, also without fields. The order of its fields is that of the bytes on the
    network. Its name is that of the class in capitals, or the one given:
    class Ok(Message, kind="OK_TO_ENTER").
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind or cls.__name__.upper()


Kind = type[Message]

# Parts of a Spec, with the keys of docs/reference/protocol.md. What is absent is not needed, not survived or
# not promised.
Paper = TypedDict("Paper", {
    "authors": str, "title": str, "venue": str, "year": int, "doi": str, "deviations": str}, total=False)
Needs = TypedDict("Needs", {"topology": str, "fifo": bool, "anonymous": bool, "synchrony": str,
                            "detector": str, "nodes": int}, total=False)
Faults = TypedDict("Faults", {"loss": bool, "duplication": bool, "partition": bool, "recovery": bool,
                              "crashes": Union[int, str]}, total=False)
Promises = TypedDict("Promises", {"starvation_free": bool, "request_order": bool, "announced": bool,
                                  "leadership": str, "highest": bool, "live": str}, total=False)
Period = TypedDict("Period", {"parameter": str, "timer": str, "spread": str, "reply": bool}, total=False)


@dataclass(frozen=True)
class Network:
    """What may be known of the links when defaults are worked out. Times are in nanoseconds."""

    nodes: int
    latency: int  # the largest one-way latency; its 99.9th percentile if not bounded
    mean: int = 0  # the largest mean one-way latency of a link
    bounded: bool = False  # no latency exceeds latency
    hold: int = 0  # the longest stay in the critical section
    params: Mapping[str, Any] = field(default_factory=dict)  # those before this one, or all


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm. Its type is bool, int, float, duration or enum."""

    name: str
    type: str
    doc: str
    default: Any  # a value, or a function of the Network
    min: Any = None
    max: Any = None
    choices: Sequence[str] | None = None  # of an enum
    per_process: bool = False  # it may be a list with a value for each process
    process: bool = False  # it is the number of a process
    tunes: str | None = None  # patience, spread


@dataclass(frozen=True)
class Spec:
    """What an algorithm says about itself: see docs/reference/contract.md."""

    summary: str  # one line
    messages: Sequence[Kind]
    paper: Paper | None = None
    auxiliary: Sequence[Kind] = ()  # messages that are counted apart, such as acknowledgements
    saves: Sequence[Kind] = ()  # what is saved and is no message
    token: Kind | None = None  # the kind that hands the token on
    parameters: Sequence[Parameter] = ()
    draws: bool = False  # it uses env.random
    states: bool = True  # Process.state is the whole state
    timers: Sequence[str] | None = None  # the names that it sets, or prefixes and "*"; None: any
    perpetual: bool = False  # it never falls quiet
    told: bool = False  # a script's suspicion starts an election
    periods: Sequence[Period] = ()
    needs: Needs | None = None
    survives: Faults | None = None  # with what faults its promises hold
    promises: Promises | None = None
    service: str | None = None  # agreed, led, served: which outages count
    breaks: str | None = None  # what happens beyond what it survives
    doubt: Callable[[Network], str | None] | None = None  # why the promises do not hold


@dataclass
class Config:
    """What a process knows at the start."""

    id: int
    peers: list[int]  # all processes, ascending
    neighbors: list[int] = field(default_factory=list)  # to which it may send
    weights: list[int] = field(default_factory=list)  # of the links to them
    ring: list[int] = field(default_factory=list)  # the order on a ring
    leader: int = NONE  # settled before the start
    leader_down: bool = False
    holder: int = NONE  # of the token at the start
    incarnation: int = 0  # one more at every recovery
    params: dict[str, Any] = field(default_factory=dict)  # of this process; durations in nanoseconds
    all: dict[str, list[Any]] = field(default_factory=dict)  # of parameters that differ
    saved: Message | None = None  # what the process last saved

    def param_of(self, name: str, process: int) -> Any:
        """The parameter of any process."""
        return self.all[name][process - 1] if name in self.all else self.params[name]


class Env:
    """What a process may ask for, and what it may know, during one event."""

    def __init__(self, config: Config) -> None:
        self.now = 0  # the local clock, in nanoseconds
        self.session = 0  # of a request; 0: none
        self._id = config.id
        self._others = [p for p in config.peers if p != config.id]
        self._effects: list[str | Message] | None = None  # in JSON; or a message to itself
        self._random: Random | str | None = None  # a str: the seed

    @property
    def random(self) -> Random:
        """The only source of randomness. It begins anew with each event, with a seed of its own."""
        if isinstance(self._random, str):
            self._random = Random(int(self._random, 16))
        if self._random is None:
            raise RuntimeError("env.random is used after its event, or the Spec does not say draws=True")
        return self._random

    def _ask(self, effect: str | Message) -> None:
        if self._effects is None:
            raise RuntimeError("env is used after its event: it is valid until the handler returns")
        self._effects.append(effect)

    def send(self, to: int, message: Message) -> None:
        """Sends a message. What a process sends to itself is handled right after the event."""
        self._ask(message if to == self._id else f'{{"send":{to:d},"kind":{_text(message)}}}')

    def broadcast(self, message: Message) -> None:
        """Sends to all others, in ascending order."""
        text = _text(message)
        for to in self._others:
            self._ask(f'{{"send":{to:d},"kind":{text}}}')

    def set_timer(self, name: str, after: int) -> None:
        """(Re)starts a timer, which expires after that many nanoseconds."""
        self._ask(f'{{"set":{_encode(name)},"after":{after:d}}}')

    def cancel_timer(self, name: str) -> None:
        """Cancels a timer, if it runs."""
        self._ask(f'{{"cancel":{_encode(name)}}}')

    def granted(self) -> None:
        """Enters the critical section."""
        self._ask('{"granted":true}')

    def elected(self, leader: int, term: int = 0) -> None:
        """Names a leader; NONE: this process names none any more."""
        self._ask(f'{{"elected":{leader:d}' + (f',"term":{term:d}}}' if term else "}"))

    def save(self, message: Message) -> None:
        """Writes to the disk. After a crash, Config.saved is what was saved last."""
        self._ask(f'{{"save":{_text(message)}}}')

    def log(self, text: str) -> None:
        """Writes a line to the trace."""
        self._ask(f'{{"log":{_encode(text)}}}')


def _json(value: Any) -> Any:
    """What JSON has for a declaration, and for a dataclass inside a message. What is None is absent."""
    if isinstance(value, type):
        return {"kind": getattr(value, "kind", None), **_type(value)[0]}
    if not dataclasses.is_dataclass(value):
        raise TypeError(f"a {type(value).__name__} cannot be sent or saved")
    out = {name: v for name, v in vars(value).items() if v is not None}
    for name, answers in (("default", "asks"), ("doubt", "doubts")):  # functions, which requests call
        if callable(out.get(name)):
            out[answers] = bool(out.pop(name))
    return out


_decode = json.JSONDecoder().raw_decode
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_json).encode


def _text(message: Message) -> str:
    """The name of the kind and the fields, in JSON."""
    fields = vars(message)
    return f'"{message.kind}","msg":{_encode(fields)}' if fields else f'"{message.kind}"'


class Process:
    """One process of an algorithm. Override the methods of the events that it handles.

    A variable of the process is an attribute. Class attributes and global variables must be
    constants, since one program runs the processes of many trials.
    """

    spec: ClassVar[Spec]

    def __init__(self, config: Config) -> None:
        self.config, self.id, self.peers = config, config.id, config.peers

    def start(self, env: Env) -> None:
        """Comes before any other event, also after a recovery."""

    def receive(self, env: Env, sender: int, message: Message) -> None:
        """A message has arrived."""
        raise NotImplementedError(f"{type(self).__name__} has no method receive")

    def timeout(self, env: Env, timer: str) -> None:
        """A timer has expired."""

    def suspect(self, env: Env, peer: int) -> None:
        """The failure detector suspects a process."""

    def restore(self, env: Env, peer: int) -> None:
        """The failure detector trusts a process again."""

    def do(self, env: Env, op: str, target: int) -> None:
        """A script asks for an operation of the algorithm's own; target may be NONE."""

    def invariant(self) -> str | None:
        """Which local invariant does not hold, in words. It is called after every event."""
        return None

    def state(self) -> dict[str, Any]:
        """The whole state, as JSON. The default is all attributes, with sets in ascending order."""
        return {name: _plain(value) for name, value in sorted(vars(self).items())}


class Mutex(Process):
    """Mutual exclusion."""

    def request(self, env: Env) -> None:
        """The application wants to enter."""
        raise NotImplementedError(f"{type(self).__name__} has no method request")

    def release(self, env: Env) -> None:
        """The application leaves."""
        raise NotImplementedError(f"{type(self).__name__} has no method release")


class Election(Process):
    """A leader election."""

    def elect(self, env: Env) -> None:
        """This process starts an election."""
        raise NotImplementedError(f"{type(self).__name__} has no method elect")


def _plain(value: Any) -> Any:
    """The value as JSON, in an order that does not depend on hashes."""
    if isinstance(value, enum.Enum):
        return value.name
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Sequence):
        return [_plain(v) for v in value]
    if isinstance(value, (set, frozenset, dict)):
        items = value.items() if isinstance(value, dict) else value
        return sorted(map(_plain, items), key=lambda v: (len(_encode(v)), _encode(v)))
    if isinstance(value, Config):  # what can differ between two lives of one process
        life = ("leader", "leader_down", "holder", "incarnation", "saved")
        return {name: _plain(getattr(value, name)) for name in life if getattr(value, name)}
    if dataclasses.is_dataclass(value):
        kind = {"kind": value.kind} if isinstance(value, Message) else {}
        return {**kind, **{name: _plain(v) for name, v in vars(value).items()}}
    raise TypeError(f"{value!r} has no form in JSON: override state")


def format_duration(nanoseconds: int) -> str:
    """A duration as Conclave prints it, such as 26ms or 1m2.5s."""
    value, small = abs(nanoseconds), (("ns", 1), ("µs", 1_000), ("ms", 1_000_000))
    unit, size = next((u for u in small if 0 < value < 1000 * u[1]), ("s", 1_000_000_000))
    minutes, rest = divmod(value, 60_000_000_000)
    whole = (f"{minutes // 60}h" if minutes >= 60 else "") + (f"{minutes % 60}m" if minutes else "")
    return ("-" if nanoseconds < 0 else "") + whole + f"{rest / size:.9f}".rstrip("0").rstrip(".") + unit


_SCALARS = {bool: "bool", int: "int", float: "float", str: "string"}


def _type(hint: Any) -> tuple[Any, Any]:
    """The type of a field, as describe has it, and what reads it from JSON, unless it is as JSON has it."""
    origin: Any = get_origin(hint)
    if origin is Annotated:
        return get_args(hint)[1], None
    if hint in _SCALARS:
        return _SCALARS[hint], float if hint is float else None
    if origin in (list, tuple):
        of, read = _type(get_args(hint)[0])
        return [of], lambda values: origin(map(read, values) if read else values)
    if not dataclasses.is_dataclass(hint):
        raise TypeError(f"{hint} is no type of a field, and no dataclass: write @dataclass before a class")
    hints = get_type_hints(hint, include_extras=True)
    types = {f.name: _type(hints[f.name]) for f in dataclasses.fields(hint)}
    readers = [(name, read) for name, (_, read) in types.items() if read]

    def make(fields: dict[str, Any]) -> Any:
        for name, read in readers:
            fields[name] = read(fields[name])
        return hint(**fields)
    return {"fields": [[name, described] for name, (described, _) in types.items()]}, make


# Where Python is, and installed packages.
_INSTALLED = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib"))


def _sources() -> list[str]:
    """The kit, and the imported modules that are not installed."""
    files = (getattr(m, "__file__", None) for name, m in list(sys.modules.items()) if name != "__main__")
    paths = {os.path.abspath(f) for f in files if f}
    return sorted(p for p in paths if p == os.path.abspath(__file__) or not p.startswith(_INSTALLED))


# What the methods of these events get beside env, by the keys of the request.
_ARGUMENTS = {"timeout": ("timer",), "suspect": ("peer",), "restore": ("peer",), "do": ("op", "target")}


class Program:
    """Answers requests of the step protocol for one algorithm. Use serve, or conclave_local."""

    def __init__(self, algorithm: type[Process]) -> None:
        self._algorithm, self._spec = algorithm, algorithm.spec
        self._lives: dict[int, tuple[Any, Env]] = {}
        kinds = (*self._spec.messages, *self._spec.auxiliary, *self._spec.saves)
        self._makers: dict[str, Callable[[Any], Message]] = {kind.kind: _type(kind)[1] for kind in kinds}

    def answer(self, line: str) -> str | None:
        """The answer to a request, without the end of the line; None after the last."""
        request = _decode(line)[0]
        if request["on"] == "end":
            return None
        try:
            body = self._answer(request)
        except (Exception, SystemExit) as error:
            body = ',"failed":' + _encode(_failure(error))
        return f'{{"n":{request["n"]}{body}}}'

    def _answer(self, request: dict[str, Any]) -> str:
        on, number = request["on"], request.get("process")
        if on == "describe":
            return f',"protocol":1,"spec":{self._describe()}'
        if on in ("default", "doubt"):
            network = Network(**request["network"], params=request.get("params", {}))
            asked: Any = {p.name: p.default for p in self._spec.parameters}
            value = asked[request["parameter"]] if on == "default" else self._spec.doubt
            return f',"value":{_encode(value(network) if callable(value) else value)}'
        if on == "new":
            saved = request.get("saved")
            config = Config(**request["config"], saved=self.message(saved) if saved else None)
            self._lives[request["process"]] = self._algorithm(config), Env(config)
        elif on == "drop":
            self._lives.pop(request["process"], None)  # absent if its constructor failed
        elif number not in self._lives:
            raise LookupError(f"{on}: there is no process {number}")
        elif on == "state":
            return f',"state":{_encode(self._lives[number][0].state())}'
        else:
            return self._event(*self._lives[number], request)
        return ""

    def _event(self, process: Any, env: Env, request: dict[str, Any]) -> str:
        on = request["on"]
        effects: list[str | Message] = []
        env.now, env.session, env._effects = request["now"], request.get("session", 0), effects
        env._random = request.get("random")
        try:
            if on == "receive":
                process.receive(env, request["from"], self.message(request))
            else:
                getattr(process, on)(env, *(request.get(key, NONE) for key in _ARGUMENTS.get(on, ())))
            for count, effect in enumerate(effects):  # they grow meanwhile
                if isinstance(effect, Message):
                    if count > 1 << 16:
                        raise RuntimeError(f"{count} effects: it sends to itself in an endless loop")
                    process.receive(env, env._id, effect)
        finally:
            env._effects = env._random = None
        asked = ",".join(effect for effect in effects if isinstance(effect, str))
        broken = process.invariant()
        return (f',"effects":[{asked}]' if asked else "") + (f',"broken":{_encode(broken)}' if broken else "")

    def message(self, of: Mapping[str, Any]) -> Message:
        """The message that its name and fields in JSON stand for."""
        return self._makers[of["kind"]](of.get("msg", {}))

    def _describe(self) -> str:
        algorithm, token = self._algorithm, self._spec.token
        return _encode({
            **_json(self._spec), "token": token.kind if token else "", "files": _sources(),
            "problem": "mutex" if issubclass(algorithm, Mutex) else "election",
            "handles": [on for on in ("start", "timeout", "suspect", "restore", "do")
                        if getattr(algorithm, on) is not getattr(Process, on)],
        })


def _failure(error: BaseException) -> str:
    """The exception, and the last place in the algorithm's own code where it passed."""
    places = [f"{os.path.basename(p.filename)}:{p.lineno}" for p in traceback.extract_tb(error.__traceback__)
              if p.filename != __file__ and not p.filename.startswith((*_INSTALLED, "<frozen"))]
    return f"{type(error).__name__}: {error}" + (f" ({places[-1]})" if places else "")


def serve(algorithm: type[Process]) -> None:
    """Answers Conclave's requests until they end. It is the last line of a program. Nothing else reaches
    standard output from now on: what is printed, also by code in C and by child processes, goes to standard
    error."""
    requests, answers = open(os.dup(0), "rb"), open(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout.flush()  # what was printed before, unless that was much
    program = Program(algorithm)
    for line in requests:
        answer = program.answer(line.decode())
        if answer is None:
            return
        answers.write(answer.encode() + b"\n")
        answers.flush()
