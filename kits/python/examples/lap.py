"""What elections on a ring of processes that do not die share: the order of the ring, and the last
lap, in which all learn which process leads. It is no algorithm by itself."""

from __future__ import annotations

from dataclasses import dataclass

from conclave import ID, NONE, Config, Election, Env, Message


@dataclass(frozen=True)
class Elected(Message):
    """Goes round with the leader's ID."""

    id: ID


class OnRing(Election):
    """A process with a place on the ring."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.next = config.neighbors[-1]  # the successor, in one direction or both
        self.leader = NONE  # as this process has learned

    def announce(self, env: Env, leader: int) -> None:
        """Names the leader and passes that on: the lap begins, or continues. It ends where it began, since
        that process knows the leader; or, if a second election ran anyway, where the lap of a larger ID
        has already passed."""
        if leader > self.leader:
            self.leader = leader
            env.elected(leader, term=1)
            env.send(self.next, Elected(leader))
