"""The columns of trials.csv that both problems have."""
from collections import defaultdict

from records import Handlers, World, mean, ms, quantile, ratio

STEADY = {"sequential", "closed", "open", "leader-crash", "churn"}
KEPT = 1 << 16  # of more delays every second, fourth, ... is kept for their quantiles


def thinned(values):
    """Every second of them, fourth and so on, until there are not too many."""
    while len(values) > KEPT:
        values = values[::2]
    return values


def traffic(recs):
    """What messages there were, and what became of them; of each kind its row of messages.csv."""
    count = dict.fromkeys("messages bytes delivered lost undeliverable duplicated detector_messages".split(), 0)
    saves, late, modelled, met = 0, 0, 0, 0
    load, kinds = defaultdict(int), defaultdict(lambda: dict.fromkeys(("sent", "delivered", "lost", "bytes"), 0))
    drawn, fifo, given, errors = [], [], 0, []
    paused, slow, went_on, busy = set(), set(), {}, Handlers()
    for r in recs:
        t = r.type
        if t == "handled":
            busy.add(r)
        elif t == "save":
            saves += 1
        elif t in ("pause", "resume", "slow", "crash"):
            (paused.add if t == "pause" else paused.discard)(r.p) if t != "slow" else None
            (slow.add if t == "slow" and r.arg else slow.discard)(r.p) if t in ("slow", "crash") else None
            if t in ("resume", "slow"):
                went_on[r.p] = r.at
        if t not in ("send", "duplicate", "deliver", "lose", "undelivered"):
            continue
        if r.plane == "detection":
            count["detector_messages"] += t == "send"
            continue
        if t in ("send", "duplicate"):
            drawn.append(r.due - r.sent - r.arg)
            fifo.append(r.arg)
        if t == "send":
            count["messages"] += 1
            count["bytes"] += r.bytes
            load[r.p] += 1
            kinds[r.kind]["sent"] += 1
            kinds[r.kind]["bytes"] += r.bytes
        elif t == "duplicate":
            count["duplicated"] += 1
        elif t == "deliver":
            count["delivered"] += 1
            load[r.p] += 1
            kinds[r.kind]["delivered"] += 1
            if r.p not in paused and r.p not in slow and (not went_on.get(r.p) or r.due > went_on[r.p]):
                late += r.arg > 0
                given += r.due - r.sent
                errors.append(r.at - r.due - busy.since(r.p, r.due, r.at))
        elif t == "lose":
            count["lost"] += 1
            kinds[r.kind]["lost"] += 1
            modelled += r.arg == 0
            met += r.arg == 3
        elif t == "undelivered":
            count["undeliverable"] += 1
    met += count["delivered"] + count["undeliverable"]
    total = sum(load.values())
    return dict(
        count, saves=saves, busiest_share=max(load.values()) / total if total else None,
        late_share=late / count["delivered"] if count["delivered"] else None,
        latency_drawn_ms=ms(mean(drawn)), order_delay_ms=ms(mean(fifo)),
        latency_achieved_ms=ms((given + sum(errors)) / len(errors)) if errors else None,
        delay_error_p50_ms=ms(quantile(thinned(errors), .5)), delay_error_p99_ms=ms(quantile(thinned(errors), .99)),
        loss_achieved=ratio(modelled, modelled + met)), kinds


def faults(row, recs, cfg, end):
    """Crashes, outages of processes, suspicions."""
    n = int(row["nodes"])
    w = World(n, recs)
    detector = cfg["detector.kind"]
    crashed, due, asked, had = {}, {}, [], []
    noticed, unnoticed = [], {}
    wrong, over, false, mistakes, wrongly, pairs, exposed = {}, [], 0, 0, 0, 0, 0
    crashes = pauses = 0
    most = int(cfg.get("faults.max_down", 0)) or (n - 1) // 2
    for p in set(range(1, n + 1)) - w.up:
        crashed[p] = due[p] = 0
    last = 0
    for r in recs + [None]:
        at = end if r is None else min(max(0, r.at), end)
        if at > last:
            live = sum(map(w.active, w.up))
            pairs += (at - last) * live * (live - 1)
            wrongly += (at - last) * len(wrong)
            if n - len(w.up) < most:
                exposed += (at - last) * len(w.up)
            last = at
        if r is None:
            break
        t = r.type
        if t in ("crash", "pause"):
            crashes, pauses = crashes + (t == "crash"), pauses + (t == "pause")
            for k in [k for k in wrong if r.p in k]:
                over.append(r.at - wrong.pop(k))
        if t == "crash":
            crashed[r.p], due[r.p], unnoticed[r.p] = r.at, r.arg, r.at
        elif t == "up" and r.inc:
            unnoticed.pop(r.p, None)
            asked.append(r.arg - due[r.p])
            had.append(r.at - crashed[r.p])
        elif t == "suspect" and r.peer and detector != "none":
            if w.active(r.peer):
                false += 1
                if (r.p, r.peer) not in wrong:
                    mistakes += 1
                    wrong[r.p, r.peer] = r.at
            elif r.peer in unnoticed:
                noticed.append(r.at - unnoticed.pop(r.peer))
        elif t == "restore" and (r.p, r.peer) in wrong:
            over.append(r.at - wrong.pop((r.p, r.peer)))
        w.apply(r)
    everybody = detector != "none" and cfg.get("detector.scope", "all") == "all"
    return {
        "crashes": crashes, "pauses": pauses, "crash_rate_achieved": ratio(crashes, exposed / 1e9),
        "outage_requested_ms": ms(mean(asked)), "outage_achieved_ms": ms(mean(had)),
        "suspicion_ms": ms(mean(noticed)), "false_suspicions": false,
        "mistake_duration_ms": ms(mean(over)) if everybody else None,
        "mistake_recurrence_ms": ms(pairs / mistakes) if everybody and mistakes else None,
        "query_accuracy": 1 - wrongly / pairs if everybody and pairs else None,
    }


# ---------------------------------------------------------------- successive operations

def mser(x):
    """How many values MSER-5 cuts; None: more than half."""
    b = [sum(x[i:i + 5]) for i in range(0, len(x) - 4, 5)]
    least, cut, n, total, squares = None, 0, 0, 0, 0
    for i in range(len(b) - 1, -1, -1):  # of whole nanoseconds, so that all of this is exact
        n, total, squares = n + 1, total + b[i], squares + b[i] ** 2
        if n >= 5:
            error = (n * squares - total * total, n ** 3)
            if least is None or error[0] * least[1] <= least[0] * error[1]:
                least, cut = error, i
    return 5 * cut if cut <= len(b) // 2 else None


def product(x, lag):
    return sum(x[i] * x[i + lag] for i in range(len(x) - lag))


def centred(x):
    m = sum(x) / len(x)
    return [v - m for v in x]


def series(row, all_, measured):
    """What the times of successive operations say of each other."""
    out = dict.fromkeys(("warmup_found", "autocorrelation", "effective_operations"))
    if row["scenario"] not in STEADY:
        return out
    if len(all_) >= 50:
        out["warmup_found"] = mser(all_)
    if len(measured) < 50 or min(measured) == max(measured):
        return out
    x, size = centred(measured), -(-len(measured) // 1000)
    n, own = len(x), product(x, 0)
    b = centred([sum(x[i:i + size]) / size for i in range(0, n - size + 1, size)])
    total, lag = -product(b, 0), 0
    while lag + 1 < len(b):
        two = product(b, lag) + product(b, lag + 1)
        if two <= 0:
            break
        total, lag = total + 2 * two, lag + 2
    out["autocorrelation"] = product(x, 1) / own
    out["effective_operations"] = min(n, own / n / (total / len(b) ** 2)) if total > 0 else n
    return out
