"""Tests of the examples, with Group instead of Conclave."""

from __future__ import annotations

import unittest
from random import Random
from typing import Any, Callable

from broken_lock import BrokenLock
from bully import Answer, Ask, Bully, Coordinator, too_short
from chang_roberts import ChangRoberts, Probe, not_passive
from conclave import MILLISECOND, NONE, Network
from conclave_local import CancelTimer, Effect, Elected, Granted, Group, Send, SetTimer
from lap import Elected as ElectedMessage
from ricart_agrawala import Reply, Request, RicartAgrawala


class TestRicartAgrawala(unittest.TestCase):
    def setUp(self) -> None:
        self.group = Group(RicartAgrawala, 3)

    def asks(self, process: int, number: int) -> None:
        """It asks the two others, with that number."""
        self.assertEqual(self.group.request(process), [
            Send(p, Request(number, process)) for p in (1, 2, 3) if p != process])

    def test_compares_the_request_not_the_highest_number(self) -> None:
        self.asks(2, 1)
        self.assertEqual(self.group.receive(2, 3, Request(9, 3)), [])
        self.assertEqual(self.group.receive(2, 1, Request(5, 1)), [])
        self.assertEqual(self.group.receive(2, 1, Reply(1, 2)), [])
        self.assertEqual(self.group.receive(2, 3, Reply(1, 2)), [Granted()])
        self.assertEqual(self.group.release(2), [Send(3, Reply(9, 3)), Send(1, Reply(5, 1))])
        self.asks(2, 10)  # above the highest seen

    def test_equal_numbers(self) -> None:
        """The smaller process comes first."""
        self.asks(2, 1)
        self.assertEqual(self.group.receive(2, 1, Request(1, 1)), [Send(1, Reply(1, 1))])
        self.assertEqual(self.group.receive(2, 3, Request(1, 3)), [])

    def test_reply_to_an_earlier_request(self) -> None:
        """It permits nothing, nor does a second copy."""
        self.asks(1, 1)
        self.group.receive(1, 2, Reply(1, 1))
        self.assertEqual(self.group.receive(1, 2, Reply(1, 1)), [])
        self.group.receive(1, 3, Request(1, 3))
        self.assertEqual(self.group.receive(1, 3, Reply(1, 1)), [Granted()])
        self.group.release(1)
        self.asks(1, 2)
        for sender, number in ((2, 1), (3, 2), (3, 2)):
            self.assertEqual(self.group.receive(1, sender, Reply(number, 1)), [])
        self.assertEqual(self.group.receive(1, 2, Reply(2, 1)), [Granted()])

    def test_next_life(self) -> None:
        self.group.crash(1)
        self.group.recover(1)
        self.asks(1, 2**32 + 1)

    def test_schedules(self) -> None:
        for seed in range(50):
            group = Group(RicartAgrawala, 4)
            for process in (1, 2, 3, 4):
                group.request(process)
            group.run(Random(seed))
            self.assertEqual(group.entered, [1, 2, 3, 4])


class TestBrokenLock(unittest.TestCase):
    def test_two_inside(self) -> None:
        group = Group(BrokenLock, 3)
        for process in (1, 2, 3):
            group.request(process)
        links = [(p, q) for p in (1, 2, 3) for q in (1, 2, 3) if p != q]
        for link in links:
            group.deliver(*link)  # all requests
        with self.assertRaisesRegex(AssertionError, r"processes \[1, 3\] are in the critical section"):
            for link in links:
                group.deliver(*link)


class TestBully(unittest.TestCase):
    T = SetTimer("T", 23 * MILLISECOND)
    T_PRIME = SetTimer("T'", 46 * MILLISECOND)

    def test_nobody_answers(self) -> None:
        group = Group(Bully, 3)
        self.assertEqual(group.elect(2), [Send(3, Ask(0, 1)), Elected(NONE), self.T])
        self.assertEqual(group.elect(2), [])
        self.assertEqual(group.timeout(2, "T"), [CancelTimer("T'"), Elected(2), Send(1, Coordinator())])

    def test_answer(self) -> None:
        group = Group(Bully, 3)
        group.elect(2)
        self.assertEqual(group.receive(2, 3, Answer(0, 2)), [])  # of another attempt
        self.assertEqual(group.receive(2, 3, Answer(1, 1)), [])  # of another life
        self.assertEqual(group.receive(2, 3, Answer(0, 1)), [CancelTimer("T"), self.T_PRIME])
        self.assertEqual(group.receive(2, 1, Ask(0, 1)), [Send(1, Answer(0, 1))])
        self.assertEqual(group.timeout(2, "T'"), [Send(3, Ask(0, 2)), Elected(NONE), self.T])

    def test_without_suppression(self) -> None:
        group = Group(Bully, 3, {"suppress_duplicates": False})
        group.elect(2)
        self.assertEqual(group.receive(2, 1, Ask(0, 1)), [
            Send(1, Answer(0, 1)), Send(3, Ask(0, 2)), Elected(NONE),
            SetTimer("T of attempt 2", 23 * MILLISECOND)])
        self.assertEqual(group.receive(2, 3, Coordinator()), [
            CancelTimer("T of attempt 1"), CancelTimer("T of attempt 2"), CancelTimer("T'"), Elected(3)])

    def test_coordinator_is_asked(self) -> None:
        modes: dict[str, list[Effect]] = {
            "broadcast": [CancelTimer("T'"), Elected(3), Send(1, Coordinator()), Send(2, Coordinator())],
            "unicast": [Send(1, Coordinator())],
        }
        for mode, then in modes.items():
            group = Group(Bully, 3, {"coordinator_reply": mode}, leader=3)
            self.assertEqual(group.receive(3, 1, Ask(0, 1)), [Send(1, Answer(0, 1)), *then])

    def test_race_of_announcements(self) -> None:
        group = Group(Bully, 4)
        self.assertEqual(group.receive(1, 4, Coordinator()), [CancelTimer("T'"), Elected(4)])
        self.assertEqual(group.receive(1, 3, Coordinator())[0], Send(2, Ask(0, 1)))
        later = Group(Bully, 4)
        later.receive(1, 4, Coordinator())
        later.now = 23 * MILLISECOND
        self.assertEqual(later.receive(1, 3, Coordinator()), [CancelTimer("T'"), Elected(3)])

    def test_estimate(self) -> None:
        group = Group(Bully, 3, {"est": [5, 0, 0]})
        self.assertEqual(group.elect(1), [
            CancelTimer("T'"), Elected(1), Send(2, Coordinator()), Send(3, Coordinator())])

    def test_schedules(self) -> None:
        """The highest live process leads, also after a crash and a return."""
        for seed in range(20):
            group = Group(Bully, 5, leader=5)
            group.crash(5)
            for process in (1, 2, 3, 4):
                group.elect(process)
            group.run(Random(seed))
            self.assertEqual(group.leaders, {1: 4, 2: 4, 3: 4, 4: 4})
            group.recover(5)
            group.run(Random(seed))
            self.assertEqual(group.leaders, {1: 5, 2: 5, 3: 5, 4: 5, 5: 5})

    def test_doubt(self) -> None:
        def doubt(answer: int, coordinator: int) -> Any:
            params = {"t_answer": answer, "t_coordinator": coordinator}
            return too_short(Network(3, 2 * MILLISECOND, params=params))
        self.assertEqual(doubt(1_000_000, 9_000_000), "t_answer 1ms is below 2d = 4ms")
        self.assertEqual(doubt(4_000_000, 7_500_000), "t_coordinator 7.5ms is below T + 2d = 8ms")
        self.assertIsNone(doubt(4_000_000, 8_000_000))


class TestChangRoberts(unittest.TestCase):
    def test_rules(self) -> None:
        """Each message in each state, at process 2 of the ring 1-2-3: what the last event does."""
        def elect(group: Group) -> list[Effect]:
            return group.elect(2)

        def probe(id: int) -> Callable[[Group], list[Effect]]:
            return lambda group: group.receive(2, 1, Probe(id))

        table: list[tuple[str, dict[str, Any], list[Callable[[Group], list[Effect]]], list[Effect]]] = [
            ("begins", {}, [elect], [Send(3, Probe(2))]),
            ("begins once", {}, [elect, elect], []),
            ("has passed one on", {}, [probe(1), elect], []),
            ("swallows a smaller", {}, [elect, probe(1)], []),
            ("passes a larger on", {}, [elect, probe(3)], [Send(3, Probe(3))]),
            ("comes round", {}, [elect, probe(2)], [Elected(2, 1), Send(3, ElectedMessage(2))]),
            ("joins", {"mode": "join"}, [probe(1)], [Send(3, Probe(2))]),
            ("is not passive", {"relay_makes_passive": False}, [probe(1), elect], [Send(3, Probe(2))]),
        ]
        for name, params, events, want in table:
            with self.subTest(name):
                group = Group(ChangRoberts, 3, params, ring=[1, 2, 3])
                self.assertEqual([event(group) for event in events][-1], want)

    def test_initiators(self) -> None:
        """The largest of those that begin leads."""
        group = Group(ChangRoberts, 5, ring=[3, 1, 5, 2, 4])
        for process in (1, 2, 4):
            group.elect(process)
        group.run(Random(1))
        self.assertEqual(group.leaders, {1: 4, 2: 4, 3: 4, 4: 4, 5: 4})

    def test_doubt(self) -> None:
        network = Network(3, 1, params={"relay_makes_passive": False})
        self.assertEqual(
            not_passive(network),
            "relay_makes_passive is false: a process whose ID comes behind that of the winner wins too")


if __name__ == "__main__":
    unittest.main()
