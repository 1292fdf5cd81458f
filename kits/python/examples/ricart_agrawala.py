"""The permission algorithm of Ricart and Agrawala (CACM 1981).

A process that wants to enter asks all others and enters when all have replied. A process that wants
to enter itself, or is inside, compares the two requests: to the later one it replies only when it
leaves. Requests are ordered by the sequence number that each carries, one above the highest that its
sender had seen, and equal numbers by process. So of any two requests one waits for the other, and
never both. There is no RELEASE: the deferred replies take its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from conclave import ID, Config, Env, Faults, Message, Mutex, Paper, Promises, Spec, Uint, serve


@dataclass(frozen=True, order=True)
class Stamp:
    """Orders requests: by sequence number, and equal ones by process."""

    number: Uint
    id: ID


class Request(Stamp, Message):
    """Asks its receiver for permission to enter."""


class Reply(Stamp, Message):
    """Gives permission to the request that it names."""


class RicartAgrawala(Mutex):
    """The variables have the paper's meaning; Outstanding_Reply_Count is the set needed."""

    spec = Spec(
        summary="ask all others; a process that asked earlier or is inside replies when it leaves",
        paper=Paper(
            authors="G. Ricart, A. K. Agrawala",
            title="An optimal algorithm for mutual exclusion in computer networks",
            venue="CACM 24(1), 9-17", year=1981, doi="10.1145/358527.358537",
            deviations="A REPLY names the request that it answers, and those that have replied are kept "
            "as a set; the paper counts bare REPLYs. So duplicates change nothing. A process that "
            "comes back numbers its requests beyond those of its former life.",
        ),
        messages=[Request, Reply],
        timers=[],
        survives=Faults(duplication=True),
        promises=Promises(starvation_free=True),
        breaks="Any crash blocks it, also of a process that does not want to enter, and so does a lost "
        "message: a process that asks afterwards lacks one reply forever.",
    )

    def __init__(self, config: Config) -> None:
        """Starts with no request and no number seen. A process that comes back from a crash counts on
        beyond its former life, or its requests would come before those inside."""
        super().__init__(config)
        self.highest = config.incarnation << 32  # sequence number seen in any request
        self.own = Stamp(0, 0)  # of the present request, otherwise of the last one
        self.requesting = False  # from the request until the release
        self.needed: set[int] = set()  # whose replies are still to come
        self.deferred: list[Stamp] = []  # requests to be answered at the release

    def request(self, env: Env) -> None:
        """Rule 1: choose a number above all that were seen, and ask."""
        self.requesting = True
        self.own = Stamp(self.highest + 1, self.id)
        self.needed = set(self.peers) - {self.id}
        env.broadcast(Request(self.own.number, self.own.id))
        self.enter_if_allowed(env)

    def receive(self, env: Env, sender: int, message: Message) -> None:
        if isinstance(message, Request):
            self.on_request(env, Stamp(message.number, message.id))
        elif isinstance(message, Reply):
            self.on_reply(env, sender, Stamp(message.number, message.id))

    def on_request(self, env: Env, stamp: Stamp) -> None:
        """Rule 2. What counts is the number of the own request, not the highest seen since. Inside the
        critical section, too: whatever comes before the own request was over when its sender replied."""
        self.highest = max(self.highest, stamp.number)
        if self.requesting and self.comes_first(stamp):
            self.deferred.append(stamp)
        else:
            env.send(stamp.id, Reply(stamp.number, stamp.id))

    def comes_first(self, stamp: Stamp) -> bool:
        """Whether the own request comes before another."""
        return self.own < stamp

    def on_reply(self, env: Env, sender: int, stamp: Stamp) -> None:
        """Rule 3. A reply to an earlier request changes nothing."""
        if stamp == self.own and sender in self.needed:
            self.needed.remove(sender)
            self.enter_if_allowed(env)

    def enter_if_allowed(self, env: Env) -> None:
        if not self.needed:
            env.granted()

    def release(self, env: Env) -> None:
        """Rule 4: the answers that others have been waiting for."""
        self.requesting = False
        for stamp in self.deferred:
            env.send(stamp.id, Reply(stamp.number, stamp.id))
        self.deferred = []

    def invariant(self) -> Optional[str]:
        """What the paper's proof rests on: only a requester waits or makes others wait, and those come
        after it."""
        if not self.requesting and (self.needed or self.deferred):
            return "not requesting, but replies are due"
        for stamp in self.deferred:
            if not self.comes_first(stamp):
                return f"request {stamp} is deferred, but comes before ours, {self.own}"
        return None


if __name__ == "__main__":
    serve(RicartAgrawala)
