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
from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import (
    Annotated, Any, BinaryIO, Callable, ClassVar, Mapping, Optional, Sequence, Type, Union, get_args,
    get_origin, get_type_hints,
)

PROTOCOL = 1
NONE = 0
MILLISECOND = 1_000_000
SLACK = 20 * MILLISECOND  # what default time-outs leave for the schedulers of real machines

# Types for the fields of messages, beside int, bool, float, str, list[...] and other dataclasses.
Uint = Annotated[int, "uint"]  # from 0 on
ID = Annotated[int, "id"]  # of a process; NONE is allowed
Duration = Annotated[int, "duration"]  # in nanoseconds

_decode = json.JSONDecoder().raw_decode


def _values(value: Any) -> dict[str, Any]:
    """The fields of a dataclass inside a message."""
    if not dataclasses.is_dataclass(value):
        raise TypeError(f"a {type(value).__name__} cannot be sent or saved")
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_values).encode


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


Kind = Type[Message]


@dataclass(frozen=True)
class Paper:
    """Where the rules come from. Deviations says where this code differs, and why."""

    authors: str
    title: str
    venue: str
    year: int
    doi: str = ""
    deviations: str = ""


@dataclass(frozen=True)
class Needs:
    """What an algorithm requires. None: a complete network, messages in any order, no bound on
    delays, no failure detector, any number of processes."""

    topology: Optional[str] = None  # logical-ring, ring, bidirectional-ring, tree, connected, weighted
    fifo: bool = False  # messages of one link arrive in the order in which they were sent
    anonymous: bool = False  # the processes of a ring have no IDs
    synchrony: Optional[str] = None  # partially synchronous, synchronous
    detector: Optional[str] = None  # eventually perfect, perfect
    nodes: Optional[int] = None  # the least number of processes


@dataclass(frozen=True)
class Faults:
    """What an algorithm survives."""

    loss: bool = False
    duplication: bool = False
    partition: bool = False
    recovery: bool = False  # a crashed process may come back with what it saved
    crashes: Union[int, str] = 0  # how many processes may crash; or "minority", "all but one"


@dataclass(frozen=True)
class Promises:
    """What an algorithm guarantees as long as its needs are met and it survives the faults."""

    starvation_free: bool = False  # every request is granted
    request_order: bool = False  # grants follow the happened-before order of requests
    announced: bool = False  # every process learns the leader
    leadership: Optional[str] = None  # eventual, at most one, one per term, one per group
    highest: bool = False  # in the end the highest live process leads
    live: Optional[str] = None  # steady


@dataclass(frozen=True)
class Period:
    """What a leader repeats: the parameter with the period, and the timer that is set to it."""

    parameter: str
    timer: str
    spread: Optional[str] = None  # the parameter with what is added at random
    reply: bool = False  # the timer is set when the answers are there


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
    choices: Optional[Sequence[str]] = None  # of an enum
    per_process: bool = False  # it may be a list with a value for each process
    process: bool = False  # it is the number of a process
    tunes: Optional[str] = None  # patience, spread


@dataclass(frozen=True)
class Spec:
    """What an algorithm says about itself: see docs/reference/contract.md."""

    summary: str  # one line
    messages: Sequence[Kind]
    paper: Optional[Paper] = None
    auxiliary: Sequence[Kind] = ()  # messages that are counted apart, such as acknowledgements
    saves: Sequence[Kind] = ()  # what is saved and is no message
    token: Optional[Kind] = None  # the kind that hands the token on
    parameters: Sequence[Parameter] = ()
    draws: bool = False  # it uses env.random
    states: bool = True  # Process.state is the whole state
    timers: Optional[Sequence[str]] = None  # the names that it sets, or prefixes and "*"; None: any
    perpetual: bool = False  # it never falls quiet
    told: bool = False  # a script's suspicion starts an election
    periods: Sequence[Period] = ()
    needs: Needs = Needs()
    survives: Faults = Faults()
    promises: Promises = Promises()
    service: Optional[str] = None  # agreed, led, served: which outages count
    breaks: Optional[str] = None  # what happens beyond what it survives
    doubt: Optional[Callable[[Network], Optional[str]]] = None  # why the promises do not hold


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
    saved: Optional[Message] = None  # what the process last saved

    def param_of(self, name: str, process: int) -> Any:
        """The parameter of any process."""
        return self.all[name][process - 1] if name in self.all else self.params[name]


class _Over:
    """Stands for the effects of an event that is over."""

    def append(self, effect: Any) -> None:
        raise RuntimeError("env is used after its event: it is valid until the handler returns")


_OVER = _Over()


class Env:
    """What a process may ask for, and what it may know, during one event."""

    __slots__ = ("now", "session", "_id", "_others", "_effects", "_own", "_seed", "_random")

    def __init__(self, config: Config) -> None:
        self.now = 0  # the local clock, in nanoseconds
        self.session = 0  # of a request; 0: none
        self._id = config.id
        self._others = [p for p in config.peers if p != config.id]
        self._effects: Any = _OVER  # in JSON
        self._own: Any = _OVER  # messages to itself
        self._seed: Optional[str] = None
        self._random: Optional[Random] = None

    @property
    def random(self) -> Random:
        """The only source of randomness. It begins anew with each event, with a seed of its own."""
        if self._effects is _OVER:
            _OVER.append(None)
        if self._random is None:
            if self._seed is None:
                raise RuntimeError("env.random is used, but the Spec does not say draws=True")
            self._random = Random(int(self._seed, 16))
        return self._random

    def send(self, to: int, message: Message) -> None:
        """Sends a message. What a process sends to itself is handled right after the event."""
        if to == self._id:
            self._own.append(message)
        else:
            self._effects.append(f'{{"send":{to:d},"kind":{_text(message)}}}')

    def broadcast(self, message: Message) -> None:
        """Sends to all others, in ascending order."""
        text = _text(message)
        for to in self._others:
            self._effects.append(f'{{"send":{to:d},"kind":{text}}}')

    def set_timer(self, name: str, after: int) -> None:
        """(Re)starts a timer, which expires after that many nanoseconds."""
        self._effects.append(f'{{"set":{_encode(name)},"after":{after:d}}}')

    def cancel_timer(self, name: str) -> None:
        """Cancels a timer, if it runs."""
        self._effects.append(f'{{"cancel":{_encode(name)}}}')

    def granted(self) -> None:
        """Enters the critical section."""
        self._effects.append('{"granted":true}')

    def elected(self, leader: int, term: int = 0) -> None:
        """Names a leader; NONE: this process names none any more."""
        in_term = f',"term":{term:d}' if term else ""
        self._effects.append(f'{{"elected":{leader:d}{in_term}}}')

    def save(self, message: Message) -> None:
        """Writes to the disk. After a crash, Config.saved is what was saved last."""
        self._effects.append(f'{{"save":{_text(message)}}}')

    def log(self, text: str) -> None:
        """Writes a line to the trace."""
        self._effects.append(f'{{"log":{_encode(text)}}}')


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
        self.config = config
        self.id = config.id
        self.peers = config.peers

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

    def invariant(self) -> Optional[str]:
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


# Of Config, what can differ between two lives of one process.
_LIFE = ("leader", "leader_down", "holder", "incarnation", "saved")


def _plain(value: Any) -> Any:
    """The value as JSON, in an order that does not depend on hashes."""
    if isinstance(value, enum.Enum):
        return value.name
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, deque)):
        return [_plain(v) for v in value]
    if isinstance(value, (set, frozenset, dict)):
        items = value.items() if isinstance(value, dict) else value
        return sorted(map(_plain, items), key=lambda v: (len(_encode(v)), _encode(v)))
    if isinstance(value, Config):
        return {name: _plain(getattr(value, name)) for name in _LIFE if getattr(value, name)}
    if dataclasses.is_dataclass(value):
        kind = {"kind": value.kind} if isinstance(value, Message) else {}
        return {**kind, **{name: _plain(v) for name, v in vars(value).items()}}
    raise TypeError(f"{value!r} has no form in JSON: override state")


def format_duration(nanoseconds: int) -> str:
    """A duration as Conclave prints it, such as 26ms or 1m2.5s."""
    def decimal(value: int, size: int) -> str:
        return f"{value / size:.9f}".rstrip("0").rstrip(".")
    if nanoseconds < 0:
        return "-" + format_duration(-nanoseconds)
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if 0 < nanoseconds < 1000 * size:
            return decimal(nanoseconds, size) + unit
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    prefix = (f"{minutes // 60}h" if minutes >= 60 else "") + (f"{minutes % 60}m" if minutes else "")
    return prefix + decimal(rest, 1_000_000_000) + "s"


_NAMES = {bool: "bool", int: "int", float: "float", str: "string"}
_Reader = Callable[[Any], Any]  # makes a value out of what JSON has


def _type(hint: Any) -> tuple[Any, Optional[_Reader]]:
    """The type of a field, as describe has it, and its reader, if it needs one."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return args[1], None
    if hint in _NAMES:
        return _NAMES[hint], float if hint is float else None
    if origin in (list, tuple):
        make_list: Callable[..., Any] = origin
        of, read = _type(args[0])
        return [of], lambda values: make_list(map(read, values) if read else values)
    if dataclasses.is_dataclass(hint):
        fields, make = _fields(hint)
        return {"fields": fields}, make
    raise TypeError(f"{hint} is no type of a field")


def _fields(kind: type) -> tuple[list[Any], _Reader]:
    """The fields of a dataclass, in their order, as describe has them, and its reader."""
    if not dataclasses.is_dataclass(kind):
        raise TypeError(f"{kind.__name__} is no dataclass: write @dataclass(frozen=True) before it")
    hints = get_type_hints(kind, include_extras=True)
    types = {f.name: _type(hints[f.name]) for f in dataclasses.fields(kind)}
    readers = [(name, read) for name, (_, read) in types.items() if read]

    def make(fields: dict[str, Any]) -> Any:
        for name, read in readers:
            fields[name] = read(fields[name])
        return kind(**fields)
    return [[name, described] for name, (described, _) in types.items()], make


def _declared(value: Any) -> Any:
    """A declaration, as describe has it: what is None is absent."""
    if isinstance(value, type):
        return {"kind": value.kind, "fields": _fields(value)[0]}  # type: ignore[attr-defined]
    out = {name: v for name, v in _values(value).items() if v is not None}
    if callable(out.get("default")):
        del out["default"]
        out["asks"] = True
    return out


_describe = json.JSONEncoder(separators=(",", ":"), default=_declared).encode


# Where Python is, and installed packages.
_INSTALLED = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib"))


def _sources() -> list[str]:
    """The kit, and the imported modules that are not installed."""
    files = (getattr(m, "__file__", None) for name, m in list(sys.modules.items()) if name != "__main__")
    paths = {os.path.abspath(f) for f in files if f}
    return sorted(p for p in paths if p == os.path.abspath(__file__) or not p.startswith(_INSTALLED))


# What the methods of events get beside env, by the keys of the request.
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "start": (), "request": (), "release": (), "elect": (), "timeout": ("timer",), "suspect": ("peer",),
    "restore": ("peer",), "do": ("op", "target"),
}


class Program:
    """Answers requests of the step protocol for one algorithm. Use serve, or conclave_local."""

    def __init__(self, algorithm: Type[Process]) -> None:
        self._algorithm, self._spec = algorithm, algorithm.spec
        self._checked = algorithm.invariant is not Process.invariant
        self._lives: dict[int, tuple[Any, Env]] = {}
        kinds = (*self._spec.messages, *self._spec.auxiliary, *self._spec.saves)
        self._defaults: dict[str, Any] = {p.name: p.default for p in self._spec.parameters}
        self._makers = {kind.kind: _fields(kind)[1] for kind in kinds}

    def answer(self, line: str) -> Optional[str]:
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
        if number in self._lives and on != "drop":
            process, env = self._lives[number]
            if on == "state":
                return f',"state":{_encode(process.state())}'
            return self._event(process, env, request)
        if on == "new":
            saved = request.get("saved")
            config = Config(**request["config"], saved=self.message(saved) if saved else None)
            self._lives[request["process"]] = self._algorithm(config), Env(config)
        elif on == "drop":
            self._lives.pop(request["process"], None)  # absent if its constructor failed
        elif on == "describe":
            return f',"protocol":{PROTOCOL},"spec":{self._description()}'
        elif on in ("default", "doubt"):
            network = Network(**request["network"], params=request.get("params", {}))
            value = {"doubt": self._spec.doubt, **self._defaults}[request.get("parameter", "doubt")]
            return f',"value":{_encode(value(network) if callable(value) else value)}'
        else:
            raise LookupError(f"{on}: there is no process {number}")
        return ""

    def _event(self, process: Any, env: Env, request: dict[str, Any]) -> str:
        effects: list[str] = []
        own: list[Message] = []
        env.now, env.session, env._effects, env._own = request["now"], request.get("session", 0), effects, own
        env._seed, env._random = request.get("random"), None
        on = request["on"]
        try:
            if on == "receive":
                process.receive(env, request["from"], self.message(request))
            else:
                getattr(process, on)(env, *(request.get(key, NONE) for key in _ARGUMENTS[on]))
            for count, message in enumerate(own):  # own grows meanwhile
                if count == 1 << 16:
                    raise RuntimeError(f"it sent itself {count} messages in one event: an endless loop")
                process.receive(env, process.id, message)
        finally:
            env._effects = env._own = _OVER
        body = f',"effects":[{",".join(effects)}]' if effects else ""
        broken = process.invariant() if self._checked else None
        return f'{body},"broken":{_encode(broken)}' if broken else body

    def message(self, of: Mapping[str, Any]) -> Message:
        """The message that its name and fields in JSON stand for."""
        message: Message = self._makers[of["kind"]](of.get("msg", {}))
        return message

    def _description(self) -> str:
        spec, algorithm = self._spec, self._algorithm
        return _describe({
            **{name: value for name, value in _declared(spec).items() if name != "doubt"},
            **({"token": spec.token.kind} if spec.token else {}),
            "problem": "mutex" if issubclass(algorithm, Mutex) else "election",
            "handles": [on for on in ("start", "timeout", "suspect", "restore", "do")
                        if getattr(algorithm, on) is not getattr(Process, on)],
            "doubts": spec.doubt is not None, "files": _sources(),
        })


def _failure(error: BaseException) -> str:
    """The exception, and the last place in the algorithm's own code where it passed."""
    places = [f"{os.path.basename(p.filename)}:{p.lineno}" for p in traceback.extract_tb(error.__traceback__)
              if p.filename != __file__ and not p.filename.startswith((*_INSTALLED, "<frozen"))]
    return f"{type(error).__name__}: {error}" + (f" ({places[-1]})" if places else "")


def _take_streams() -> tuple[BinaryIO, int]:
    """The requests, and the descriptor for answers. Nothing else reaches them from now on: what is
    printed, also by code in C and by child processes, goes to standard error."""
    requests, answers = os.fdopen(os.dup(0), "rb", 1 << 16), os.dup(1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout.flush()  # what was printed before, unless that was much
    return requests, answers


def serve(algorithm: Type[Process]) -> None:
    """Answers Conclave's requests until they end. It is the last line of a program."""
    requests, answers = _take_streams()
    answer = Program(algorithm).answer
    for line in iter(requests.readline, b""):
        text = answer(line.decode())
        if text is None:
            return
        data = text.encode() + b"\n"
        while data:
            data = data[os.write(answers, data):]
