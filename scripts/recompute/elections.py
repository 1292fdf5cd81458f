"""Elections and outages of a trial: the columns of trials.csv about them, operations.csv and outages.csv."""
from records import SEVERED, WITH_SENDER, Flights, World, initial, mean, ms, ratio

DEFINITIONS = "agreed", "led", "served"
WEAK = {"return", "heal", "false-suspicion", "unneeded"}
LOSS = {"leader-crash", "crash", "partition", "start", "script"}


def begins(r):
    """Whether a process begins an election: it is told to, or gives up its leader."""
    return r.type == "elect" or r.type == "elected" and not r.peer


class Chains:
    """The longest chain of messages of which each was sent when one before it had been handled."""

    def __init__(self):
        self.longest, self.at, self.flights = 0, {}, Flights()

    def anew(self):
        self.longest, self.at = 0, {}
        self.flights.forget()

    def record(self, r):
        if r.type == "send":  # an acknowledgement is part of a chain, and does not make it longer
            depth = self.at.get(r.p, 0) + (r.plane != "detection")
            self.longest = max(self.longest, depth)
            self.flights.send(r, depth)
        elif r.type == "duplicate":
            self.flights.again(r)
        else:
            depth, _ = self.flights.end(r)
            if depth is not None and r.type == "deliver":
                self.at[r.p] = max(self.at.get(r.p, 0), depth)


class Terms:
    """In which terms processes stood, and which of these had a winner."""

    def __init__(self):
        self.begun, self.number, self.stands, self.silent = [], {}, {}, False

    def elected(self, r, reaches):
        self.stands.pop(r.p, None)
        i = self.number.get(r.arg)
        if r.peer == r.p:
            if i is None:
                self.silent = True
            else:
                self.begun[i]["elected"] = True
        elif not r.peer and r.arg:
            if i is None:
                i = self.number[r.arg] = len(self.begun)
                self.begun.append({"at": r.at, "elected": False, "able": False, "cut": False})
            self.begun[i]["able"] |= reaches
            self.stands[r.p] = i

    def gone(self, p):
        i = self.stands.pop(p, None)
        if i is not None and i == len(self.begun) - 1:
            self.begun[i]["cut"] = True

    def within(self, begin, end, terms=None):
        """How many began then, of how many a vote was held, and in how many it was split."""
        some = [t for t in (self.begun if terms is None else terms) if begin <= t["at"] <= end]
        split = sum(not t["elected"] and t["able"] and not t["cut"] for t in some)
        return len(some), split + sum(t["elected"] for t in some), split


class Election:
    def __init__(self, row, recs, cfg, cell, spec, end):
        self.n, self.recs, self.cell, self.spec, self.end = int(row["nodes"]), recs, cell, spec, end
        self.scenario, self.period = row["scenario"], cell["period_ns"]
        self.ids = range(1, self.n + 1)
        self.w = World(self.n, recs)
        first = {"cold-start": 0, "script": int(cfg.get("scenario.leader", "0")),
                 "leader-restart": self.n - 1}.get(self.scenario, self.n)
        self.name = dict.fromkeys(self.ids, first)
        self.ruled = set()   # leaders that were followed, and have reached a majority ever since
        self.doubts = {}     # (p, q): since when p suspects q, and why
        self.came = {}       # process: when it crashed, was resumed, or was slow from then on or no longer
        self.beat = {}       # process: when it last repeated something
        self.handled = {}    # process: from when to when it last handled an event
        self.acts = {}       # process: when it last acted otherwise than on a message, and why
        self.ops, self.outages = [], {k: [] for k in DEFINITIONS}
        self.open = dict.fromkeys(DEFINITIONS)
        self.split = self.asked = self.answered = self.demoted = self.changes = 0
        self.heals, self.healed = [], None
        self.missed = {}     # process: when a message between it and its leader was sent that was lost
        self.crashed = {}    # process: when it crashed last
        self.bereaved = False
        self.bereft = None   # the leader that was lost, and when, until a process gives it up
        self.last = first    # the leader that there was agreement on last
        self.chains, self.terms = Chains(), Terms()
        self.sent = [0, 0]   # messages and bytes up to now
        self.mark, self.marked = [0, 0], None  # up to the instant at which the present operation may have begun
        self.spent, self.counting = [0, 0], None  # of elections that count; where the last of those began
        self.caused = 0      # when the last operation began
        self.since = 0       # when the leader began to lead, by the definition of the Spec
        self.former = None   # the leader that was lost last, and when
        self.struck = []     # how long the leaders that crashed had led
        self.leaders = self.who()
        self.ruled |= self.leaders["agreed"] | self.leaders["led"]
        for k in DEFINITIONS:
            if not self.leaders[k]:
                self.open[k] = self.outage(0, "start", None)
        self.run()

    def outage(self, at, why, phase):
        """An outage, and for agreed the operation that begins with it."""
        return {"since": at, "from": at, "why": why, "cause_ms": at, "cause": why, "begin_ms": None, "phase": phase,
                "before": self.last, "touched": False, "sent": [0, 0]}

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
        w = self.w
        for r in group:
            t = r.type
            if t == "handled":
                self.moved(r)
                continue
            if t in ("send", "duplicate", "deliver", "lose", "undelivered"):
                self.message(r)
            if t in ("timeout", "suspect", "restore", "elect", "do"):
                self.remember(at)
                why = self.reason(r, at)
                if self.acts.get(r.p, (None,))[0] != at:
                    self.acts[r.p] = at, why  # the first of an instant
            was, apart, leads = self.name.get(r.p), bool(w.cut), w.active(r.p) and self.name[r.p] == r.p
            if t in ("crash", "pause"):
                self.terms.gone(r.p)
            touched = w.apply(r) and not initial(r)
            if t == "elected":
                touched = True
                if r.p in w.up:
                    self.terms.elected(r, w.active(r.p) and w.majority(r.p))
                    if was == r.p != r.peer:
                        self.demoted += r.p in self.ruled
                        self.ruled.discard(r.p)
                    self.give(r.p, was, r.peer)
                    self.name[r.p] = r.peer
                    if self.open["agreed"] and "void" not in self.open["agreed"]:
                        self.open["agreed"]["touched"] = True
            elif t == "up" and r.inc:
                self.name[r.p] = 0
                self.missed.pop(r.p, None)
                self.acts.pop(r.p, None)
                self.chains.at.pop(r.p, None)
                self.doubts = {k: v for k, v in self.doubts.items() if k[0] != r.p}
            elif t == "lose":
                self.miss(r)
            if t in ("cut", "heal"):
                self.healed = None if w.cut else at if apart else self.healed
            if touched:
                self.look(at, r, leads)
            self.note(r, at)
            o = self.open["agreed"]
            if o and o["begin_ms"] is None and begins(r):
                o["begin_ms"] = self.began(r, at)
        for k in DEFINITIONS:
            self.end_outage(k, at)

    def message(self, r):
        if r.type == "send" and r.plane != "detection":
            self.sent = [self.sent[0] + 1, self.sent[1] + r.bytes]
        if r.kind != "HEARTBEAT" or r.plane != "detection":
            self.chains.record(r)

    def moved(self, r):
        """What a process asks for in an event happens when its handler is done."""
        self.handled[r.p] = r.at - r.arg, r.at
        if self.acts.get(r.p, (None,))[0] == r.at - r.arg:
            self.acts[r.p] = r.at, self.acts[r.p][1]
        if self.marked == r.at - r.arg:
            self.marked = r.at

    def began(self, r, at):
        """When the event came that r is part of, but not before the last operation began or ended."""
        begin = at
        if r.type == "elected" and self.handled.get(r.p, (0, None))[1] == at:
            begin = self.handled[r.p][0]
        if self.ops:
            begin = max(begin, self.ops[-1]["end_ms"])
        return max(begin, min(self.caused, at))

    def remember(self, at):
        """What a process does otherwise than on a message may begin the next operation: count from there."""
        o = self.open["agreed"]
        if (o is None or "void" in o) and self.marked != at:
            self.marked, self.mark = at, self.sent
            self.chains.anew()

    def settle(self, now):
        """The messages of the last election that counts end here."""
        if self.counting:
            self.spent = [s + n - c for s, n, c in zip(self.spent, now, self.counting)]
            self.counting = None

    def end_outage(self, k, at):
        """Of what ends and begins at one instant nothing remains, but at the start and by order of a script."""
        o = self.open[k]
        if not o or not self.leaders[k]:
            return
        self.open[k] = None
        if o["since"] < at or o["why"] in ("start", "script"):
            status = "other" if not self.counts(o["why"]) else "hastened" if o.get("hastened") else "ok"
            self.outages[k].append(self.row(k, o, at, status))
        if k == "agreed" and o["touched"] and (o["cause_ms"] < at or o["cause"] in ("start", "script")):
            o.update(end_ms=at)
            o.update(status=self.status(o), votes=self.terms.within(o["cause_ms"], at))
            if o["begin_ms"] is None:
                o["begin_ms"] = o["cause_ms"]
            self.ops.append(o)
            if o["status"] == "ok":
                self.counting = o["sent"]
                if self.spec["perpetual"]:
                    self.settle(o["so far"])

    def row(self, k, o, until, status):
        """A row of outages.csv."""
        lasted = self.end if until is None else until
        return {"definition": k, "outage": len(self.outages[k]) + 1, "spec": str(k == self.spec["service"]).lower(),
                "begin_ms": o["since"], "cause_ms": o["from"], "end_ms": until, "length_ms": lasted - o["since"],
                "status": status, "cause": o["why"]}

    def look(self, at, r, leads):
        now = self.who()
        led = r.type in ("crash", "pause") and (leads or r.p == self.last)
        self.crown(at, r, now[self.spec["service"]])
        why = self.cause(r, at, led)
        o = self.open["agreed"]
        underway = o and "void" not in o and not self.leaders["agreed"] and o["cause"] in WEAK - {"return", "heal"}
        for k in DEFINITIONS:
            o = self.open[k]
            if k == "agreed" and o and now[k]:
                if not o["touched"]:
                    o["void"] = True  # the outage may go on at this very instant, the operation is over
                elif not self.leaders[k]:
                    o.update({"so far": self.sent, "delays": self.chains.longest, "process": min(now[k])})
            elif k == "agreed" and o and o.pop("void", False):
                o.update(self.operation(r, at, why), touched=r.type == "elected")
            if o is None and self.leaders[k] and not now[k]:
                self.open[k] = self.outage(at, why, None)
                if k == "agreed":
                    self.open[k].update(self.operation(r, at, why), touched=r.type == "elected")
        if led or r.type == "crash" and self.scenario == "leader-crash":
            o = self.open["agreed"]
            if o and not now["agreed"] and not self.counts(o["cause"]):
                o.update(cause="leader-crash", cause_ms=at, begin_ms=None, phase=self.phase(r, at), hasty=False,
                         sent=self.sent)
                self.chains.anew()
                self.caused = at
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

    def crown(self, at, r, now):
        """How long has the leader led? One that leads again when it ceases to has led all the time."""
        was = self.leaders[self.spec["service"]]
        if was and r.type == self.cell["strikes"] and (r.type != "crash" or r.p in was):
            self.struck.append(at - self.since)
        if not now and was:
            self.former = was, at
        elif now != was and self.former != (now, at):
            self.since = at

    def operation(self, r, at, why):
        """What an operation begins with."""
        if self.marked != at:
            self.marked, self.mark = at, self.sent
            self.chains.anew()
        self.settle(self.mark)
        self.caused = self.began(r, at)
        return {"cause": why, "cause_ms": self.caused, "begin_ms": None, "before": self.last,
                "phase": self.phase(r, at), "hasty": False, "sent": self.mark}

    def give(self, p, old, new):
        """A process names another leader: had it missed the one that is lost?"""
        if old == new:
            return
        missed = self.missed.pop(p, None)
        if self.bereft and old == self.bereft[0]:
            lost = self.bereft[1]
            if missed is not None and lost - self.period <= missed < lost:
                self.hasten(self.leaders)
            self.bereft = None

    def hasten(self, leaders):
        """What goes on was on its way before the leader was lost."""
        self.bereft = None
        for k in DEFINITIONS:
            if self.open[k]:
                self.open[k]["hastened"] = not leaders[k]
        if self.open["agreed"]:
            self.open["agreed"]["hasty"] = True

    def miss(self, r):
        """A message was lost that was neither its sender's last nor on a link that was cut."""
        if r.arg in (WITH_SENDER, SEVERED) or r.plane == "detection" and not self.spec["detector"]:
            return
        for p, q in ((r.p, r.peer), (r.peer, r.p)):
            if self.name[p] == q and (q in self.w.up or r.sent < self.crashed.get(q, 0)):
                self.missed[p] = r.sent

    def note(self, r, at):
        """What later causes and phases need to know."""
        if r.type == "timeout" and r.text == self.cell["phase_of"] or r.type == "send" and (
                r.kind == self.cell["phase_of"] == "HEARTBEAT" and r.plane == "detection"):
            self.beat[r.p] = at
        elif r.type in ("crash", "resume", "slow"):
            self.came[r.p] = at
            if r.type == "crash":
                self.crashed[r.p] = at

    def phase(self, r, at):
        l = self.last
        if r.type == "elected" or not l or l not in self.beat or self.name[l] != l:
            return None
        since = at - self.beat[l]
        return None if since > 2 * self.period else (since or self.period) / self.period

    def reason(self, r, at):
        """Why a process acts otherwise than on a message."""
        if r.type == "elect":
            q = self.name[r.p]
            if (r.p, q) not in self.doubts or self.scenario == "script":
                return "script"
            return ("crash" if not self.w.active(q) else "partition" if not self.w.both(r.p, q) else
                    self.regained(q, *self.doubts[r.p, q]))
        if r.type == "do":
            return "script"
        if r.type == "timeout":
            return "false-suspicion"
        if r.type == "suspect":
            why = ("crash" if not self.w.active(r.peer) else
                   "partition" if not self.w.both(r.p, r.peer) else "false-suspicion")
            self.doubts[r.p, r.peer] = at, why
            return why
        return self.regained(r.peer, *self.doubts.pop((r.p, r.peer), (0, "")))

    def regained(self, q, since, why):
        """Why a process acts that had doubted q, which is there."""
        if why == "crash" or self.came.get(q, 0) > since:
            return "return"
        return why if why == "false-suspicion" else "heal"

    def cause(self, r, at, led):
        if r.type in ("crash", "pause"):
            return "leader-crash" if led else "crash"
        if r.type in ("cut", "heal", "up", "resume"):
            return {"cut": "partition", "heal": "heal"}.get(r.type, "return")
        o = self.open["agreed"]
        if o and "void" not in o and not self.leaders["agreed"] and o["cause"] in WEAK:
            return o["cause"]
        acted, act = self.acts.get(r.p, (None, ""))
        act = act if acted == at else ""
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
        if self.counts(o["cause"]):
            return "hastened" if o.get("hasty") else "ok"
        if o["cause"] != "return":
            return "other"
        return "joined" if o["before"] == o["process"] else "restart"

    def figures(self):
        c, end = {}, self.end
        self.settle(self.sent)
        going = self.open["agreed"]
        for k in DEFINITIONS:
            o, pending = self.open[k], 0
            if o:
                status = "pending" if self.counts(o["why"]) else "other"
                pending = end - o["from"] if status == "pending" else 0
                self.outages[k].append(self.row(k, o, None, status))
            rows = self.outages[k]
            lost = [u["end_ms"] - u["cause_ms"] for u in rows if u["status"] == "ok"]
            c[f"outages_{k}"] = len(rows)
            c[f"longest_outage_{k}_ms"] = ms(max((u["length_ms"] for u in rows), default=0))
            c[f"downtime_{k}_ms"] = ms((sum(lost) + pending) / len(lost)) if lost else None
            c[f"never_recovered_{k}"] = int(pending > self.cell["recovers_ns"])
            c[f"availability_{k}"] = ratio(end - sum(u["length_ms"] for u in rows), end)
        c["availability_served"] = ratio(self.answered, self.asked)
        mine = self.spec["service"]
        c["availability"], c["downtime_ms"] = c["availability_" + mine], c[f"downtime_{mine}_ms"]
        c["never_recovered"] = c["never_recovered_" + mine]
        if going:
            self.ops.append(dict(going, end_ms=None, process=0, status="pending"))
        for u in (u for k in DEFINITIONS for u in self.outages[k]):
            u["operation"] = next((i + 1 for i, o in enumerate(self.ops) if o["cause_ms"] == u["begin_ms"] or
                                   (u["end_ms"] is None or o["cause_ms"] < u["end_ms"]) and
                                   (o["end_ms"] is None or o["end_ms"] > u["begin_ms"])), 0)
        good = [o for o in self.ops if o["status"] == "ok"]
        hasty, n = sum(o["status"] == "hastened" for o in self.ops), len(good)
        c["hastened_share"] = ratio(hasty, hasty + n) if self.bereaved else None
        c["operations"], c["completed"] = len(self.ops), sum(o["end_ms"] is not None for o in self.ops)
        c["detection_ms"] = ms(mean(o["begin_ms"] - o["cause_ms"] for o in good))
        c["election_ms"] = ms(mean(o["end_ms"] - o["begin_ms"] for o in good))
        c["messages_per_election"], c["bytes_per_election"] = ratio(self.spent[0], n), ratio(self.spent[1], n)
        c["message_delays"] = mean(o["delays"] for o in good)
        c["leader_changes"], c["split_brain_ms"], c["heal_ms"] = self.changes, ms(self.split), ms(mean(self.heals))
        unneeded = sum(o["cause"] in ("false-suspicion", "unneeded") for o in self.ops)
        c["unneeded_elections_per_s"] = ratio(unneeded, end / 1e9)
        c["unjustified_demotions_per_s"] = ratio(self.demoted, end / 1e9)
        settled = [lasted >= self.cell["settle_ns"] for lasted in self.struck]
        c["settled_share"] = mean(settled) if self.cell["strikes"] else None
        c.update(self.votes(good, going))
        return c

    def votes(self, good, going):
        c = dict.fromkeys(("terms_per_election", "split_vote_share"))
        t = self.terms
        if not self.spec["terms"] or t.silent:
            return c
        some = [o["votes"] for o in good]
        held, split = sum(s[1] for s in some), sum(s[2] for s in some)
        if going and self.counts(going["cause"]):
            _, h, s = t.within(going["cause_ms"], self.end, t.begun[:-1])
            held, split = held + h, split + s
        return {"terms_per_election": mean(s[0] for s in some), "split_vote_share": ratio(split, held)}
