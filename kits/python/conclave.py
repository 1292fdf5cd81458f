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
    """The fields of a dataclass, such as one inside a message."""
    if not dataclasses.is_dataclass(value):
        if isinstance(value, Message):
            return {}
        raise TypeError(f"a {type(value).__name__} cannot be sent or saved")
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_values).encode


class Message:
    """The base of all kinds of messages, and of what is saved.

    A kind is a dataclass. The order of its fields is that of the bytes on the network. Its name is
    that of the class in capitals, or the one given: class Ok(Message, kind="OK_TO_ENTER").
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
    neighbors: list[int]  # to which it may send
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
    try:
        fields = message.__dict__
    except AttributeError:  # a dataclass with slots
        fields = _values(message)
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
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(v) for v in value), key=_ascending)
    if isinstance(value, dict):
        return sorted(([_plain(k), _plain(v)] for k, v in value.items()), key=_ascending)
    if isinstance(value, Config):
        return {name: _plain(getattr(value, name)) for name in _LIFE if getattr(value, name)}
    if dataclasses.is_dataclass(value) or isinstance(value, Message):
        kind = {"kind": value.kind} if isinstance(value, Message) else {}
        return {**kind, **{name: _plain(v) for name, v in _values(value).items()}}
    raise TypeError(f"{value!r} has no form in JSON: override state")


def _ascending(value: Any) -> tuple[int, str]:
    """Orders values in JSON; numbers up to 2^53 by value."""
    text = _encode(value)
    return len(text) if isinstance(value, int) else 0, text


def format_duration(nanoseconds: int) -> str:
    """A duration as Conclave prints it, such as 26ms or 1m2.5s."""
    if nanoseconds < 0:
        return "-" + format_duration(-nanoseconds)
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if 0 < nanoseconds < 1000 * size:
            return _decimal(nanoseconds, size) + unit
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "") + \
        _decimal(rest, 1_000_000_000) + "s"


def _decimal(value: int, size: int) -> str:
    whole, part = divmod(value, size)
    digits = f"{part:0{len(str(size)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}" if part else str(whole)


_NAMES = {bool: "bool", int: "int", float: "float", str: "string"}


def _fields(kind: type) -> list[Any]:
    """The fields of a dataclass, in their order, as describe has them."""
    if not dataclasses.is_dataclass(kind):
        if get_type_hints(kind).keys() <= {"kind"}:
            return []
        raise TypeError(f"{kind.__name__} has fields, so it must be a dataclass")
    hints = get_type_hints(kind, include_extras=True)
    return [[f.name, _type(hints[f.name])] for f in dataclasses.fields(kind)]


def _type(hint: Any) -> Any:
    """The type of a field, as describe has it."""
    if get_origin(hint) is Annotated:
        return get_args(hint)[1]
    if hint in _NAMES:
        return _NAMES[hint]
    if get_origin(hint) in (list, tuple):
        return [_type(get_args(hint)[0])]
    if dataclasses.is_dataclass(hint):
        return {"fields": _fields(hint)}
    raise TypeError(f"{hint} is no type of a field")


def _reader(hint: Any) -> Optional[Callable[[Any], Any]]:
    """What makes a value of a field out of JSON; None: nothing is to be done."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (list, tuple):
        of = _reader(args[0])
        if origin is tuple:
            return lambda values: tuple(map(of, values) if of else values)
        return (lambda values: list(map(of, values))) if of else None  # type: ignore[arg-type]
    return _maker(hint) if dataclasses.is_dataclass(hint) else float if hint is float else None


def _maker(kind: type) -> Callable[[dict[str, Any]], Any]:
    """What makes a dataclass out of an object in JSON."""
    if not _fields(kind):
        return lambda fields: kind()
    hints = get_type_hints(kind, include_extras=True)
    readers = {f.name: _reader(hints[f.name]) for f in dataclasses.fields(kind)}
    special = {name: reader for name, reader in readers.items() if reader}
    if not special:
        return lambda fields: kind(**fields)
    return lambda fields: kind(**{
        name: special[name](value) if name in special else value for name, value in fields.items()})


def _sources() -> list[str]:
    """The kit, and the imported modules that belong neither to Python nor to an installed package."""
    roots = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib"))
    files = {os.path.abspath(__file__)}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if path and name != "__main__" and not os.path.abspath(path).startswith(roots):
            files.add(os.path.abspath(path))
    return sorted(files)


class Program:
    """Answers requests of the step protocol for one algorithm. Use serve, or conclave_local."""

    def __init__(self, algorithm: Type[Process]) -> None:
        self._algorithm = algorithm
        self._spec = algorithm.spec
        self._draws = self._spec.draws
        self._checked = algorithm.invariant is not Process.invariant
        self._lives: dict[int, tuple[Any, Env]] = {}
        self._makers = {
            kind.kind: _maker(kind)
            for kinds in (self._spec.messages, self._spec.auxiliary, self._spec.saves) for kind in kinds
        }
        self._others: dict[str, Callable[[dict[str, Any]], str]] = {
            "describe": self._describe, "default": self._default, "doubt": self._doubt, "new": self._new,
            "state": self._state, "drop": self._drop,
        }

    def answer(self, line: str) -> Optional[str]:
        """The answer to a request, without the end of the line; None after the last."""
        request = _decode(line)[0]
        on = request["on"]
        if on == "end":
            return None
        try:
            other = self._others.get(on)
            body = other(request) if other else self._event(on, request)
        except (Exception, SystemExit) as error:
            body = ',"failed":' + _encode(_failure(error))
        return f'{{"n":{request["n"]}{body}}}'

    def _event(self, on: str, request: dict[str, Any]) -> str:
        number = request["process"]
        if number not in self._lives:
            raise LookupError(f"there is no process {number}")
        process, env = self._lives[number]
        effects: list[str] = []
        own: list[Message] = []
        env.now, env._effects, env._own = request["now"], effects, own
        if self._draws:
            env._seed, env._random = request["random"], None
        try:
            if on == "receive":
                process.receive(env, request["from"], self._message(request))
            elif on == "request":
                env.session = request.get("session", 0)
                process.request(env)
            elif on == "timeout":
                process.timeout(env, request["timer"])
            elif on == "do":
                process.do(env, request["op"], request.get("target", NONE))
            elif on in ("suspect", "restore"):
                getattr(process, on)(env, request["peer"])
            elif on in ("start", "release", "elect"):
                getattr(process, on)(env)
            else:
                raise LookupError(f"there is no request {on}")
            for count, message in enumerate(own):  # own grows meanwhile
                if count == 1 << 16:
                    raise RuntimeError(f"it sent itself {count} messages in one event: an endless loop")
                process.receive(env, process.id, message)
        finally:
            env._effects = env._own = _OVER
        body = f',"effects":[{",".join(effects)}]' if effects else ""
        broken = process.invariant() if self._checked else None
        return f'{body},"broken":{_encode(broken)}' if broken else body

    def _message(self, of: Mapping[str, Any]) -> Message:
        message: Message = self._makers[of["kind"]](of.get("msg", {}))
        return message

    def _describe(self, request: dict[str, Any]) -> str:
        spec, algorithm = self._spec, self._algorithm
        events = ("start", "timeout", "suspect", "restore", "do")
        out: dict[str, Any] = {
            "problem": "mutex" if issubclass(algorithm, Mutex) else "election",
            "handles": [on for on in events if getattr(algorithm, on) is not getattr(Process, on)],
            "token": spec.token.kind if spec.token else None,
            "doubts": spec.doubt is not None, "files": _sources(),
        }
        for name in ("messages", "auxiliary", "saves"):
            out[name] = [{"kind": kind.kind, "fields": _fields(kind)} for kind in getattr(spec, name)]
        for f in dataclasses.fields(spec):
            if f.name not in out and f.name not in ("parameters", "doubt"):
                out[f.name] = getattr(spec, f.name)
        out["parameters"] = [_present(
            {**_values(p), "default": None, "asks": True} if callable(p.default) else _values(p)
        ) for p in spec.parameters]
        return f',"protocol":{PROTOCOL},"spec":{_describing(_present(out))}'

    def _network(self, request: dict[str, Any]) -> Network:
        return Network(**request["network"], params=request.get("params", {}))

    def _default(self, request: dict[str, Any]) -> str:
        default = {p.name: p.default for p in self._spec.parameters}[request["parameter"]]
        value = default(self._network(request)) if callable(default) else default
        return f',"value":{_encode(value)}'

    def _doubt(self, request: dict[str, Any]) -> str:
        doubt = self._spec.doubt
        return f',"value":{_encode(doubt(self._network(request)) if doubt else None)}'

    def _new(self, request: dict[str, Any]) -> str:
        config = Config(**request["config"])
        if "saved" in request:
            config.saved = self._message(request["saved"])
        self._lives[request["process"]] = self._algorithm(config), Env(config)
        return ""

    def _state(self, request: dict[str, Any]) -> str:
        return f',"state":{_encode(self._lives[request["process"]][0].state())}'

    def _drop(self, request: dict[str, Any]) -> str:
        self._lives.pop(request["process"], None)  # absent if its constructor failed
        return ""


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


# Of dataclasses, describe leaves out what is None.
_describing = json.JSONEncoder(separators=(",", ":"), default=lambda v: _present(_values(v))).encode


def _failure(error: BaseException) -> str:
    """The exception, and the last place outside of the kit where it passed."""
    places = [p for p in traceback.extract_tb(error.__traceback__) if p.filename != __file__]
    where = f" ({os.path.basename(places[-1].filename)}:{places[-1].lineno})" if places else ""
    return f"{type(error).__name__}: {error}{where}"


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
