"""The rows of summary.csv, from those of trials.csv."""
import math
from collections import defaultdict

from records import quantile

# What docs/reference/results.md says of metrics: which are censored times, and which are pooled, by what exposure.
TIMES = ("duration_ms detection_ms election_ms downtime_ms downtime_agreed_ms downtime_led_ms "
         "downtime_served_ms heal_ms waiting_ms waiting_p99_ms turnaround_ms sync_delay_ms recovery_ms suspicion_ms").split()
EARLY = "detection_ms suspicion_ms".split()
TIME = "duration_ms",
POOLED = {
    **dict.fromkeys("availability availability_agreed availability_led availability_served query_accuracy "
                    "crash_rate_achieved unneeded_elections_per_s unjustified_demotions_per_s".split(), TIME),
    "loss_achieved": ("messages",), "hastened_share": ("operations",),
    "split_vote_share": ("terms_per_election", "completed"),
    **dict.fromkeys("settled_share split_brain_ms leader_wait_ms longest_outage_agreed_ms longest_outage_led_ms "
                    "longest_outage_served_ms outages_agreed outages_led outages_served never_recovered "
                    "never_recovered_agreed never_recovered_led never_recovered_served leader_changes violations "
                    "never_granted tokens_lost tokens_doubled session_switches crashes pauses false_suspicions "
                    "faults_skipped".split(), ()),
}
COUNTED = ("outages_agreed outages_led outages_served never_recovered never_recovered_agreed never_recovered_led "
           "never_recovered_served leader_changes violations never_granted tokens_lost tokens_doubled "
           "session_switches crashes pauses false_suspicions faults_skipped").split()
CALM = dict.fromkeys("availability availability_agreed availability_led availability_served query_accuracy "
                     "settled_share".split(), 1)
ONE_CLOCK = ("waiting_ms waiting_p99_ms turnaround_ms outage_requested_ms outage_achieved_ms cpu_per_operation_ms "
             "busiest_cpu_per_operation_ms handling_ms latency_requested_ms latency_drawn_ms order_delay_ms "
             "throttled_ms").split()
LEAST, TAIL, ROUNDING = 6, .025, 1e-9


# ---------------------------------------------------------------- distributions

def bisect(hi, holds):
    lo = 0.0
    while True:
        mid = lo + (hi - lo) / 2
        if mid <= lo or mid >= hi:
            return mid
        lo, hi = (mid, hi) if holds(mid) else (lo, mid)


def beta(x, a, b):
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * fraction(x, a, b) / a
    return 1 - front * fraction(1 - x, b, a) / b


def fraction(x, a, b):
    """Its continued fraction."""
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    h, m = d, 1
    while True:
        for e in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                  -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / ((1 + e * d) or tiny)
            c = (1 + e / c) or tiny
            h *= d * c
        if abs(d * c - 1) < 1e-15 or m > 10**6:
            return h
        m += 1


def gamma(a, x):
    """The distribution function of the gamma distribution of shape a and scale 1."""
    if x <= 0:
        return 0.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = 1
        while term > total * 1e-16:
            term *= x / (a + n)
            total += term
            n += 1
        return front * total
    b, tiny = x + 1 - a, 1e-300
    c, d = 1 / tiny, 1 / b
    h = d
    for i in range(1, 10**6):
        f = -i * (i - a)
        b += 2
        d = 1 / (f * d + b)
        c = b + f / c
        h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return 1 - front * h


def gamma_quantile(p, a):
    hi = a + 1
    while gamma(a, hi) < p:
        hi *= 2
    return bisect(hi, lambda x: gamma(a, x) < p)


def student(freedom):
    """The point above which Student's t lies with probability 2.5 %."""
    x = bisect(1, lambda x: beta(x, freedom / 2, .5) < 2 * TAIL)
    return math.sqrt(freedom * (1 - x) / x)


NORMAL = bisect(10, lambda x: math.erfc(x / math.sqrt(2)) / 2 > TAIL)


# ---------------------------------------------------------------- intervals

def order_statistics(n):
    """The rank, from 1 on, of the end of the interval of a median from either side; 0: there is none."""
    k, below = 0, 1  # how many of 2^n choices have k at most below the median
    while k < n and below <= TAIL * 2 ** n * (1 + ROUNDING):
        k += 1
        below += math.comb(n, k)
    return k


def sequence(n):
    """The same of a confidence sequence: M is below 20 from there on."""
    def evidence(k):
        a = 1.5
        return (math.lgamma(a + k) + math.lgamma(a + n - k) - math.lgamma(2 * a + n)
                - 2 * math.lgamma(a) + math.lgamma(2 * a) + n * math.log(2))
    return next((k for k in range(n) if 2 * k >= n or evidence(k) < math.log(20)), 0)


def moments(values):
    """The mean and the second and third central moments, by the number of values."""
    n = len(values)
    mean = sum(values) / n
    return mean, sum((v - mean) ** 2 for v in values) / n, sum((v - mean) ** 3 for v in values) / n


def mean_skewness(variance, third, n):
    if n <= 3 or not variance > 0:
        return 0
    return third / variance ** 1.5 * math.sqrt(n * (n - 1)) / (n - 2) / math.sqrt(n - 3)


def chi_square(p, freedom):
    """Its quantile."""
    return 2 * gamma_quantile(p, freedom / 2)


def grouped(groups):
    """The places, from 1 on, of the ends of the interval of a median of trials that come in rounds; None:
    there is no such end."""
    members = sorted((v, i) for i, g in enumerate(groups) for v in g)
    n, m, median = len(members), len(groups), quantile(sorted(v for g in groups for v in g), .5)
    upto = [sum(v <= median for v in g) for g in groups]
    share, effect = sum(upto) / n, 1
    if 0 < sum(upto) < n:
        squares = sum((u - share * len(g)) ** 2 for u, g in zip(upto, groups))
        effect = m / (m - 1) * squares / n ** 2 / (share * (1 - share) / (n - 1))
    if m == n:
        k = order_statistics(n)
        return (k, n + 1 - k) if k else (None, None)
    alike = sum(len(g) ** 2 for g in groups) ** 3 / sum(len(g) ** 3 for g in groups) ** 2
    doubt = (m - 1) / chi_square(.05, m - 1)
    worth = min(n, max((n / effect * alike / m ** 2 if effect else math.inf) * m / doubt, alike))
    if worth < LEAST or m < LEAST:
        return None, None
    beyond, places = [-len(g) / 2 for g in groups], []
    for _, i in members:
        beyond[i] += .5  # the member itself counts half
        mean, variance, third = moments(beyond)
        if abs(mean) < ROUNDING:
            t = hall = 0.0
        elif variance <= ROUNDING ** 2:
            t = hall = math.copysign(math.inf, mean)
        else:
            t, skew = mean / math.sqrt(variance / (m - 1)), mean_skewness(variance, third, m)
            hall = t + skew * t * t / 3 + skew ** 2 * t ** 3 / 27 + skew / 6
        place = max(0, min(t, hall)) if t > 0 else min(0, max(t, hall))
        places.append(max(place, places[-1]) if places else place)
        beyond[i] += .5
    reach = student(m - 1)
    below = next((i for i, t in enumerate(places) if t > -reach), n)
    above = next((i for i, t in enumerate(places) if t >= reach), n)
    return below or None, above + 1 if above < n else None


def pooled(parts):
    """The weighted mean of (value, weight), and its interval."""
    exposure = sum(w for _, w in parts)
    mean = sum(v * w for v, w in parts) / exposure
    total, seen, n = mean * exposure, sum(v != 0 for v, _ in parts), len(parts)
    if n < LEAST or not seen:
        return mean, None, None
    beyond = [(v - mean) * w if abs((v - mean) * w) > ROUNDING * total else 0 for v, w in parts]
    spread = sum(off ** 2 / (mean * w) for off, (_, w) in zip(beyond, parts))
    dispersion = spread / (n - 1) * (student(min(seen, n - 1)) / NORMAL) ** 2
    if not dispersion:
        return mean, mean, mean
    events = total / dispersion
    if events < 10_000:
        lo, hi = gamma_quantile(TAIL, events), gamma_quantile(1 - TAIL, events + 1)
    else:
        lo, hi = (a * (1 - 1 / (9 * a) + z / (3 * math.sqrt(a))) ** 3 for a, z in
                  ((events, -NORMAL), (events + 1, NORMAL)))
    _, variance, third = moments(beyond)  # a tail longer than that of counts
    deviation, skew = math.sqrt(variance / (n - 1)) * n / exposure, mean_skewness(variance, third, n)

    def reach(t):
        return t if abs(skew) < ROUNDING else 3 * (cube_root(1 + skew * t - skew ** 2 / 6) - 1) / skew
    lo, hi = lo * dispersion / exposure, hi * dispersion / exposure
    hi = max(hi, mean - reach(-student(n - 1)) * deviation)
    if third < 0:
        lo = min(lo, mean - reach(student(n - 1)) * deviation)
    return mean, 0 if lo < ROUNDING * mean else lo, hi


def cube_root(x):
    return math.copysign(abs(x) ** (1 / 3), x)


# ---------------------------------------------------------------- cells

def number(text):
    return None if text in ("", None) else float(text)


def observed(row, name):
    """What a trial says of a metric: a value, infinity if that is censored, None if nothing."""
    value, status = number(row.get(name)), row["status"]
    if status not in ("ok", "timeout"):
        return None
    of = name.replace("downtime", "never_recovered").removesuffix("_ms")
    if status == "ok":
        if name.startswith("downtime_") and (number(row.get(of)) or 0) > 0:
            return math.inf
        if value is None and beyond(row, name):
            return math.inf
        return value
    if name in TIMES:
        return value if value is not None and name in EARLY else math.inf
    return None


def beyond(row, name):
    """Whether a trial with status ok looked for something up to a bound, and did not find it."""
    if name == "warmup_found":
        return row["scenario"] in ("sequential", "closed", "open", "leader-crash", "churn") and int(row["steady"]) >= 50
    return name == "knee_per_s" and row["scenario"] == "ramp"


def weight(row, name):
    """The exposure of a trial, and 1 where it is not known."""
    product = 1.0
    for e in POOLED.get(name, ()):
        v = number(row.get(e))
        if not v or v <= 0:
            return 1.0
        product *= v
    return product


def described(rows, name, anytime):
    """The figures of a metric in a cell whose trials are these rows."""
    parts, rounds = [], defaultdict(list)
    for row in rows:
        v = observed(row, name)
        if v is not None:
            part = v, weight(row, name)
            parts.append(part)
            rounds[1 if row["transport"] == "sim" else int(row["round"])].append(part)
    all_ = sorted(v for v, _ in parts)
    values = [v for v in all_ if v < math.inf]
    n, total = len(values), len(all_)
    out = dict.fromkeys("mean sd min median p90 p95 p99 max ci_low ci_high ci_method trials_with events exposure_s low high".split())
    out["share_ok"] = sum(r["status"] == "ok" for r in rows) / len(rows)
    out["in_model"] = str(all(r["in_model"] == "true" for r in rows)).lower()
    missing = sum(r["status"] != "ok" and observed(r, name) is None for r in rows)
    if missing and values_of(parts):
        out["low"], out["high"] = bounds(parts, missing, name in POOLED)
    out.update(n=n, censored=total - n, min=values[0] if n else None)
    if n and n == total:
        out["max"], out["mean"] = values[-1], sum(values) / n
        if n > 1:
            out["sd"] = math.sqrt(sum((v - out["mean"]) ** 2 for v in values) / (n - 1))
    for key, p in (("median", .5), ("p90", .9), ("p95", .95), ("p99", .99)):
        v = quantile(all_, p)
        out[key] = None if v is None or not v < math.inf else v
    if name in POOLED:
        calm = CALM.get(name, 0)
        if n:
            out["trials_with"] = sum(v != calm for v in values)
            out["events"], out["exposure_s"] = events(rows, name)
            if len(rounds) > 1:  # one round is one trial
                parts = [(sum(v * w for v, w in g) / sum(w for _, w in g), sum(w for _, w in g))
                         for g in rounds.values()]
            mean, lo, hi = pooled([(abs(calm - v), w) for v, w in parts])
            if calm:
                mean, lo, hi = calm - mean, None if hi is None else calm - hi, None if lo is None else calm - lo
            out["mean"] = mean
            if lo is not None and not anytime:
                out.update(ci_low=lo, ci_high=hi, ci_method="pooled")
        return out
    method, rank = "fixed-n", order_statistics(total)
    if anytime:
        method, rank = "anytime", sequence(total)
    ends = (rank or None, total + 1 - rank if rank else None)
    if not anytime and len(rounds) > 1:
        method, ends = "rounds", grouped([[v for v, _ in rounds[k]] for k in sorted(rounds)])
    for key, place in zip(("ci_low", "ci_high"), ends):
        if place and all_[place - 1] < math.inf:
            out[key], out["ci_method"] = all_[place - 1], method
    return out


def events(rows, name):
    """The events of a pooled figure, if it counts any, and the seconds in which they could happen."""
    seen = [(v, float(r["duration_ms"]) / 1000) for r in rows if (v := observed(r, name)) is not None]
    seconds = sum(s for _, s in seen)
    if name in COUNTED:
        return sum(v for v, _ in seen), seconds
    if name in ("unneeded_elections_per_s", "unjustified_demotions_per_s"):
        return sum(math.floor(v * s + .5) for v, s in seen), seconds
    return None, seconds


def values_of(parts):
    return [v for v, _ in parts if v < math.inf]


def bounds(parts, missing, is_pooled):
    """The figure if trials without a verdict had been like the smallest, or like the largest, that was seen."""
    values = values_of(parts)
    out = []
    for other in (min(values), math.inf if len(values) < len(parts) else max(values)):
        if is_pooled:
            weight_ = sum(w for _, w in parts) / len(parts)
            all_ = [(v * w, w) for v, w in parts] + [(other * weight_, weight_)] * missing
            out.append(sum(v for v, _ in all_) / sum(w for _, w in all_))
        else:
            v = quantile(sorted([v for v, _ in parts] + [other] * missing), .5)
            out.append(v if v is not None and v < math.inf else None)
    return out


def clock_doubt(rows, name):
    """What the clocks of several hosts can be wrong by, in ms."""
    if not name.endswith("_ms") or name in ONE_CLOCK:
        return 0
    return 2 * max((number(r.get("clock_error_us")) or 0 for r in rows if r["status"] == "ok"), default=0) / 1000


def widen(figures, doubt):
    """The interval takes in what clocks can be wrong by, but for what is below 0."""
    low, high = figures["ci_low"], figures["ci_high"]
    if doubt and low is not None:
        figures["ci_low"] = min(low, max(0, low - doubt))
    if doubt and high is not None:
        figures["ci_high"] = high + doubt
