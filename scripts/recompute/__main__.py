"""Computes the tables of runs anew and compares.

usage: python3 scripts/recompute BENCH DIR...

DIR is the folder of a run with trace: all. What the traces say of each trial is compared with its rows of
trials.csv, operations.csv, outages.csv and messages.csv, and what the rows of trials.csv say of each cell
with those of summary.csv. BENCH is the program bench, which says what the experiment and the algorithms
are (bench plan, bench describe). This program shares no code with Conclave: it follows docs/reference/results.md
and docs/explanation: outages.md, operations.md, load.md, faults.md, validity.md, statistics.md, stopping.md. It exits with 1 if a figure differs, or if a
table has a column that it neither computes nor lists below among the exceptions.
"""
import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict

sys.dont_write_bytecode = True

from elections import Election  # noqa: E402
from entries import Entries  # noqa: E402
from latency import mean_latency  # noqa: E402
from records import MS, config, ms, trace  # noqa: E402
from summary import clock_doubt, described, widen  # noqa: E402
from trials import faults, series, traffic  # noqa: E402

# The columns that do not follow from traces, and why: docs/reference/results.md, "What follows from the traces".
VERDICT = "a verdict, which rests on the promises of the algorithm"
DRAWN = "drawn from the seed of the experiment"
HARNESS = "what the harness planned, of which no record tells"
MACHINE = "measured of the machine, beside the trial"
EXCEPTIONS = {
    "status": VERDICT, "reason": VERDICT, "in_model": VERDICT, "run_order": DRAWN, "seed": DRAWN,
    "faults_skipped": HARNESS, "leader_wait_ms": HARNESS, "host": MACHINE, "sched_delay_p99_ms": MACHINE,
    "cpu_per_operation_ms": MACHINE, "busiest_cpu_per_operation_ms": MACHINE,
    "context_switches_per_operation": MACHINE, "busiest_context_switches_per_operation": MACHINE,
    "involuntary_switches_per_operation": MACHINE, "handling_ms": MACHINE, "busy_share": MACHINE,
    "steal_share": MACHINE, "throttled_ms": MACHINE, "clock_error_us": MACHINE,
    "skew": "the lags of events are not in the trace",
}
# Those that follow from them where faults, links and the transport are simple.
IN_PART = {"settled_share": "the leader is struck by something else than the scenario, or on nodes",
           "latency_ms": "links differ", "latency_requested_ms": "links differ"}


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
    """How many figures of each column were compared, and how many differ."""

    def __init__(self):
        self.done, self.bad, self.told, self.examples = Counter(), Counter(), Counter(), defaultdict(list)
        self.excepted, self.unknown, self.scenario = Counter(), Counter(), ""

    def check(self, where, table, col, mine, theirs):
        key = self.scenario, table, col
        self.done[key] += 1
        self.told[key] += theirs != ""
        if not same(mine, theirs):
            self.bad[key] += 1
            if len(self.examples[table, col]) < 5:
                self.examples[table, col].append(f"{where}: here {'empty' if mine is None else mine}, "
                                                 f"there {theirs or 'empty'}")

    def row(self, where, table, mine, theirs):
        """Compares a row: every column is computed, or an exception."""
        for col, value in theirs.items():
            if col in mine:
                self.check(where, table, col, mine[col], value)
            elif table == "trials" and (col in EXCEPTIONS or col in IN_PART):
                self.excepted[col] += 1
            else:
                self.unknown[table, col] += 1

    def rows(self, where, table, mine, theirs):
        self.check(where, table, "(rows)", len(mine), str(len(theirs)))
        for i, (a, b) in enumerate(zip(mine, theirs)):
            self.row(f"{where}, row {i + 1}", table, a, b)


def ask(bench, *args):
    return json.loads(subprocess.run([bench, *args, "--json"], capture_output=True, check=True).stdout)


def table(answer, name):
    return next(t["rows"] for t in answer["tables"] if t["name"] == name)


def spec_of(bench, algorithm, known={}):
    """What an algorithm is, by bench describe."""
    if algorithm not in known:
        d = ask(bench, "describe", algorithm)
        f, promises = d["facts"], " ".join(d["facts"]["promises"])
        known[algorithm] = {
            "detector": any(n["name"] == "detector" and n["value"] != "none" for n in table(d, "needs")),
            "service": next((k for k in ("led", "served") if f"outages as {k}" in promises), "agreed"),
            "terms": "one per term" in promises, "perpetual": f["perpetual"], "token": f["token"],
            "kinds": f["messages"], "sessions": "one session" in promises,
            "several": "one session" in promises or "at most one process" not in promises,
        }
    return known[algorithm]


def read(d, name):
    with open(os.path.join(d, name), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def by_trial(rows):
    out = defaultdict(list)
    for r in rows:
        out[r["trial"]].append(r)
    return out


class Run:
    def __init__(self, bench, d, tally):
        self.d, self.bench, self.tally = d.rstrip("/"), bench, tally
        path = os.path.join(d, "config.resolved.yaml")
        self.cfg = config(path)
        plan = ask(bench, "plan", path)
        self.cells = {str(c["cell"]): c for c in table(plan, "cells")}
        for c in self.cells.values():
            for k in ("period", "recovers", "settle"):
                c[k + "_ns"] = round((c[k + "_ms"] or 0) * MS)
            c["strikes"] = self.strikes(c["design"])
        rule = self.cfg["repetitions"]  # a number, or a rule such as {min: 9, max: 12, until: {...}}
        self.repetitions = int(re.search(r"max: (\d+)", rule)[1] if "max:" in rule else rule)
        self.anytime = "anytime: true" in rule
        self.rounds = int(self.cfg.get("rounds", 1))
        self.trials = read(d, "trials.csv")
        self.rest = {t: by_trial(read(d, t + ".csv")) for t in ("operations", "outages", "messages")}

    def strikes(self, design):
        """What the scenario does to a leader, if nothing else does that, and instants are exact."""
        shape = design.get("scenario_shape") or self.cfg.get("scenario.shape")
        if self.cfg["transport"] != "sim" or self.cfg.get("faults.events") != "[]" or float(design["crash_rate"]):
            return None
        return {"leader-crash": "crash", "leader-restart": "up", "partition":
                shape in ("majority", "minority", "isolate", "deaf", "mute") and "cut" or None}.get(design["scenario"])

    def check(self):
        count = 0
        for row in self.trials:
            path = os.path.join(self.d, "traces", f"trial-{row['trial']}.ndjson")
            if not os.path.exists(path):
                path += ".gz"
            if os.path.exists(path) and row["status"] not in ("invalid", "error"):
                self.tally.scenario = "{problem}, {scenario}, {transport}".format(**row)
                self.trial(row, path)
                count += 1
        for row in self.trials:
            row["steady"] = sum(o["status"] in ("ok", "warmup") for o in self.rest["operations"][row["trial"]])
        self.summarize()
        return count

    def identity(self, row, cell, header):
        """What the plan says of a trial."""
        c = dict(cell["design"], trial=int(row["trial"]), attempts=header["attempt"], cell=cell["cell"])
        c["repetition"] = int(row["trial"]) - (cell["cell"] - 1) * self.repetitions
        c["round"] = 1 + (c["repetition"] - 1) * self.rounds // self.repetitions
        return c

    def latency(self, row, sent, flaky):
        """What was asked of the network, in ms, to the nanosecond; nothing where links differ."""
        swept = any(k.startswith("network_latency") for k in row)
        asked = None if swept else mean_latency(self.cfg["network.latency"])
        if asked is None or self.cfg["network.links"] != "[]":
            return {}
        asked = round(asked, 6)
        even = self.cfg["network.variation"] == "none" and self.cfg["network.bandwidth"] == "unlimited" and not flaky
        return {"latency_ms": asked, "latency_requested_ms": asked if even and sent else None}

    def trial(self, row, path):
        header, recs, end = trace(path)
        cell, spec = self.cells[row["cell"]], spec_of(self.bench, row["algorithm"])
        c = self.identity(row, cell, header)
        counts, kinds = traffic(recs)
        c.update(counts)
        c.update(faults(row, recs, self.cfg, end))
        c["duration_ms"] = ms(end)
        c.update(self.latency(row, c["messages"], any(r.type == "flaky" for r in recs)))
        of = Election if row["problem"] == "election" else Entries
        judged = of(row, recs, self.cfg, cell, spec, end)
        c.update(judged.figures())
        c.update(series(row, [o["end_ms"] - o["cause_ms"] for o in judged.ops if o["status"] in ("ok", "warmup")],
                        [o["end_ms"] - o["cause_ms"] for o in judged.ops if o["status"] == "ok"]))
        if row["transport"] == "sim":
            c["late_share"] = None
        where, trial = f"{self.d} trial {row['trial']} ({row['label']}, {row['status']})", row["trial"]
        if not cell["strikes"] and row["scenario"] in ("leader-crash", "leader-restart", "partition"):
            c.pop("settled_share", None)
        self.tally.row(where, "trials", {k: v for k, v in c.items() if k in row}, row)
        ops = [dict(in_ms(o), trial=int(trial), operation=i + 1) for i, o in enumerate(judged.ops)]
        for o in ops:
            o["cause"], o["phase"] = o.get("cause"), o.get("phase")
        self.tally.rows(where, "operations", ops, self.rest["operations"][trial])
        outages = [u for k in getattr(judged, "outages", ()) for u in judged.outages[k]]
        self.tally.rows(where, "outages", [dict(in_ms(u), trial=int(trial)) for u in outages],
                        self.rest["outages"][trial])
        messages = [dict(kinds[k], trial=int(trial), kind=k) for k in spec["kinds"]]
        self.tally.rows(where, "messages", messages, self.rest["messages"][trial])

    def summarize(self):
        by_cell = defaultdict(list)
        for row in self.trials:
            by_cell[row["cell"]].append(row)
        self.tally.scenario = "{problem}, {scenario}, {transport}".format(**self.trials[0])
        rows = read(self.d, "summary.csv")
        told = set()
        for theirs in rows:
            names = list(theirs)
            design = names[:names.index("metric")]
            cell = next(c for c, rows in by_cell.items() if all(rows[0][k] == theirs[k] for k in design))
            mine = described(by_cell[cell], theirs["metric"], self.anytime)
            mine.update({k: by_cell[cell][0][k] for k in design}, metric=theirs["metric"])
            centre = mine["median"] if mine["trials_with"] is None else mine["mean"]
            wrong = clock_doubt(by_cell[cell], theirs["metric"])
            widen(mine, wrong)
            mine["clock_doubt_ms"] = wrong if wrong and centre is not None and abs(centre) < wrong else None
            told.add((cell, theirs["metric"]))
            self.tally.row(f"{self.d} cell {cell} {theirs['metric']}", "summary",
                           mine, theirs)
        some = {k for row in self.trials if row["status"] in ("ok", "timeout") for k, v in row.items() if v != ""}
        first = list(self.trials[0])
        metrics = ["duration_ms", "messages"] + first[first.index("sched_delay_p99_ms") + 1:]
        for cell in by_cell:
            for name in metrics:
                if name in some and name != "steady":
                    self.tally.check(f"{self.d} cell {cell} {name}", "summary", "(rows)", 1,
                                     str(int((cell, name) in told)))


def in_ms(o):
    return {k: ms(v) if k.endswith("_ms") else v for k, v in o.items()}


def main(args):
    if len(args) < 2 or args[0].startswith("-"):
        sys.exit(__doc__)
    tally, trials = Tally(), 0
    for d in args[1:]:
        trials += Run(args[0], d, tally).check()
    return report(tally, trials)


def report(tally, trials):
    tables = sorted({(s, t) for s, t, _ in tally.done})
    for s, t in tables:
        keys = [k for k in tally.done if k[:2] == (s, t)]
        print(f"{s:32} {t:12} {len(keys):4} columns {sum(tally.done[k] for k in keys):8} figures "
              f"{sum(tally.bad[k] for k in keys):6} differ")
    for (t, col), examples in tally.examples.items():
        bad = sum(n for k, n in tally.bad.items() if k[1:] == (t, col))
        print(f"{t}.{col}: {bad} differ")
        for e in examples:
            print("   ", e)
    for (t, col), n in tally.unknown.items():
        print(f"{t}.{col}: neither computed nor an exception")
    bad = sum(tally.bad.values())
    columns = {k[1:] for k in tally.done}
    empty = sorted(f"{t}.{c}" for t, c in columns if not any(n for k, n in tally.told.items() if k[1:] == (t, c)))
    if empty:
        print("empty wherever compared:", ", ".join(empty))
    print("not computed:", ", ".join(sorted(tally.excepted)))
    print(f"{trials} trials, {len(columns)} columns, {sum(tally.done.values())} figures, {bad} differ; "
          f"{len(tally.unknown)} columns are not known")
    return 1 if bad or tally.unknown or not trials else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
