"""The election on a ring of Chang and Roberts (CACM 1979).

A process that wants an election sends its ID round the ring, in one direction. A process that takes
part itself passes larger IDs on, and swallows smaller ones. So the largest comes round, and its
process leads. It says so in a second lap. How many messages that takes depends on the order of the
IDs: about twice N if they ascend in the direction of the messages, half of N squared if they descend,
and N times the N-th harmonic number on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from conclave import ID, Config, Env, Message, Needs, Network, Paper, Parameter, Promises, Spec, serve
from lap import Elected, OnRing


@dataclass(frozen=True)
class Probe(Message):
    """Goes round the ring with the ID of the process that wants to lead."""

    id: ID


PASSING = "relay_makes_passive"


def not_passive(network: Network) -> Optional[str]:
    """Why the promises do not hold."""
    if network.params[PASSING]:
        return None
    return f"{PASSING} is false: a process whose ID comes behind that of the winner wins too"


class ChangRoberts(OnRing):
    spec = Spec(
        summary="on a ring; each passes larger IDs on, so that the largest returns to its sender",
        paper=Paper(
            authors="E. Chang, R. Roberts",
            title="An improved algorithm for decentralized extrema-finding in circular "
            "configurations of processes",
            venue="CACM 22(5), 281-283", year=1979, doi="10.1145/359104.359108",
            deviations="With mode initiators-only, a process that has passed an ID on does not want to "
            "lead any more. With mode join, it puts its own ID in place of a smaller one, so that "
            "the largest of all processes leads. There is one election: a later request for another "
            "is ignored.",
        ),
        messages=[Probe, Elected],
        parameters=[
            Parameter(
                "mode", "enum", choices=["initiators-only", "join"], default="initiators-only",
                doc="which processes may lead: those that wanted an election, or all"),
            Parameter(
                PASSING, "bool", default=True,
                doc="a process that has passed an ID on does not want to lead any more; without this rule "
                "two may"),
        ],
        timers=[],
        needs=Needs(topology="ring"),
        promises=Promises(announced=True, leadership="at most one"),
        doubt=not_passive,
        breaks="Any crash opens the ring, and a lost message is not sent again: no process leads, or "
        "some never learn of the leader.",
    )

    def __init__(self, config: Config) -> None:
        """Has heard of no election."""
        super().__init__(config)
        self.join = config.params["mode"] == "join"
        self.passive: bool = config.params[PASSING]  # it does not want to lead once it has passed an ID on
        self.taken = False  # part in the election, if only by passing an ID on
        self.candidate = False  # its own ID went out

    def elect(self, env: Env) -> None:
        """Sends the own ID out, unless it is too late."""
        if not self.taken:
            self.taken = self.candidate = True
            env.send(self.next, Probe(self.id))

    def receive(self, env: Env, sender: int, message: Message) -> None:
        if isinstance(message, Probe):
            self.on_probe(env, message.id)
        elif isinstance(message, Elected):
            self.announce(env, message.id)

    def on_probe(self, env: Env, id: int) -> None:
        if id == self.id:  # it has come round
            self.announce(env, id)
        elif id < self.id and self.candidate:
            pass  # swallowed
        elif id < self.id and self.join and not self.taken:
            self.elect(env)
        else:
            self.taken = self.taken or self.passive
            env.send(self.next, Probe(id))


if __name__ == "__main__":
    serve(ChangRoberts)
