"""Traces and configurations of a run, and what the records did to processes and network."""
import gzip
import json
import re
import sys

MS = 1e6
WITH_SENDER, SEVERED = 1, 3  # why a message was lost


def config(path):
    """The resolved configuration as {"detector.kind": "perfect"}; lists are left out."""
    out, stack = {}, []
    for line in open(path, encoding="utf-8"):
        m = re.match(r"( *)([a-z_]+):(?: (.*))?$", line.rstrip())
        if not m:
            continue
        depth = len(m[1])
        stack = [s for s in stack if s[0] < depth] + [(depth, m[2])]
        if m[3]:
            out[".".join(s[1] for s in stack)] = m[3].strip('"')
    return out


def span(text):
    """A duration such as 1m10s or 300ms, in nanoseconds; a bare number is in milliseconds."""
    if re.fullmatch(r"[\d.]+", text):
        return round(float(text) * MS)
    unit = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}
    return sum(round(float(a) * unit[b]) for a, b in re.findall(r"([\d.]+)([a-zµ]+)", text))


class Rec:
    __slots__ = ("at", "type", "p", "inc", "peer", "kind", "plane", "seq", "copy", "sent", "due", "bytes", "arg",
                 "text")

    def __init__(self, r):
        g = r.get
        self.at, self.type, self.p, self.inc = g("at_ns", 0), g("type"), g("process", 0), g("incarnation", 0)
        self.peer, self.kind, self.plane, self.seq = g("peer", 0), g("kind"), g("plane"), g("seq")
        self.copy, self.sent, self.due, self.bytes = g("copy", 0), g("sent_ns", 0), g("due_ns", 0), g("bytes", 0)
        self.arg, self.text = g("arg", 0), g("text", "")


def trace(path):
    """The header of a trace, its records, and the instant at which the trial ended."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    if lines[-1].get("records") != len(lines) - 2:
        sys.exit(f"{path}: the trace is not whole")
    if "end_ns" not in lines[-1]:
        sys.exit(f"{path}: the version that wrote the trace did not say when the trial ended")
    return lines[0], [Rec(r) for r in lines[1:-1]], lines[-1]["end_ns"]


def quantile(values, p):
    """Of type 7."""
    v = sorted(values)
    if not v:
        return None
    h = (len(v) - 1) * p
    i = int(h)
    if h == i or v[i] == v[i + 1]:
        return v[i]
    return v[i] + (h - i) * (v[i + 1] - v[i])


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def ratio(a, b):
    return a / b if b > 0 else None


def ms(ns):
    return None if ns is None else ns / MS


def initial(r):
    return r.type == "up" and not r.inc


class World:
    """Who is up, who is paused, which links are cut."""

    def __init__(self, n, recs=()):
        self.n, self.up, self.paused, self.cut = n, set(), set(), set()
        self.cache = {}
        for r in recs:  # whoever is not down at the start is up from then on, whenever its node began
            if initial(r):
                self.apply(r)

    def links(self, text):
        """The links that a cut names: sides as 1 2|3, or directed links as 1>2 3>4."""
        ids = range(1, self.n + 1)
        if not text:
            return {(a, b) for a in ids for b in ids if a != b}
        if ">" in text:
            return {tuple(map(int, link.split(">"))) for link in text.split()}
        sides = [set(map(int, s.split())) for s in text.split("|")]
        rest = set(ids) - set().union(*sides)
        if rest:
            sides.append(rest)
        where = {p: i for i, s in enumerate(sides) for p in s}
        return {(a, b) for a in ids for b in ids if where[a] != where[b]}

    def apply(self, r):
        t = r.type
        if t == "up":
            self.up.add(r.p)
        elif t == "crash":
            self.up.discard(r.p)
            self.paused.discard(r.p)
        elif t == "pause":
            self.paused.add(r.p)
        elif t == "resume":
            self.paused.discard(r.p)
        elif t == "cut":
            self.cut |= self.links(r.text)
        elif t == "heal":
            self.cut -= self.links(r.text)
        else:
            return False
        self.cache = {}
        return True

    def active(self, p):
        return p in self.up and p not in self.paused

    def both(self, a, b):
        return a == b or ((a, b) not in self.cut and (b, a) not in self.cut)

    def parts(self):
        """Sets of active processes that reach each other, directly or through others."""
        if "parts" not in self.cache:
            live = [p for p in range(1, self.n + 1) if self.active(p)]
            reach = {}
            for a in live:
                seen, todo = {a}, [a]
                while todo:
                    x = todo.pop()
                    for b in live:
                        if b not in seen and (x, b) not in self.cut:
                            seen.add(b)
                            todo.append(b)
                reach[a] = seen
            parts = []
            for a in live:
                part = frozenset(b for b in reach[a] if a in reach[b])
                if part not in parts:
                    parts.append(part)
            self.cache["parts"] = parts
        return self.cache["parts"]

    def largest(self):
        """The largest part; of equally large ones the one with the lowest number."""
        return max(self.parts(), key=len, default=frozenset())

    def majority(self, p):
        """Whether active p reaches a majority of all n in both directions, itself included."""
        key = ("majority", p)
        if key not in self.cache:
            self.cache[key] = 2 * sum(self.active(q) and self.both(p, q) for q in range(1, self.n + 1)) > self.n
        return self.cache[key]


class Handlers:
    """When each process of a real trial handled an event for so long that it has a record."""

    def __init__(self):
        self.of = {}

    def add(self, r):
        spans = self.of.setdefault(r.p, [])
        spans.append((r.at - r.arg, r.at))

    def since(self, p, due, at):
        """For how much of [due, at] process p handled other events."""
        spans = self.of.get(p)
        if not spans or due >= at:
            return 0
        total = 0
        for a, b in reversed(spans):
            if b <= due:
                break
            total += b - max(a, due)
        return total


class Flights:
    """Messages on their way, each with a value, until the last of its copies is accounted for."""

    def __init__(self):
        self.left, self.value = {}, {}

    def key(self, r):
        a, b = (r.p, r.peer) if r.type in ("send", "duplicate") else (r.peer, r.p)
        return a, b, r.plane, r.inc, r.seq

    def send(self, r, value):
        k = self.key(r)
        self.left[k], self.value[k] = 1, value

    def again(self, r):
        k = self.key(r)
        if k in self.left:
            self.left[k] += 1

    def end(self, r):
        """The value of a message of which a copy came to its end, or None, and whether it was the last."""
        k = self.key(r)
        if k not in self.left:
            return None, False
        self.left[k] -= 1
        value = self.value[k]
        if self.left[k]:
            return value, False
        del self.left[k], self.value[k]
        return value, True

    def forget(self):
        self.left, self.value = {}, {}
