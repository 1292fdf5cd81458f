"""Entries of a trial of mutual exclusion: the columns of trials.csv about them, and operations.csv."""
from records import Flights, mean, ms, quantile, ratio, span


class Owners:
    """To which request each message belongs, where there is a warm-up. Requests are numbered; 0 is nobody's."""

    def __init__(self, perpetual):
        self.perpetual, self.costs, self.askers = perpetual, [[0, 0]], [0]
        self.flights = Flights()
        self.own, self.waits, self.present, self.asks, self.debts = {}, set(), {}, set(), {}
        self.apart, self.carried, self.before = [0, 0], [], 1

    def record(self, r):
        """Each record of a process but a grant begins another event."""
        p = r.p
        if not p:
            return
        if r.type == "granted":
            self.waits.discard(p)
            return
        self.present[p] = self.own.get(p, 0)
        self.asks.discard(p)
        if r.type == "request":
            self.own[p] = self.present[p] = len(self.costs)
            self.waits.add(p)
            self.asks.add(p)
            self.costs.append([0, 0])
            self.askers.append(p)
        elif r.type == "released":
            self.own.pop(p, None)
        elif r.type == "crash":
            for d in (self.own, self.present, self.debts):
                d.pop(p, None)
            self.waits.discard(p)

    def message(self, r):
        if r.kind == "HEARTBEAT" and r.plane == "detection":
            return
        if r.type == "send":
            owner = self.send(r)
            self.flights.send(r, owner)
            if r.plane != "detection":
                self.costs[owner][0] += 1
                self.costs[owner][1] += r.bytes
        elif r.type == "duplicate":
            self.flights.again(r)
        else:
            request = self.flights.end(r)[0] or 0
            if r.type == "deliver":
                self.present[r.p] = request
                self.asks.discard(r.p)
                debt = request, self.askers[request], r.peer
                if request and debt[1] != r.p and self.unpaid(debt):
                    self.debts.setdefault(r.p, []).append(debt)

    def unpaid(self, debt):
        """Whether the request that is owed an answer still waits."""
        return debt[1] in self.waits and self.own.get(debt[1]) == debt[0]

    def send(self, r):
        if self.perpetual:
            return 0
        owner, debts = self.present.get(r.p, 0), [d for d in self.debts.get(r.p, []) if self.unpaid(d)]
        if r.p not in self.asks:  # of a request of the receiver, or else of one that it passed on
            for d in [d for d in debts if d[1] == r.peer] + [d for d in debts if d[2] == r.peer]:
                owner = d[0]
                break
        self.debts[r.p] = [d for d in debts if d[0] != owner]
        return owner

    def warm(self):
        self.apart, self.before = list(self.costs[0]), len(self.costs)
        self.carried = [self.own[p] for p in self.waits]

    def measured(self, i):
        """Messages (0) or bytes (1) of the measured requests, and of nobody's in the measured span."""
        requests = self.carried + list(range(self.before, len(self.costs)))
        return self.costs[0][i] - self.apart[i] + sum(self.costs[q][i] for q in requests)


class Tokens:
    """The tokens of an algorithm that has one: who holds them, and which are on their way."""

    def __init__(self, kind, holder):
        self.kind, self.held, self.flights = kind, {}, Flights()
        self.count, self.lost, self.doubled = 0, 0, 0
        if holder:
            self.held[holder], self.count = 1, 1

    def another(self, p):
        """Process p acts on a token that it does not have."""
        self.doubled += self.count > 0
        self.held[p] = self.held.get(p, 0) + 1
        self.count += 1

    def message(self, r):
        """Whether a token is lost with the message."""
        if r.type == "send":
            if not self.held.get(r.p):
                self.another(r.p)
            self.held[r.p] -= 1
            self.flights.send(r, [False])
            return False
        if r.type == "duplicate":
            self.flights.again(r)
            return False
        arrived, last = self.flights.end(r)
        if arrived is None:
            return False
        if r.type == "deliver" and not arrived[0]:
            arrived[0] = True
            self.held[r.p] = self.held.get(r.p, 0) + 1
        gone = last and not arrived[0]
        self.count -= gone
        self.lost += gone
        return gone

    def granted(self, p):
        if not self.held.get(p):
            self.another(p)

    def crash(self, p):
        n = self.held.pop(p, 0)
        self.lost += n
        self.count -= n


class Recovery:
    """How long those waited who waited when something went wrong, or asked next if nobody did."""

    def __init__(self):
        self.faults, self.idle, self.open, self.over = 0, 0, [], []

    def fault(self, at, waiting):
        self.faults += 1
        self.idle += 1
        if waiting:
            self.request(at)

    def request(self, at):
        self.open += [[at, None] for _ in range(self.idle)]
        self.idle = 0

    def grant(self, at, begin):
        for w in self.open:
            if w[0] >= begin:
                w[1] = at

    def left(self, oldest):
        """The oldest request that still waits was made then."""
        while self.open and (oldest is None or self.open[0][0] < oldest):
            begin, granted = self.open.pop(0)
            if granted is None:  # all that waited are dead
                self.idle += 1
            else:
                self.over.append(granted - begin)


class Crowd:
    """How many are inside at once."""

    def __init__(self):
        self.inside, self.last, self.stays, self.busy, self.most = 0, 0, 0, 0, 0
        self.session, self.switches = 0, 0

    def reset(self, at):
        self.last, self.stays, self.busy, self.most, self.switches = at, 0, 0, self.inside, 0

    def change(self, at, inside):
        if self.inside:
            self.busy += at - self.last
            self.stays += self.inside * (at - self.last)
        self.last, self.inside, self.most = at, inside, max(self.most, inside)

    def enters(self, session):
        self.switches += bool(self.session) and self.session != session
        self.session = session


class Entries:
    def __init__(self, row, recs, cfg, cell, spec, end):
        self.row, self.recs, self.cfg, self.spec, self.end = row, recs, cfg, spec, end
        self.n, self.places = int(row["nodes"]), cell["places"]
        self.warmup = int(self.key("warmup", 0))
        self.requests, self.waiting, self.done = [], [], []  # in the order in which they were made; those over
        self.inside, self.entered = [], 0
        self.warm, self.measured = self.warmup == 0, 0
        self.free, self.sync, self.turnaround, self.overlaps, self.bypass = None, [], [], 0, 0
        self.down, self.away = {}, []
        self.owners = Owners(spec["perpetual"]) if self.warmup else None
        up = {r.p for r in recs if r.type == "up" and not r.inc}
        holder = int(cfg.get("scenario.holder", "0")) or 1
        self.tokens = Tokens(spec["token"], holder if holder in up else 0) if spec["token"] else None
        self.recovery, self.crowd = Recovery(), Crowd()
        for p in set(range(1, self.n + 1)) - up:
            self.down[p] = 0
        for r in recs:
            self.record(r, max(0, r.at))

    def key(self, name, default=None):
        """A key of the scenario: what is swept stands in the row."""
        return self.row.get("scenario_" + name) or self.cfg.get("scenario." + name, default)

    def record(self, r, at):
        t = r.type
        if t in ("send", "duplicate", "deliver", "lose", "undelivered"):
            if self.owners:
                self.owners.message(r)
            if self.tokens and r.plane != "detection" and r.kind == self.tokens.kind and self.tokens.message(r):
                self.recovery.fault(at, bool(self.waiting))
            return
        if self.owners and t not in ("save", "log", "done", "unsound", "handled"):
            self.owners.record(r)
        if t == "request":
            q = {"process": r.p, "cause_ms": r.arg, "begin_ms": at, "end_ms": None, "status": "pending", "over": 0}
            self.requests.append(q)
            self.waiting.append(q)
            self.recovery.request(at)
        elif t == "granted":
            self.grant(r, at)
        elif t == "released":
            self.release(r, at)
        elif t == "crash":
            self.crash(r, at)
        elif t == "up" and r.inc and r.p in self.down:
            self.away.append((self.down.pop(r.p), r.at))

    def bars(self, session):
        """How many of those inside should have kept one of a session out."""
        places, n = self.places, 0
        for _, other, _ in self.inside:
            if other == session and places is not None:
                places -= 1
            n += other != session or places is not None and places <= 0
        return n

    def grant(self, r, at):
        if self.tokens:
            self.tokens.granted(r.p)
        self.overlaps += self.bars(r.peer)
        q = next((q for q in self.waiting if q["process"] == r.p), None)
        if q is None:
            return
        self.recovery.grant(at, q["begin_ms"])
        for o in self.waiting:
            if o is q:
                break
            o["over"] += 1
        self.leave(q)
        self.entered += 1
        q.update(end_ms=at, status="warmup" if self.entered <= self.warmup else "ok")
        if q["status"] == "ok":
            self.bypass = max(self.bypass, q["over"])
            if self.free is not None:
                self.sync.append(at - self.free)
        self.free = None
        self.done.append(q)
        self.inside.append((r.p, r.peer, q))
        self.crowd.enters(r.peer)
        self.crowd.change(at, len(self.inside))
        self.warmed(at)

    def leave(self, q):
        self.waiting = [o for o in self.waiting if o is not q]
        self.recovery.left(self.waiting[0]["begin_ms"] if self.waiting else None)

    def goes(self, p, at):
        """The entry of a process that is inside no longer; None: it was not."""
        for i, (other, _, q) in enumerate(self.inside):
            if other == p:
                del self.inside[i]
                self.crowd.change(at, len(self.inside))
                return q

    def release(self, r, at):
        q = self.goes(r.p, at)
        if q is None:
            return
        if self.waiting:
            self.free = at
        self.warmed(at)
        if q["status"] == "ok":
            self.turnaround.append(at - q["cause_ms"])

    def crash(self, r, at):
        self.goes(r.p, at)
        for q in [q for q in self.waiting if q["process"] == r.p]:
            q["status"] = "crashed"
            self.done.append(q)
            self.leave(q)
        if not self.waiting:
            self.free = None
        self.warmed(at)
        if self.tokens:
            self.tokens.crash(r.p)
        self.recovery.fault(at, bool(self.waiting))
        self.down[r.p] = r.at

    def warmed(self, at):
        """The warm-up ends when its last entry is over, or has begun where several may be inside."""
        if not self.warm and self.entered >= self.warmup and (not self.inside or self.places != 1):
            self.warm, self.measured = True, at
            self.owners.warm()
            self.crowd.reset(at)

    def figures(self):
        ops = self.ops = self.done + self.waiting
        good = [q for q in ops if q["status"] == "ok"]
        waits, n = [q["end_ms"] - q["cause_ms"] for q in good], len(good)
        holds = [sum(q["process"] == p for q in good) for p in range(1, self.n + 1)]
        sent = [self.owners.measured(i) for i in (0, 1)] if self.owners else [
            sum(r.type == "send" and r.plane != "detection" for r in self.recs),
            sum(r.bytes for r in self.recs if r.type == "send" and r.plane != "detection")]
        tokens = self.tokens
        c = {
            "operations": len(ops), "completed": sum(q["end_ms"] is not None for q in ops),
            "messages_per_entry": ratio(sent[0], n), "bytes_per_entry": ratio(sent[1], n),
            "waiting_ms": ms(mean(waits)), "waiting_p99_ms": ms(quantile(waits, .99)),
            "turnaround_ms": ms(mean(self.turnaround)), "sync_delay_ms": ms(mean(self.sync)),
            "throughput_per_s": ratio(n * 1e9, self.end - self.measured) if n else None,
            "fairness": sum(holds) ** 2 / (self.n * sum(v * v for v in holds)) if n else None,
            "max_bypass": max([self.bypass] + [q["over"] for q in self.waiting]),
            "violations": self.overlaps, "never_granted": len(self.waiting),
            "arrival_rate_requested": None, "arrival_rate_achieved": None, "knee_per_s": None, "kept_up_per_s": None,
            "tokens_lost": tokens and tokens.lost, "tokens_doubled": tokens and tokens.doubled,
            "recovery_ms": ms(mean(self.recovery.over)),
        }
        self.crowd.change(self.end, self.crowd.inside)
        crowd = self.crowd if self.spec["several"] else None
        c["concurrency"], c["most_inside"] = crowd and ratio(crowd.stays, crowd.busy), crowd and crowd.most
        c["session_switches"] = crowd.switches if crowd and self.spec["sessions"] else None
        if self.row["scenario"] in ("open", "ramp"):
            c.update(self.load())
        if self.row["scenario"] == "ramp":
            c.update(dict.fromkeys(("waiting_ms", "waiting_p99_ms", "turnaround_ms", "throughput_per_s")))
            c.update(self.ramp())
        return c

    def load(self):
        """How often requests were to come, and came."""
        total, n = int(self.key("requests", 0) or 0), len(self.requests)
        if self.row["scenario"] == "ramp":
            asked = (float(self.key("from")) + float(self.key("to"))) / 2
        else:
            asked = float(self.key("rate"))
        if total:
            n, lasted = n - 1, max((q["cause_ms"] for q in self.requests), default=0)
        else:
            lasted = span(self.key("duration"))
        up = self.n * lasted - sum(max(lasted - a, 0) for a in self.down.values())
        up -= sum(max(min(b, lasted) - a, 0) for a, b in self.away)
        finished = self.row["status"] in ("ok", "unstable") or self.row["arrival_rate_achieved"] != ""
        return {"arrival_rate_requested": asked,
                "arrival_rate_achieved": ratio(n * self.n * 1e9, up) if finished and n >= 0 else None}

    def ramp(self):
        """The knee, and up to which rate the load was kept up with."""
        first, last, steps = float(self.key("from")), float(self.key("to")), int(self.key("steps"))
        came = sorted(q["cause_ms"] for q in self.ops if q["status"] != "crashed")
        granted = sorted(q["end_ms"] for q in self.ops if q["end_ms"] is not None)
        if not came:
            return {}
        alone, served = 0, 0
        for i, at in enumerate(came):
            while served < len(granted) and granted[served] <= at:
                served += 1
            if i - served <= 0:
                alone = i
        start, end = came[alone], came[-1]
        step = min(int(start / span(self.key("duration")) * steps), steps - 1)
        a, g = len(came) - 1 - alone, sum(start < at <= end for at in granted)
        late = [at for at in granted if start + (end - start) // 2 < at <= end]
        knee = None
        if a + g >= 30 and a - g > 3 * (a + g) ** .5 and len(late) > 1:
            knee = (len(late) - 1) / (late[-1] - late[0]) * 1e9
        return {"kept_up_per_s": first + (last - first) * step / (steps - 1), "knee_per_s": knee}
