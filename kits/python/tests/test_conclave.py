"""Tests of the kit: what it answers to requests of the step protocol."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import unittest
from enum import Enum
from pathlib import Path
from typing import Any, Callable

import conclave
from conclave import Config, Message, Process, Program, Spec, format_duration
from tests import probe

KIT = Path(conclave.__file__).parent
NETWORK = {"nodes": 5, "latency": 2_000_000, "mean": 2_000_000, "bounded": True, "hold": 0}
CONFIG = {"id": 1, "peers": [1, 2], "neighbors": [1, 2], "params": {"flag": False}}
SEED = "0123456789abcdef"


def line_of(text: str) -> int:
    """The number of the line of probe.py that has the text."""
    lines = Path(probe.__file__).read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if text in line)


class TestProgram(unittest.TestCase):
    def setUp(self) -> None:
        self.program = Program(probe.Probe)
        self.n = 0
        self.ask(on="new", process=7, config={**CONFIG})

    def ask(self, **request: Any) -> dict[str, Any]:
        self.n += 1
        answer: dict[str, Any] = json.loads(self.program.answer(json.dumps({"n": self.n, **request})) or "{}")
        self.assertEqual(answer.pop("n"), self.n)
        return answer

    def event(self, on: str, **more: Any) -> dict[str, Any]:
        return self.ask(**{"on": on, "process": 7, "now": 9, "random": SEED, **more})

    def test_describe(self) -> None:
        answer = self.ask(on="describe", protocols=[1])
        self.assertEqual(answer["protocol"], 1)
        spec = answer["spec"]
        place = {"fields": [["x", "int"], ["seen", ["id"]]]}
        self.assertEqual(spec["messages"], [
            {"kind": "EVERY_TYPE", "fields": [
                ["count", "uint"], ["where", place], ["delta", "int"], ["wait", "duration"], ["ok", "bool"],
                ["ratio", "float"], ["name", "string"], ["peers", ["id"]], ["places", [place]]]},
            {"kind": "BARE", "fields": []}])
        self.assertEqual(spec["auxiliary"], [{"kind": "COUNT", "fields": [["left", "uint"]]}])
        self.assertEqual(spec["saves"], spec["auxiliary"])
        self.assertEqual(spec["token"], "BARE")
        self.assertEqual(spec["parameters"][0], {
            "name": "wait", "type": "duration", "doc": "how long", "asks": True, "min": 0,
            "per_process": False, "process": False})
        self.assertEqual(spec["parameters"][2]["default"], False)
        self.assertEqual(spec["parameters"][3]["max"], 9)
        self.assertEqual(spec["handles"], ["timeout", "do"])
        self.assertEqual(spec["timers"], ["retry", "T*"])
        self.assertEqual(spec["periods"], [{"parameter": "wait", "timer": "retry", "reply": False}])
        self.assertEqual(spec["needs"], {"fifo": True, "anonymous": False, "nodes": 2})
        self.assertEqual(spec["survives"]["crashes"], "minority")
        self.assertEqual(spec["promises"]["live"], "steady")
        self.assertTrue(spec["draws"] and spec["states"] and spec["doubts"])
        self.assertEqual(spec["problem"], "mutex")
        self.assertIn(conclave.__file__, spec["files"])
        self.assertIn(probe.__file__, spec["files"])
        self.assertNotIn(json.__file__, spec["files"])
        self.assertNotIn("doubt", spec)
        self.assertNotIn("service", spec)

    def test_parameters(self) -> None:
        ask = {"on": "default", "network": NETWORK}
        self.assertEqual(self.ask(**ask, parameter="wait", params={}), {"value": 6_000_000})
        self.assertEqual(self.ask(**ask, parameter="more", params={"wait": 4}), {"value": 5})
        self.assertEqual(self.ask(**ask, parameter="flag", params={}), {"value": False})
        self.assertEqual(self.ask(on="doubt", network=NETWORK, params={"wait": 1}), {"value": "too short"})
        self.assertEqual(self.ask(on="doubt", network=NETWORK, params={"wait": 2_000_000}), {"value": None})

    def test_effects(self) -> None:
        place = {"x": -1, "seen": [1, 2]}
        sent = {
            "count": 1, "where": place, "delta": -2, "wait": 3, "ok": True, "ratio": 0.5, "name": 'a"b\né',
            "peers": [1], "places": [place]}
        self.assertEqual(self.event("do", op="every", target=2), {"effects": [
            {"send": 2, "kind": "EVERY_TYPE", "msg": sent}, {"send": 2, "kind": "BARE"},
            {"elected": 2, "term": 3}, {"elected": 0}, {"save": "COUNT", "msg": {"left": 4}}]})
        self.assertEqual(self.event("timeout", timer="T1"), {"effects": [
            {"cancel": "T1"}, {"set": "retry", "after": 5}]})
        for session in (4, 0):
            self.assertEqual(self.event("request", **({"session": session} if session else {})), {
                "effects": [{"granted": True}, {"log": f"session {session}"}]})
        self.assertEqual(self.event("receive", **{"from": 2, "kind": "EVERY_TYPE", "msg": sent}), {})
        process, _ = self.program._lives[7]
        where = probe.Place(-1, (1, 2))
        self.assertEqual(process.heard, [
            (2, probe.Everything(1, where, -2, 3, True, 0.5, 'a"b\né', [1], [where]))])

    def test_sends_to_itself(self) -> None:
        answer = self.event("receive", **{"from": 2, "kind": "COUNT", "msg": {"left": 2}})
        self.assertEqual(answer, {"effects": [{"send": 2, "kind": "BARE"}] * 2})
        process, _ = self.program._lives[7]
        self.assertEqual(process.heard, [(2, probe.Count(2)), (1, probe.Count(1)), (1, probe.Count(0))])
        self.assertIn("an endless loop", self.event("do", op="forever")["failed"])

    def test_failures(self) -> None:
        for op, words, code in (
            ("fail", "KeyError: 'missing'", 'raise KeyError("missing")'),
            ("exit", "SystemExit: 3", "sys.exit(3)"),
            ("unsendable", "TypeError: a set cannot be sent or saved", "Count({1})"),
            ("fraction", "ValueError: Unknown format code 'd' for object of type 'float'", "1.5)"),
        ):
            self.assertEqual(
                self.event("do", op=op, target=2), {"failed": f"{words} (probe.py:{line_of(code)})"})
        self.assertEqual(self.event("request")["effects"][0], {"granted": True})  # and it goes on
        self.assertIn("there is no process 8", self.ask(on="state", process=8)["failed"])
        answer = self.ask(on="new", process=8, config={**CONFIG, "params": {"flag": True}})
        self.assertTrue(answer["failed"].startswith("ValueError: no process with this flag (probe.py:"))
        self.assertEqual(self.ask(on="drop", process=8), {})

    def test_env_after_its_event(self) -> None:
        self.event("do", op="keep")
        _, env = self.program._lives[7]
        uses: list[Callable[[], Any]] = [env.granted, lambda: env.send(1, probe.Bare()), lambda: env.random]
        for use in uses:
            with self.assertRaisesRegex(RuntimeError, "used after its event"):
                use()

    def test_random(self) -> None:
        first = self.event("do", op="draw")
        one, two = first["effects"][0]["log"].split()
        self.assertNotEqual(one, two)
        self.assertEqual(self.event("do", op="draw"), first)  # of the seed alone
        self.assertNotEqual(self.event("do", op="draw", random="0123456789abcdee"), first)
        self.assertRegex(self.ask(on="do", process=7, now=9, op="draw")["failed"], "does not say draws=True")

    def test_broken(self) -> None:
        self.assertEqual(self.event("release"), {"broken": "it has left"})

    def test_lives(self) -> None:
        self.ask(on="new", process=8, config={**CONFIG}, saved={"kind": "COUNT", "msg": {"left": 4}})
        self.event("receive", **{"from": 2, "kind": "BARE"})
        self.assertEqual(self.ask(on="state", process=7)["state"], {
            "config": {}, "heard": [[2, {"kind": "BARE"}]], "id": 1, "kept": None, "peers": [1, 2],
            "wrong": None})
        self.assertEqual(self.ask(on="state", process=8)["state"]["heard"], [])
        self.assertEqual(
            self.ask(on="state", process=8)["state"]["config"], {"saved": {"kind": "COUNT", "left": 4}})
        self.assertEqual(self.ask(on="drop", process=7), {})
        self.assertIn("failed", self.event("request"))


class TestState(unittest.TestCase):
    def test_order(self) -> None:
        class Colour(Enum):
            RED = 1

        @dataclasses.dataclass
        class Pair:
            b: int
            a: int

        class Holder(Process):
            spec = Spec(summary="", messages=[])

        process: Any = Holder(Config(1, [1], [1]))
        process.z, process.colour, process.pair = {10, 9, 2}, Colour.RED, Pair(1, 2)
        process.y = {"b": {1: 2}, "a": frozenset(("x", "w"))}
        state = process.state()
        self.assertEqual(list(state), ["colour", "config", "id", "pair", "peers", "y", "z"])
        self.assertEqual([state[k] for k in ("z", "y", "colour", "pair")], [
            [2, 9, 10], [["b", [[1, 2]]], ["a", ["w", "x"]]], "RED", {"b": 1, "a": 2}])
        process.z = object()
        with self.assertRaisesRegex(TypeError, "override state"):
            process.state()


class TestDeclarations(unittest.TestCase):
    def test_mistakes(self) -> None:
        class NoDataclass(Message):
            x: int

        @dataclasses.dataclass
        class Strange(Message):
            x: complex

        for kind, words in ((NoDataclass, "NoDataclass is no dataclass"), (Strange, "no type of a field")):
            class Wrong(Process):
                spec = Spec(summary="", messages=[kind])

            with self.assertRaisesRegex(TypeError, words):
                Program(Wrong)

    def test_format_duration(self) -> None:
        for nanoseconds, text in (  # as Go prints them
            (0, "0s"), (1, "1ns"), (999, "999ns"), (1_500, "1.5µs"), (26_000_000, "26ms"),
            (1_000_001, "1.000001ms"), (999_999_999, "999.999999ms"), (1_000_000_000, "1s"),
            (62_500_000_000, "1m2.5s"), (60_000_000_001, "1m0.000000001s"), (3_600_000_000_000, "1h0m0s"),
            (-1_500_000, "-1.5ms"),
        ):
            self.assertEqual(format_duration(nanoseconds), text)


class TestServe(unittest.TestCase):
    """The program as Conclave starts it."""

    def converse(self, *requests: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
        lines = "".join(json.dumps({"n": n, **r}) + "\n" for n, r in enumerate(requests, 1))
        return subprocess.run(
            [sys.executable, str(KIT / "tests" / "probe.py")], input=lines, capture_output=True, text=True,
            env={"PYTHONPATH": str(KIT), "PATH": "/usr/bin:/bin"}, cwd=KIT)

    def test_standard_output(self) -> None:
        event = {"on": "do", "process": 1, "now": 0, "random": SEED}
        ran = self.converse(
            {"on": "new", "process": 1, "config": CONFIG}, {**event, "op": "print"}, {**event, "op": "long"},
            {"on": "drop", "process": 1, "ignored": "x" * 300_000}, {"on": "end"})
        self.assertEqual(ran.returncode, 0)
        answers = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual([a["n"] for a in answers], [1, 2, 3, 4])
        self.assertEqual(answers[1], {"n": 2})
        self.assertEqual(len(answers[2]["effects"][0]["log"]), 300_000)
        for text in ("while the module was loaded", "a handler", "to the descriptor", "by C", "by a child"):
            self.assertIn(text, ran.stderr)

    def test_end_of_input(self) -> None:
        ran = self.converse({"on": "new", "process": 1, "config": CONFIG})
        self.assertEqual((ran.returncode, ran.stdout), (0, '{"n":1}\n'))


if __name__ == "__main__":
    unittest.main()
