"""Run the processes of an algorithm in memory, without Conclave: for unit tests.

    group = Group(RicartAgrawala, nodes=3)
    self.assertEqual(group.request(1), [Send(2, Request(1, 1)), Send(3, Request(1, 1))])
    group.run(random.Random(7))
    self.assertEqual(group.entered, [1])

Each event goes through the same JSON as with Conclave. Links lose nothing and keep the order. There is
no clock but the timers: time passes only when no message is in transit, up to the next timer.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from random import Random
from typing import Any, Mapping, Optional, Sequence, Type, Union

from conclave import MILLISECOND, NONE, Message, Process, Program


@dataclass(frozen=True)
class Send:
    to: int
    message: Message


@dataclass(frozen=True)
class SetTimer:
    name: str
    after: int  # nanoseconds


@dataclass(frozen=True)
class CancelTimer:
    name: str


@dataclass(frozen=True)
class Granted:
    pass


@dataclass(frozen=True)
class Elected:
    leader: int
    term: int = 0


@dataclass(frozen=True)
class Save:
    message: Message


@dataclass(frozen=True)
class Log:
    text: str


Effect = Union[Send, SetTimer, CancelTimer, Granted, Elected, Save, Log]


class Group:
    """All processes of one trial.

    A method for an event returns its effects, which have happened then. It raises AssertionError if a
    handler fails, if an invariant does not hold, or if two processes are in the critical section.
    """

    def __init__(
        self, algorithm: Type[Process], nodes: int, params: Optional[Mapping[str, Any]] = None,
        latency: int = MILLISECOND, ring: Optional[Sequence[int]] = None, leader: int = NONE,
    ) -> None:
        """Params that are durations are in nanoseconds. Those absent have their defaults, which may follow
        from the latency. A list has a value for each process. On a ring, each process sends to the next of
        the list alone."""
        self.now = 0  # nanoseconds
        self.entered: list[int] = []  # the processes, in the order of their entries
        self.inside: set[int] = set()
        self.leaders: dict[int, int] = {}  # whom each live process names
        self.timers: dict[tuple[int, str], int] = {}  # of a process; when it expires
        self.saved: dict[int, Any] = {}
        self.in_transit: dict[tuple[int, int], deque[Any]] = {}  # by sender and receiver, in JSON
        self._program = Program(algorithm)
        self._draws, self._starts = algorithm.spec.draws, algorithm.start is not Process.start
        self._asked = self._lives = 0
        self._numbers: dict[int, int] = {}  # of the life that each process lives
        self._incarnations = {p: 0 for p in range(1, nodes + 1)}
        self._random = Random(0)
        self._config: dict[str, Any] = {
            "peers": list(self._incarnations), "ring": list(ring or []), "leader": leader}
        network = {"nodes": nodes, "latency": latency, "mean": latency, "bounded": True, "hold": 0}
        self._params: dict[str, Any] = {}
        for p in algorithm.spec.parameters:
            given = params[p.name] if params and p.name in params else self._ask({
                "on": "default", "parameter": p.name, "network": network, "params": self._params})["value"]
            self._params[p.name] = given
        for process in self._incarnations:
            self._begin(process)

    def request(self, process: int, session: int = 0) -> list[Effect]:
        return self._event(process, {"on": "request", "session": session})

    def release(self, process: int) -> list[Effect]:
        self.inside.discard(process)
        return self._event(process, {"on": "release"})

    def elect(self, process: int) -> list[Effect]:
        return self._event(process, {"on": "elect"})

    def suspect(self, process: int, peer: int) -> list[Effect]:
        return self._event(process, {"on": "suspect", "peer": peer})

    def restore(self, process: int, peer: int) -> list[Effect]:
        return self._event(process, {"on": "restore", "peer": peer})

    def do(self, process: int, op: str, target: int = NONE) -> list[Effect]:
        return self._event(process, {"on": "do", "op": op, "target": target})

    def receive(self, process: int, sender: int, message: Message) -> list[Effect]:
        """Hands it a message that need not have been sent."""
        return self._event(process, {"on": "receive", "from": sender, **_json(message)})

    def deliver(self, sender: int, process: int) -> list[Effect]:
        """Hands it the oldest message of a link."""
        return self._event(process, {"on": "receive", "from": sender, **self._take(sender, process)})

    def timeout(self, process: int, timer: str) -> list[Effect]:
        """Lets a timer that runs expire, now or when it is due."""
        self.now = max(self.now, self.timers.pop((process, timer)))
        return self._event(process, {"on": "timeout", "timer": timer})

    def crash(self, process: int) -> None:
        """It forgets all but what it saved. Messages to it are lost."""
        self._ask({"on": "drop", "process": self._numbers.pop(process)})
        self.timers = {key: due for key, due in self.timers.items() if key[0] != process}
        self.leaders.pop(process, None)
        self.inside.discard(process)

    def recover(self, process: int) -> list[Effect]:
        self._incarnations[process] += 1
        return self._begin(process)

    def state(self, process: int) -> dict[str, Any]:
        state: dict[str, Any] = self._ask({"on": "state", "process": self._numbers[process]})["state"]
        return state

    def run(self, random: Random, steps: int = 100_000) -> None:
        """Delivers messages, in the order of each link and otherwise at random, and lets processes leave
        that are inside. When there is nothing else, the next timer expires. It ends when nothing is left."""
        for _ in range(steps):
            links = sorted(link for link, messages in self.in_transit.items() if messages)
            choice = random.randrange(len(links) + len(self.inside)) if links or self.inside else -1
            if choice >= len(links):
                self.release(sorted(self.inside)[choice - len(links)])
            elif choice >= 0:
                if links[choice][1] in self._numbers:
                    self.deliver(*links[choice])
                else:
                    self._take(*links[choice])
            elif self.timers:
                self.timeout(*min(self.timers, key=lambda key: (self.timers[key], key)))
            else:
                return
        raise AssertionError(f"it does not come to rest within {steps} steps")

    def _begin(self, process: int) -> list[Effect]:
        self._lives += 1
        self._numbers[process] = self._lives
        peers, ring = self._config["peers"], self._config["ring"]
        after = ring[(ring.index(process) + 1) % len(ring)] if ring else NONE
        lists = {name: value for name, value in self._params.items() if isinstance(value, list)}
        config = {
            **self._config, "id": process, "neighbors": [after] if ring else peers,
            "incarnation": self._incarnations[process], "all": lists,
            "params": {**self._params, **{name: value[process - 1] for name, value in lists.items()}},
        }
        saved = {"saved": self.saved[process]} if process in self.saved else {}
        self._ask({"on": "new", "process": self._lives, "config": config, **saved})
        return self._event(process, {"on": "start"}) if self._starts else []

    def _take(self, sender: int, process: int) -> dict[str, Any]:
        message: dict[str, Any] = self.in_transit[sender, process].popleft()
        return message

    def _event(self, process: int, request: dict[str, Any]) -> list[Effect]:
        request = {**request, "process": self._numbers[process], "now": self.now}
        if self._draws:
            request["random"] = f"{self._random.getrandbits(64):016x}"
        return [self._happen(process, effect) for effect in self._ask(request).get("effects", [])]

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self._asked += 1
        text = self._program.answer(json.dumps({"n": self._asked, **request}))
        answer: dict[str, Any] = json.loads(text or "{}")
        for wrong in ("failed", "broken"):
            if wrong in answer:
                raise AssertionError(f"{request}: {wrong}: {answer[wrong]}")
        return answer

    def _happen(self, process: int, effect: dict[str, Any]) -> Effect:
        if "send" in effect:
            to = effect.pop("send")
            self.in_transit.setdefault((process, to), deque()).append(effect)
            return Send(to, self._program.message(effect))
        if "set" in effect:
            self.timers[process, effect["set"]] = self.now + effect["after"]
            return SetTimer(effect["set"], effect["after"])
        if "cancel" in effect:
            self.timers.pop((process, effect["cancel"]), None)
            return CancelTimer(effect["cancel"])
        if "granted" in effect:
            self.entered.append(process)
            self.inside.add(process)
            if len(self.inside) > 1:
                raise AssertionError(f"processes {sorted(self.inside)} are in the critical section")
            return Granted()
        if "elected" in effect:
            self.leaders[process] = effect["elected"]
            return Elected(effect["elected"], effect.get("term", 0))
        if "save" in effect:
            self.saved[process] = {"kind": effect["save"], "msg": effect.get("msg", {})}
            return Save(self._program.message(self.saved[process]))
        return Log(effect["log"])


def _json(message: Message) -> dict[str, Any]:
    """The keys kind and msg of an event."""
    fields = json.dumps(vars(message), default=vars)
    return {"kind": message.kind, "msg": json.loads(fields)}
