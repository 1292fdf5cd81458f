#!/usr/bin/env python3
"""Computes the columns of trials.csv and operations.csv anew from the traces of runs, and compares.

usage: recompute.py BENCH DIR...

BENCH is the program bench, which says how long the leader's period is in each cell (bench plan);
DIR is the folder of a run with trace: all. This program shares no code with Conclave: it follows
docs/results.md, docs/outages.md and docs/methodology.md. It exits with 1 if a figure differs.
"""
import csv
import json
import os
import re
import subprocess
import sys
from collections import defaultdict

MS = 1e6
LEADS = {"raft", "multi-paxos", "bully-quorum", "zab-fle", "ble", "viewstamped-replication"}  # whose Spec means outages as led
PERIOD_TIMER = {"raft": "heartbeat", "stable-leader": "period", "ble": "round", "viewstamped-replication": "heartbeat"}


# ---------------------------------------------------------------- reading

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
    """A duration such as 1.5s or 300ms, in nanoseconds."""
    unit = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}
    return sum(round(float(a) * unit[b]) for a, b in re.findall(r"([\d.]+)([a-zµ]+)", text))


class Rec:
    __slots__ = ("at", "type", "p", "inc", "peer", "kind", "plane", "seq", "copy", "sent", "due", "bytes", "arg",
                 "text", "depth")

    def __init__(self, r):
        g = r.get
        self.at, self.type, self.p, self.inc = g("at_ns", 0), g("type"), g("process", 0), g("incarnation", 0)
        self.peer, self.kind, self.plane, self.seq = g("peer", 0), g("kind"), g("plane"), g("seq")
        self.copy, self.sent, self.due, self.bytes = g("copy", 0), g("sent_ns", 0), g("due_ns", 0), g("bytes", 0)
        self.arg, self.text, self.depth = g("arg", 0), g("text", ""), g("depth", 0)


def trace(path):
    lines = [json.loads(l) for l in open(path, encoding="utf-8")]
    if lines[-1].get("records") != len(lines) - 2:
        sys.exit(f"{path}: the trace is not whole")
    return lines[0], [Rec(r) for r in lines[1:-1]]


def quantile(values, p):  # type 7
    v = sorted(values)
    if not v:
        return None
    h = (len(v) - 1) * p
    i = int(h)
    return v[i] if i + 1 == len(v) else v[i] + (h - i) * (v[i + 1] - v[i])


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def nanos(text):
    return round(float(text) * MS)


def initial(r):
    return r.type == "up" and not r.inc


def begins(r):
    """Whether a process begins an election: it is told to, or gives up its leader."""
    return r.type == "elect" or r.type == "elected" and not r.peer


def ms(ns):
    return None if ns is None else ns / MS


# ---------------------------------------------------------------- the world

class World:
    """Who is up, who is paused, which links are cut: what the records did to processes and network."""

    def __init__(self, n):
        self.n, self.up, self.paused, self.cut = n, set(), set(), set()
        self.cache = {}

    def links(self, text):
        """The links that a cut names: sides as 1 2|3, or directed links as 1>2 3>4."""
        ids = range(1, self.n + 1)
        if not text:
            return {(a, b) for a in ids for b in ids if a != b}
        if ">" in text:
            return {tuple(map(int, l.split(">"))) for l in text.split()}
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


# ---------------------------------------------------------------- elections

WITH_SENDER, SEVERED = 1, 3  # why a message was lost
DEFINITIONS = "agreed", "led", "served"
WEAK = {"return", "heal", "false-suspicion", "unneeded"}
LOSS = {"leader-crash", "crash", "partition", "start", "script"}


class Election:
    """The elections of a trial, and its outages by the three definitions."""

    def __init__(self, row, recs, cfg, period, detector):
        self.n, self.recs = int(row["nodes"]), recs
        self.alg, self.scenario, self.period = row["algorithm"].split("/")[1], row["scenario"], period
        self.end = nanos(row["duration_ms"])
        beats = cfg.get("detector.kind") in ("heartbeat", "phi")
        interval = span(row.get("detector_interval") or cfg.get("detector.interval", "0s")) if beats else 0
        # The longest period: the algorithm's own, unless it is that of the detector.
        self.timer = PERIOD_TIMER.get(self.alg) if period != interval else None
        self.ids = range(1, self.n + 1)
        self.w = World(self.n)
        first = {"cold-start": 0, "script": int(cfg.get("scenario.leader", "0")),
                 "leader-restart": self.n - 1}.get(self.scenario, self.n)
        self.name = dict.fromkeys(self.ids, first)
        self.ruled = set()  # leaders that were followed, and have reached a majority ever since
        self.doubts = {}    # (p, q): since when p suspects q, and why
        self.came = {}      # process: when it crashed or was resumed last
        self.beat = {}      # process: when it last repeated something
        self.ops, self.outages = [], {k: [] for k in DEFINITIONS}
        self.open = dict.fromkeys(DEFINITIONS)
        self.split = self.asked = self.answered = self.demoted = self.changes = 0
        self.heals, self.healed = [], None
        self.detector = detector  # whether the algorithm needs one
        self.missed = {}    # process: when a message between it and its leader was sent that was lost
        self.crashed = {}   # process: when it crashed last
        self.bereaved = False
        self.bereft = None  # the leader that was lost, and when, until a process gives it up
        self.last = first   # the leader that there was agreement on last
        for r in recs:
            if initial(r):
                self.w.apply(r)
        self.leaders = self.who()
        self.ruled |= self.leaders["agreed"] | self.leaders["led"]
        for k in DEFINITIONS:
            if not self.leaders[k]:
                self.open[k] = {"since": 0, "from": 0, "why": "start", "cause_ms": 0, "cause": "start", "phase": None,
                                "begin_ms": None, "before": 0, "touched": False}
        self.run()

    # The three definitions: who leads. Empty: there is an outage.

    def agreed(self):
        part = self.w.largest()
        names = {self.name[p] for p in part}
        return names if len(names) == 1 and names <= part else set()

    def led(self):
        w = self.w
        return {l for l in self.ids if w.active(l) and self.name[l] == l and 2 * sum(
            w.active(q) and self.name[q] == l and w.both(l, q) for q in self.ids) > self.n}

    def clients(self):
        """For each client that would be answered, by whom."""
        w, out = self.w, []
        for p in w.up:
            l = self.name[p]
            if l and w.active(l) and self.name[l] == l and w.both(p, l) and w.majority(l):
                out.append(l)
        return out

    def who(self):
        return {"agreed": self.agreed(), "led": self.led(), "served": set(self.clients())}

    def run(self):
        last, i, recs = 0, 0, self.recs
        while i < len(recs):
            j, at = i, max(0, recs[i].at)
            while j < len(recs) and max(0, recs[j].at) == at:
                j += 1
            if at > self.end:  # on real nodes, until they are stopped
                break
            self.advance(last, at)
            self.step(at, recs[i:j])
            last, i = at, j
        self.advance(last, self.end)

    def advance(self, a, b):
        if b <= a:
            return
        w = self.w
        self.split += (b - a) * (sum(w.active(p) and self.name[p] == p for p in self.ids) >= 2)
        k = -(-b // 10**6) - -(-a // 10**6)  # whole milliseconds in [a, b)
        self.asked += k * len(w.up)
        self.answered += k * len(self.clients()) if k else 0

    def step(self, at, group):
        """What happens at one instant, record by record: what the first of them began goes on after the last."""
        w, acts = self.w, {}
        for r in group:
            if r.type in ("timeout", "suspect", "restore", "elect", "do"):
                acts.setdefault(r.p, self.reason(r, at))  # the first of an instant
            was, apart = self.name.get(r.p), bool(w.cut)
            touched = w.apply(r) and not initial(r)
            if r.type == "elected":
                touched = True
                if was == r.p != r.peer:
                    self.demoted += r.p in self.ruled
                    self.ruled.discard(r.p)
                self.give(r.p, was, r.peer)
                self.name[r.p] = r.peer
                if self.open["agreed"] and "void" not in self.open["agreed"]:
                    self.open["agreed"]["touched"] = True
            elif r.type == "up" and r.inc:
                self.name[r.p] = 0
                self.missed.pop(r.p, None)
                self.doubts = {k: v for k, v in self.doubts.items() if k[0] != r.p}
            elif r.type == "lose":
                self.miss(r)
            if r.type in ("cut", "heal"):
                self.healed = None if w.cut else at if apart else self.healed
            if touched:
                self.look(at, r, was, acts)
            self.note(r, at)
            o = self.open["agreed"]
            if o and o["begin_ms"] is None and begins(r):
                o["begin_ms"] = at
        for k in DEFINITIONS:
            self.end_outage(k, at)

    def end_outage(self, k, at):
        """Of what ends and begins at one instant nothing remains, but at the start and by order of a script."""
        o = self.open[k]
        if o and self.leaders[k]:
            self.open[k] = None
            if o["since"] < at or o["cause"] in ("start", "script"):
                counts = self.counts(o["why"]) and not o.get("hastened")
                self.outages[k].append((o["since"], at, o["from"] if counts else None))
            if k == "agreed" and o["touched"] and (o["cause_ms"] < at or o["cause"] in ("start", "script")):
                o.update(end_ms=at, process=min(self.leaders[k]))
                self.ops.append(o)

    def look(self, at, r, was, acts):
        now = self.who()
        fell = r.type in ("crash", "pause")
        led = fell and r.p in (was, self.last)
        why = self.cause(r, led, acts.get(r.p))
        o = self.open["agreed"]
        underway = o and "void" not in o and not self.leaders["agreed"] and o["cause"] in WEAK - {"return", "heal"}
        for k in DEFINITIONS:
            o = self.open[k]
            if k == "agreed" and o and now[k] and not o["touched"]:
                o["void"] = True  # the outage may go on at this very instant, the operation is over
            elif k == "agreed" and o and not now[k] and o.pop("void", False):
                o.update(cause_ms=at, cause=why, begin_ms=None, before=self.last, phase=self.phase(r, at), hasty=False)
            if o is None and self.leaders[k] and not now[k]:
                self.open[k] = {"since": at, "from": at, "why": why, "cause_ms": at, "cause": why, "begin_ms": None,
                                "before": self.last, "phase": self.phase(r, at), "touched": r.type == "elected"}
        if led or r.type == "crash" and self.scenario == "leader-crash":
            o = self.open["agreed"]
            if o and not now["agreed"] and not self.counts(o["cause"]):
                o.update(cause="leader-crash", cause_ms=at, begin_ms=None, phase=self.phase(r, at), hasty=False)
            for k in DEFINITIONS:
                if self.open[k] and not now[k] and not self.counts(self.open[k]["why"]):
                    self.open[k].update({"why": "leader-crash", "from": at, "hastened": False})
        if led:
            self.bereft, self.bereaved = (r.p, at), True
            if underway:
                self.hasten(now)
        if now["agreed"]:
            l, = now["agreed"]
            self.changes += l != self.last
            self.last = l
            if self.healed is not None:
                self.heals.append(at - self.healed)
                self.healed = None
        self.leaders = now
        self.ruled |= now["agreed"] | now["led"]
        self.ruled = {l for l in self.ruled if self.w.active(l) and self.name[l] == l and self.w.majority(l)}

    def give(self, p, old, new):
        """A process names another leader: had it missed the one that is lost?"""
        if old == new or p not in self.w.up:
            return
        missed = self.missed.pop(p, None)
        if self.bereft and old == self.bereft[0]:
            lost = self.bereft[1]
            if missed is not None and lost - (self.period or 0) <= missed < lost:
                self.hasten(self.leaders)
            self.bereft = None

    def hasten(self, leaders):
        """What goes on was on its way before the leader was lost."""
        self.bereft = None
        for k in DEFINITIONS:
            if self.open[k] and not leaders[k]:
                self.open[k]["hastened"] = True
        if self.open["agreed"]:
            self.open["agreed"]["hasty"] = True

    def miss(self, r):
        """A message was lost that was neither its sender's last nor on a link that was cut."""
        if r.arg in (WITH_SENDER, SEVERED) or r.plane == "detection" and not self.detector:
            return
        for p, q in ((r.p, r.peer), (r.peer, r.p)):
            if self.name[p] == q and (q in self.w.up or r.sent < self.crashed.get(q, 0)):
                self.missed[p] = r.sent

    def note(self, r, at):
        """What later causes and phases need to know."""
        if r.type == "timeout" and r.text == self.timer or not self.timer and (
                r.type == "send" and r.kind == "HEARTBEAT" and r.plane == "detection"):
            self.beat[r.p] = at
        elif r.type in ("crash", "resume"):
            self.came[r.p] = at
            if r.type == "crash":
                self.crashed[r.p] = at

    def phase(self, r, at):
        l = self.last
        if r.type == "elected" or not self.period or l not in self.beat or self.name[l] != l:
            return None
        since = at - self.beat[l]
        return None if since > 2 * self.period else (since or self.period) / self.period

    def reason(self, r, at):
        """Why a process acts otherwise than on a message."""
        if r.type in ("elect", "do"):
            return "script"
        if r.type == "timeout":
            return "false-suspicion"
        if r.type == "suspect":
            why = ("crash" if not self.w.active(r.peer) else
                   "partition" if not self.w.both(r.p, r.peer) else "false-suspicion")
            self.doubts[r.p, r.peer] = at, why
            return why
        since, why = self.doubts.pop((r.p, r.peer), (0, ""))
        if why == "crash" or self.came.get(r.peer, -1) > since:
            return "return"
        return why if why == "false-suspicion" else "heal"

    def cause(self, r, led, act):
        if r.type in ("crash", "pause"):
            return "leader-crash" if led else "crash"
        if r.type in ("cut", "heal", "up", "resume"):
            return {"cut": "partition", "heal": "heal"}.get(r.type, "return")
        o = self.open["agreed"]
        if o and o["cause"] in WEAK:
            return o["cause"]
        if act and act != "false-suspicion":
            return act
        if self.w.cut:
            return "partition"
        if 2 * sum(map(self.w.active, self.ids)) <= self.n:
            return "crash"
        if act or self.doubts.get((r.p, self.last), (0, ""))[1] == "false-suspicion":
            return "false-suspicion"
        return "unneeded"

    def counts(self, cause):
        """Whether what such a cause began counts in the metrics of the scenario."""
        if self.scenario in ("churn", "partition"):
            return cause in LOSS or self.scenario == "partition" and cause == "heal"
        return self.scenario != "leader-crash" or cause in ("leader-crash", "crash")

    def status(self, o):
        if o["end_ms"] is None:
            return "pending"
        if o["cause"] == "return" and self.scenario in ("churn", "partition", "leader-crash"):
            return "joined" if o["before"] == o["process"] else "restart"
        if not self.counts(o["cause"]):
            return "other"
        return "hastened" if o.get("hasty") else "ok"

    def figures(self):
        c, end = {}, self.end
        for k in DEFINITIONS:
            o = self.open[k]
            if o:
                self.outages[k].append((o["since"], None, o["from"] if self.counts(o["why"]) else None))
                if k == "agreed":
                    o.update(end_ms=None, process=0)
                    self.ops.append(o)
            spans = [(end if b is None else b) - a for a, b, _ in self.outages[k]]
            c[f"outages_{k}"], c[f"longest_outage_{k}_ms"] = len(spans), ms(max(spans, default=0))
            lost = [(b, f) for _, b, f in self.outages[k] if f is not None]
            ended = sum(b is not None for b, _ in lost)  # the others are right-censored
            c[f"downtime_{k}_ms"] = ms(sum((end if b is None else b) - f for b, f in lost) / ended) if ended else None
            if k != "served":
                c[f"availability_{k}"] = 1 - sum(spans) / end if end else None
        c["availability_served"] = self.answered / self.asked if self.asked else None
        mine = "led" if self.alg in LEADS else "agreed"
        c["availability"], c["downtime_ms"] = c["availability_" + mine], c[f"downtime_{mine}_ms"]
        for o in self.ops:
            o["status"] = self.status(o)
            if o["end_ms"] is not None and o["begin_ms"] is None:
                o["begin_ms"] = o["cause_ms"]
        good = [o for o in self.ops if o["status"] == "ok"]
        hasty = sum(o["status"] == "hastened" for o in self.ops)
        if self.bereaved:
            c["hastened_share"] = hasty / (hasty + len(good)) if hasty + len(good) else None
        c["operations"], c["completed"] = len(self.ops), sum(o["end_ms"] is not None for o in self.ops)
        c["detection_ms"] = ms(mean(o["begin_ms"] - o["cause_ms"] for o in good))
        c["election_ms"] = ms(mean(o["end_ms"] - o["begin_ms"] for o in good))
        c["leader_changes"], c["split_brain_ms"], c["heal_ms"] = self.changes, ms(self.split), ms(mean(self.heals))
        unneeded = sum(o["cause"] in ("false-suspicion", "unneeded") for o in self.ops)
        c["unneeded_elections_per_s"] = unneeded / end * 1e9 if end else None
        c["unjustified_demotions_per_s"] = self.demoted / end * 1e9 if end else None
        return c


# ---------------------------------------------------------------- both problems

def common(recs):
    c = defaultdict(int)
    load, drawn, fifo, real, late = defaultdict(int), [], [], [], []
    for k in "messages bytes delivered lost undeliverable duplicated detector_messages crashes pauses saves".split():
        c[k] = 0
    modelled, held = 0, defaultdict(list)
    for r in recs:
        t = r.type
        if t == "resume":
            held[r.p].append(r.at)
        if t == "crash":
            c["crashes"] += 1
        elif t == "pause":
            c["pauses"] += 1
        elif t == "save":
            c["saves"] += 1
        if r.plane == "detection":
            c["detector_messages"] += t == "send"
            continue
        if t in ("send", "duplicate"):
            drawn.append(r.due - r.sent - r.arg)
            fifo.append(r.arg)
        if t == "send":
            c["messages"] += 1
            c["bytes"] += r.bytes
            load[r.p] += 1
        elif t == "duplicate":
            c["duplicated"] += 1
        elif t == "deliver":
            c["delivered"] += 1
            load[r.p] += 1
            if not held[r.p] or r.due > max(held[r.p]):
                real.append(r.at - r.sent)
                late.append(r.at - r.due)
        elif t == "lose":
            c["lost"] += 1
            modelled += r.arg == 0
        elif t == "undelivered":
            c["undeliverable"] += 1
    known = c["delivered"] + c["lost"] + c["undeliverable"]
    total = sum(load.values())
    c["busiest_share"] = max(load.values()) / total if total else None
    c["latency_drawn_ms"] = ms(mean(drawn))
    c["order_delay_ms"] = ms(mean(fifo))
    c["latency_achieved_ms"] = ms(mean(real))
    c["delay_error_p50_ms"] = ms(quantile(late, .5))
    c["delay_error_p99_ms"] = ms(quantile(late, .99))
    c["loss_achieved"] = modelled / known if known else None
    return dict(c)


def faults(row, recs, cfg):
    """Crashes, outages of processes, suspicions."""
    n, end = int(row["nodes"]), nanos(row["duration_ms"])
    w = World(n)
    down_at, crash_due, req, ach = {}, {}, [], []
    susp, waiting = [], {}
    suspects = defaultdict(set)
    wrong, durations, false, wrong_time, pair_time, allowed = {}, [], 0, 0, 0, 0
    most = int(cfg.get("faults.max_down", 0)) or (n - 1) // 2
    last = 0
    for r in recs:
        if initial(r):
            w.apply(r)
    for p in set(range(1, n + 1)) - w.up:
        down_at[p] = crash_due[p] = 0
    for r in recs + [None]:
        at = end if r is None else min(max(0, r.at), end)
        live = sum(map(w.active, w.up))
        pair_time += (at - last) * live * (live - 1)
        if n - len(w.up) < most:
            allowed += (at - last) * len(w.up)
        wrong_time += (at - last) * sum(w.active(a) for (a, b) in wrong)
        last = at
        if r is None:
            break
        w.apply(r)
        if r.type == "crash":
            down_at[r.p], crash_due[r.p], waiting[r.p] = r.at, r.arg, r.at
            for k in [k for k in wrong if r.p in k]:
                durations.append(at - wrong.pop(k))
        elif r.type == "pause":
            for k in [k for k in wrong if r.p in k]:
                durations.append(at - wrong.pop(k))
        elif r.type == "up" and r.inc:
            waiting.pop(r.p, None)
            if r.p in down_at:
                req.append(r.arg - crash_due[r.p])
                ach.append(r.at - down_at[r.p])
        elif r.type == "suspect":
            if r.peer in waiting:
                susp.append(r.at - waiting.pop(r.peer))
            if w.active(r.peer):
                false += 1
                wrong.setdefault((r.p, r.peer), at)
        elif r.type == "restore":
            if (r.p, r.peer) in wrong:
                durations.append(at - wrong.pop((r.p, r.peer)))
    c = {"suspicion_ms": ms(mean(susp)) if cfg.get("detector.kind") != "none" else None, "outage_requested_ms": ms(mean(req)), "outage_achieved_ms": ms(mean(ach))}
    watched = cfg.get("detector.kind") != "none"
    c["false_suspicions"] = false if watched else 0
    c["crash_rate_achieved"] = sum(r.type == "crash" for r in recs) / (allowed / 1e9) if allowed else None
    if watched and cfg.get("detector.scope", "all") == "all":
        c["mistake_duration_ms"] = ms(mean(durations))
        c["mistake_recurrence_ms"] = ms(pair_time / false) if false else None
        c["query_accuracy"] = 1 - wrong_time / pair_time if pair_time else None
    return c


# ---------------------------------------------------------------- mutual exclusion

def entries(row, recs, cfg):
    """The metrics of a trial of mutual exclusion, and its operations."""
    n, end = int(row["nodes"]), nanos(row["duration_ms"])
    warm = int(row.get("scenario_warmup") or cfg.get("scenario.warmup", 0))
    reqs, waiting, inside, holds, pairs = [], defaultdict(list), {}, defaultdict(int), 0
    free, sync, granted, from_ = None, [], [], 0
    for r in recs:
        at = max(0, r.at)
        if r.type == "request":
            q = {"process": r.p, "cause_ms": r.arg, "begin_ms": at, "end_ms": None, "status": "pending", "over": 0}
            reqs.append(q)
            waiting[r.p].append(q)
        elif r.type == "granted" and waiting[r.p]:
            q = waiting[r.p].pop(0)
            for o in (o for l in waiting.values() for o in l if o["cause_ms"] < q["cause_ms"] and o["process"] != r.p):
                o["over"] += 1
            granted.append(q)
            q.update(end_ms=at, status="warmup" if len(granted) <= warm else "ok")
            pairs += len(inside)
            inside[r.p] = q
            if free is not None and q["status"] == "ok":
                sync.append(at - free)
            free = None
        elif r.type == "released" and r.p in inside:
            q = inside.pop(r.p)
            q["left"] = at
            if warm and granted.index(q) + 1 == warm:
                from_ = at
            if any(waiting.values()):
                free = at
        elif r.type == "crash":
            inside.pop(r.p, None)
            for q in waiting.pop(r.p, []):
                q["status"] = "crashed"
            if not any(waiting.values()):
                free = None
    good = [q for q in reqs if q["status"] == "ok"]
    waits = [q["end_ms"] - q["cause_ms"] for q in good]
    for q in good:
        holds[q["process"]] += 1
    x = [holds[p] for p in range(1, n + 1)]
    c = {"violations": pairs, "waiting_ms": ms(mean(waits)), "waiting_p99_ms": ms(quantile(waits, .99)),
         "turnaround_ms": ms(mean(q["left"] - q["cause_ms"] for q in good if "left" in q)),
         "sync_delay_ms": ms(mean(sync)), "throughput_per_s": len(good) / (end - from_) * 1e9 if good and end > from_ else None,
         "fairness": sum(x) ** 2 / (n * sum(v * v for v in x)) if good else None,
         "never_granted": sum(map(len, waiting.values())),
         "operations": len(reqs), "completed": len(granted)}
    if row["scenario"] == "ramp":
        for k in "waiting_ms waiting_p99_ms turnaround_ms throughput_per_s".split():
            c[k] = None
        c.update(ramp(row, cfg, reqs))
    elif row["scenario"] in STEADY:
        took = [q["end_ms"] - q["cause_ms"] for q in granted]
        c.update(series(took, took[warm:]))
    return c, reqs


# ---------------------------------------------------------------- series and ramps

STEADY = {"sequential", "closed", "open", "leader-crash", "churn"}


def mser(x):
    """How many values MSER-5 cuts; None: more than half."""
    b = [sum(x[i:i + 5]) / 5 for i in range(0, len(x) - 4, 5)]

    def error(d):
        rest = b[d:]
        m = sum(rest) / len(rest)
        return sum((v - m) ** 2 for v in rest) / len(rest) ** 2
    errors = [error(d) for d in range(len(b) - 4)]
    d = next(d for d, e in enumerate(errors) if e <= min(errors) * (1 + 1e-9))
    return 5 * d if d <= len(b) // 2 else None


def autocovariance(x, lag):
    m = sum(x) / len(x)
    return sum((x[i] - m) * (x[i + lag] - m) for i in range(len(x) - lag))


def series(all_, measured):
    """What successive times say of each other."""
    out = {}
    if len(all_) >= 50:
        out["warmup_found"] = mser(all_)
    if len(measured) < 50:
        return out
    own = autocovariance(measured, 0)
    if own < 1e-6:  # of whole nanoseconds: all are equal
        return dict(out, autocorrelation=None, effective_operations=None)
    n, size = len(measured), -(-len(measured) // 1000)
    b = [sum(measured[i:i + size]) / size for i in range(0, n - size + 1, size)]
    total, lag = -autocovariance(b, 0), 0
    while lag + 1 < len(b):
        two = autocovariance(b, lag) + autocovariance(b, lag + 1)
        if two <= 0:
            break
        total, lag = total + 2 * two, lag + 2
    out["autocorrelation"] = autocovariance(measured, 1) / own
    out["effective_operations"] = min(n, own / n / (total / len(b) ** 2)) if total > 0 else n
    return out


def ramp(row, cfg, reqs):
    """The knee of a ramp, and up to which rate it was kept up with."""
    def key(name):
        return float(row.get("scenario_" + name) or cfg["scenario." + name])
    span = row.get("scenario_duration") or cfg["scenario.duration"]
    span = float(span) * MS if span[-1].isdigit() else seconds(span) * 1e9
    came = sorted(q["cause_ms"] for q in reqs if q["status"] != "crashed")
    granted = sorted(q["end_ms"] for q in reqs if q["status"] == "ok")
    alone = [at for i, at in enumerate(came) if sum(g <= at for g in granted) >= i]
    start, end = alone[-1], came[-1]
    step = min(int(start / span * key("steps")), int(key("steps")) - 1)
    out = {"kept_up_per_s": key("from") + (key("to") - key("from")) * step / (key("steps") - 1), "knee_per_s": None}
    a, g = sum(start < at <= end for at in came), sum(start < at <= end for at in granted)
    late = [at for at in granted if start + (end - start) // 2 < at <= end]
    if a + g >= 30 and a - g > 3 * (a + g) ** .5 and len(late) > 1:
        out["knee_per_s"] = (len(late) - 1) / (late[-1] - late[0]) * 1e9
    return out


def seconds(span):
    """A duration as Go writes it: 1m10s, 500ms."""
    unit = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
    return sum(float(v) * unit[u] for v, u in re.findall(r"([\d.]+)([a-zµ]+)", span))


# ---------------------------------------------------------------- comparing

def same(mine, theirs):
    if mine is None or theirs == "":
        return mine is None and theirs == ""
    if isinstance(mine, str):
        return mine == theirs
    try:
        x = float(theirs)
    except ValueError:
        return False
    return abs(mine - x) <= 1e-9 * max(1, abs(mine), abs(x))


class Tally:
    def __init__(self):
        self.done, self.bad, self.examples = defaultdict(int), defaultdict(int), defaultdict(list)

    def check(self, where, col, mine, theirs):
        self.done[col] += 1
        if not same(mine, theirs):
            self.bad[col] += 1
            if len(self.examples[col]) < 5:
                self.examples[col].append(f"{where}: here {mine}, there {theirs or 'empty'}")


def table(answer, name):
    """The rows of a table of an answer."""
    return next(t["rows"] for t in answer["tables"] if t["name"] == name)


def detector(bench, algorithm, known):
    """Whether an algorithm needs a failure detector."""
    if algorithm not in known:
        out = subprocess.run([bench, "describe", algorithm, "--json"], capture_output=True, check=True).stdout
        known[algorithm] = any(n["name"] == "detector" and n["value"] != "none" 
                               for n in table(json.loads(out), "needs"))
    return known[algorithm]


def check_run(bench, d, tally):
    cfg = config(os.path.join(d, "config.resolved.yaml"))
    rows = list(csv.DictReader(open(os.path.join(d, "trials.csv"), encoding="utf-8")))
    ops = defaultdict(list)
    for o in csv.DictReader(open(os.path.join(d, "operations.csv"), encoding="utf-8")):
        ops[o["trial"]].append(o)
    count = 0
    plan = json.loads(subprocess.run([bench, "plan", os.path.join(d, "config.resolved.yaml"), "--json"],
                                     capture_output=True, check=True).stdout)
    periods = {str(c["cell"]): (c.get("period_ms") or 0) * MS for c in table(plan, "cells")}
    needs = {}
    for row in rows:
        path = os.path.join(d, "traces", f"trial-{row['trial']}.ndjson")
        if not os.path.exists(path) or row["status"] in ("invalid", "error"):
            continue
        _, recs = trace(path)
        count += 1
        c = common(recs)
        c.update(faults(row, recs, cfg))
        if row["problem"] == "election":
            e = Election(row, recs, cfg, periods.get(row["cell"]), detector(bench, row["algorithm"], needs))
            c.update(e.figures())
            mine = e.ops
            if row["scenario"] in STEADY:
                took = [q["end_ms"] - q["cause_ms"] for q in mine if q["status"] == "ok"]
                c.update(series(took, took))
        else:
            more, mine = entries(row, recs, cfg)
            c.update(more)
        where = f"{d.rstrip('/')} trial {row['trial']} ({row['label']}, {row['status']})"
        for k, v in c.items():
            if k in row:
                tally.check(where, k, v, row[k])
        theirs = ops[row["trial"]]
        if row["problem"] == "mutex":  # the order of its rows is another
            mine = sorted(mine, key=lambda q: (q["process"], ms(q["cause_ms"])))
            theirs = sorted(theirs, key=lambda q: (int(q["process"]), float(q["cause_ms"])))
        for a, b in zip(mine, theirs):
            for k in "process cause_ms begin_ms end_ms status cause phase".split():
                if k in a:
                    v = ms(a[k]) if k.endswith("_ms") else a[k]
                    tally.check(f"{where} operation {b['operation']}", "operations." + k, v, b[k])
    return count


def main():
    tally, trials = Tally(), 0
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    for d in sys.argv[2:]:
        trials += check_run(sys.argv[1], d, tally)
    bad = sum(tally.bad.values())
    for col in tally.done:
        print(f"{col:32} {tally.done[col]:8} {tally.bad[col]:6} differ")
        for e in tally.examples[col]:
            print("   ", e)
    print(f"{trials} trials, {sum(tally.done.values())} figures, {bad} differ")
    return 1 if bad or not trials else 0


if __name__ == "__main__":
    sys.exit(main())
