"""The election of Garcia-Molina (IEEE ToC 1982) as textbooks and lecture notes teach it, not as the
paper has it: by estimate, without halting and reorganizing the others. Comments cite the numbered
rules of that form.

A process that misses the coordinator asks all of higher rank. If none answers within T it announces
itself to all of lower rank. If one answers, it leaves the election to that one and waits, for T' at
most, for the announcement of the winner. A process that is asked answers and holds an election of its
own, so the live process of highest rank wins. This relies on known delays: an answer later than T
leads to a second coordinator.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Optional

from conclave import (
    NONE, SLACK, Config, Election, Env, Faults, Message, Needs, Network, Paper, Parameter, Promises, Spec,
    Uint, format_duration, serve,
)


@dataclass(frozen=True)
class Attempt:
    """One election of one process across its crashes, so that an answer to an earlier one is not taken
    for an answer to this one."""

    incarnation: Uint
    count: Uint


class Ask(Attempt, Message, kind="ELECTION"):
    """Asks a process of higher rank whether it is alive."""


class Answer(Attempt, Message):
    """Its sender is alive, in answer to the attempt."""


@dataclass(frozen=True)
class Coordinator(Message):
    """Announces its sender."""


class Status(Enum):
    IDLE = "idle"
    ELECTING = "electing"  # ELECTION is out, no answer yet
    WAITING = "waiting"  # a process of higher rank answered


@dataclass(frozen=True)
class Announcement:
    """A process announced itself as coordinator; at is the local time in nanoseconds."""

    sender: int
    at: int


T = "T"
T_PRIME = "T'"


def round_trip(network: Network) -> int:
    """The default of a time-out for an answer."""
    return 3 * network.latency + SLACK


def round_trip_after(network: Network) -> int:
    """The default of a time-out that covers t_answer as well."""
    after: int = network.params["t_answer"]
    return after + round_trip(network)


def too_short(network: Network) -> Optional[str]:
    """Which time-out does not cover its round trip."""
    answer, coordinator = network.params["t_answer"], network.params["t_coordinator"]
    least = 2 * network.latency
    if answer < least:
        return f"t_answer {format_duration(answer)} is below 2d = {format_duration(least)}"
    least += answer
    if coordinator < least:
        return f"t_coordinator {format_duration(coordinator)} is below T + 2d = {format_duration(least)}"
    return None


class Bully(Election):
    spec = Spec(
        summary="ask all of higher rank; if none answers in time, announce yourself",
        paper=Paper(
            authors="H. Garcia-Molina",
            title="Elections in a distributed computing system",
            venue="IEEE Transactions on Computers C-31(1), 48-59", year=1982,
            doi="10.1109/TC.1982.1675885",
            deviations="This is the textbook form (Coulouris et al., section 15.3; lecture notes), and "
            "messages are counted by it. In the paper a process is down, or in the state Election, "
            "Reorganization or Normal. A process that holds an election asks those of higher rank in "
            "turn whether they are there, and stops at the first that answers; that one does not "
            "hold an election because it was asked. If none answers, it HALTs all of lower rank "
            "before it announces itself to those that heed it, and makes them READY when they are "
            "reorganized. Here all of higher rank are asked at once, a process that is asked holds "
            "an election, and a single COORDINATOR ends it. Ours differs from that form, too: ranks "
            "are pairs (est, ID), since estimates may be equal. Answers name the attempt that they "
            "answer. A process that is electing answers but does not start again "
            "(suppress_duplicates; false is the literal text, with a number of messages exponential "
            "in n). A coordinator that is asked announces itself to all of lower rank again "
            "(coordinator_reply; unicast: to the asker alone). If a process of lower rank announces "
            "itself within T after one of higher rank, a process that hears both holds an election: "
            "the two announcements may be a race between a process that came back and one that did "
            "not know of it.",
        ),
        messages=[Ask, Answer, Coordinator],
        parameters=[
            Parameter(
                "t_answer", "duration", min=0, default=round_trip,
                doc="T, how long to wait for an answer; default 3d + 20 ms, d the largest latency"),
            Parameter(
                "t_coordinator", "duration", min=0, default=round_trip_after,
                doc="T', how long to wait for the announcement after an answer; default T + 3d + 20 ms"),
            Parameter(
                "suppress_duplicates", "bool", default=True,
                doc="a process that is electing does not start again when asked"),
            Parameter(
                "coordinator_reply", "enum", choices=["broadcast", "unicast"], default="broadcast",
                doc="to which processes a coordinator that is asked announces itself"),
            Parameter(
                "est", "int", default=0, per_process=True,
                doc="estimate: the rank's first part, the ID is its second"),
        ],
        timers=[T_PRIME, "T*"],
        needs=Needs(synchrony="synchronous", detector="eventually perfect"),
        survives=Faults(crashes="all but one", recovery=True),
        promises=Promises(announced=True, leadership="eventual", highest=True, live="steady"),
        doubt=too_short,
        breaks="Delays above the bound, or a partition, make several coordinators: one in each part, or "
        "one for each process whose answers come too late. A heal alone does not end it: a process "
        "must start an election.",
    )

    def __init__(self, config: Config) -> None:
        """Starts idle, with the coordinator that is settled, if one is."""
        super().__init__(config)
        self.status = Status.IDLE
        self.coordinator = config.leader
        self.heard: list[Announcement] = []  # of the last T, believed or not
        self.attempts = 0  # made so far in this incarnation
        self.open: list[int] = []  # attempts without an answer: with suppression, one at most
        self.t: int = config.params["t_answer"]
        self.t_prime: int = config.params["t_coordinator"]
        self.suppress: bool = config.params["suppress_duplicates"]
        self.unicast = config.params["coordinator_reply"] == "unicast"

    def above(self, p: int, q: int) -> bool:
        """Whether p ranks above q: by estimate, then by ID."""
        e, other = self.config.param_of("est", p), self.config.param_of("est", q)
        return (e, p) > (other, q)

    def elect(self, env: Env) -> None:
        """Rule 1: a suspicion, or a withdrawn one, starts an election unless one is in progress here."""
        if self.status is Status.IDLE:
            self.begin(env)

    def start(self, env: Env) -> None:
        """Rule 7: a process that comes back holds an election, and so displaces a coordinator of lower
        rank."""
        if self.config.incarnation > 0:
            self.begin(env)

    def receive(self, env: Env, sender: int, message: Message) -> None:
        if isinstance(message, Ask):
            self.on_ask(env, sender, message)
        elif isinstance(message, Answer):
            self.on_answer(env, message)
        elif isinstance(message, Coordinator):
            self.on_coordinator(env, sender)

    def timeout(self, env: Env, timer: str) -> None:
        if timer == T_PRIME:  # rule 5: a process that answered died before it announced itself
            self.begin(env)
        else:
            self.on_silence(env, timer)

    def begin(self, env: Env) -> None:
        """The body of rule 1. The suspect is asked as well: were it not, the process next to it in rank
        would wait for nobody."""
        self.attempts += 1
        higher = [p for p in self.peers if self.above(p, self.id)]
        for p in higher:
            env.send(p, Ask(self.config.incarnation, self.attempts))
        if not higher:
            self.declare(env)
            return
        self.status, self.coordinator = Status.ELECTING, NONE
        env.elected(NONE)
        self.open.append(self.attempts)
        env.set_timer(self.answer_timer(self.attempts), self.t)

    def on_ask(self, env: Env, sender: int, asked: Ask) -> None:
        """Rules 2 and 2': answer always; hold an election only if idle."""
        env.send(sender, Answer(asked.incarnation, asked.count))
        if self.status is not Status.IDLE and self.suppress:
            return  # duplicate suppression
        if self.coordinator == self.id and self.unicast:
            env.send(sender, Coordinator())
        else:
            self.begin(env)

    def on_answer(self, env: Env, answer: Answer) -> None:
        """Rules 3 and 3': leave the election to the process that answered."""
        if answer.count not in self.open or answer.incarnation != self.config.incarnation:
            return  # of an earlier attempt
        self.open.remove(answer.count)
        env.cancel_timer(self.answer_timer(answer.count))
        self.status = Status.WAITING
        env.set_timer(T_PRIME, self.t_prime)

    def on_silence(self, env: Env, timer: str) -> None:
        """Rule 4: T is over and nobody of higher rank answered."""
        self.open = [attempt for attempt in self.open if self.answer_timer(attempt) != timer]
        self.declare(env)

    def declare(self, env: Env) -> None:
        """Rule 4: this process is the coordinator, and says so to those of lower rank."""
        self.status, self.coordinator = Status.IDLE, self.id
        env.cancel_timer(T_PRIME)
        env.elected(self.id)
        for p in self.peers:
            if self.above(self.id, p):
                env.send(p, Coordinator())

    def on_coordinator(self, env: Env, sender: int) -> None:
        """Rule 6. One of lower rank that announces itself is bullied. If one of higher rank did so within
        T, the two messages raced each other: an election tells which of the two is alive."""
        if self.raced(sender, env.now) or self.above(self.id, sender):
            self.elect(env)
            return
        self.status, self.coordinator = Status.IDLE, sender
        for attempt in self.open:
            env.cancel_timer(self.answer_timer(attempt))
        self.open = []
        env.cancel_timer(T_PRIME)
        env.elected(sender)

    def raced(self, sender: int, now: int) -> bool:
        """Notes an announcement, and says whether one of higher rank announced itself less than T ago."""
        self.heard = [a for a in self.heard if a.sender != sender and now - a.at < self.t]
        self.heard.append(Announcement(sender, now))
        return any(self.above(a.sender, sender) for a in self.heard)

    def answer_timer(self, attempt: int) -> str:
        """T of one attempt. With suppression there is but one at a time."""
        return T if self.suppress else f"T of attempt {attempt}"

    def invariant(self) -> Optional[str]:
        """With suppression there is one attempt at a time, and a process that takes part in it follows
        none. A process that has taken part in one follows none below itself."""
        idle = self.status is Status.IDLE
        if self.suppress and (self.status is Status.ELECTING) != (len(self.open) == 1):
            return f"status {self.status.value} with {len(self.open)} attempts without an answer"
        if self.suppress and not idle and self.coordinator != NONE:
            return f"status {self.status.value} but follows {self.coordinator}"
        if idle and self.attempts > 0 and self.above(self.id, self.coordinator):
            return f"follows {self.coordinator} after attempt {self.attempts}"
        return None


if __name__ == "__main__":
    serve(Bully)
