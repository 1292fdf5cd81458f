"""An algorithm that uses all of the kit, and does what it should not when it is asked to."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any, Optional

from conclave import (
    ID, Config, Duration, Env, Faults, Message, Mutex, Needs, Parameter, Period, Promises, Spec, Uint, serve,
)

print("printed while the module was loaded")


@dataclass(frozen=True)
class Place:
    x: int
    seen: tuple[ID, ...]


@dataclass(frozen=True)
class Everything(Message, kind="EVERY_TYPE"):
    count: Uint
    where: Place
    delta: int
    wait: Duration
    ok: bool
    ratio: float
    name: str
    peers: list[ID] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


@dataclass(frozen=True)
class Bare(Message):
    pass


@dataclass(frozen=True)
class Count(Message):
    left: Uint


class Probe(Mutex):
    spec = Spec(
        summary="does what it is asked to",
        messages=[Everything, Bare],
        auxiliary=[Count],
        saves=[Count],
        token=Bare,
        parameters=[
            Parameter("wait", "duration", "how long", default=lambda network: 3 * network.latency, min=0),
            Parameter("more", "duration", "longer", default=lambda network: network.params["wait"] + 1),
            Parameter("flag", "bool", "whether", default=False),
            Parameter("rank", "int", "of a process", default=0, per_process=True, max=9),
        ],
        draws=True,
        timers=["retry", "T*"],
        periods=[Period("wait", "retry")],
        needs=Needs(fifo=True, nodes=2),
        survives=Faults(loss=True, crashes="minority"),
        promises=Promises(live="steady"),
        doubt=lambda network: "too short" if network.params["wait"] < network.latency else None,
    )

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.heard: list[Any] = []
        self.wrong: Optional[str] = None
        self.kept: Optional[Env] = None
        if config.params.get("flag"):
            raise ValueError("no process with this flag")

    def request(self, env: Env) -> None:
        env.granted()
        env.log(f"session {env.session}")

    def release(self, env: Env) -> None:
        self.wrong = "it has left"

    def receive(self, env: Env, sender: int, message: Message) -> None:
        self.heard.append((sender, message))
        if isinstance(message, Count) and message.left > 0:
            env.send(self.id, Count(message.left - 1))
            env.send(3 - self.id, Bare())

    def timeout(self, env: Env, timer: str) -> None:
        env.cancel_timer(timer)
        env.set_timer("retry", 5)

    def do(self, env: Env, op: str, target: int) -> None:
        getattr(self, op)(env, target)

    def print(self, env: Env, target: int) -> None:
        print("printed by a handler")
        os.write(1, b"written to the descriptor\n")
        ctypes.CDLL(None).puts(b"printed by C")
        ctypes.CDLL(None).fflush(None)
        subprocess.run(["echo", "printed by a child"])
        assert sys.stdin.read() == ""

    def every(self, env: Env, target: int) -> None:
        place = Place(-1, (1, 2))
        env.send(target, Everything(1, place, -2, 3, True, 0.5, 'a"b\né', [1], [place]))
        env.broadcast(Bare())
        env.elected(2, term=3)
        env.elected(0)
        env.save(Count(4))

    def draw(self, env: Env, target: int) -> None:
        env.log(f"{env.random.random()} {env.random.random()}")

    def fail(self, env: Env, target: int) -> None:
        env.granted()
        raise KeyError("missing")

    def exit(self, env: Env, target: int) -> None:
        sys.exit(3)

    def unsendable(self, env: Env, target: int) -> None:
        env.send(target, Count({1}))  # type: ignore[arg-type]

    def fraction(self, env: Env, target: int) -> None:
        env.set_timer("retry", 1.5)  # type: ignore[arg-type]

    def forever(self, env: Env, target: int) -> None:
        env.send(self.id, Count(1 << 40))

    def keep(self, env: Env, target: int) -> None:
        self.kept, kept = env, self.kept
        if kept:
            kept.granted()

    def long(self, env: Env, target: int) -> None:
        env.log("x" * 300_000)

    def invariant(self) -> Optional[str]:
        return self.wrong


if __name__ == "__main__":
    serve(Probe)
