#!/usr/bin/env python3
"""Runs an old and a new bench side by side: a redesign loses nothing.

    scripts/same.py OLD NEW [--repetitions N] [--only PATTERN] [--platforms]

Every experiment of configs/ is simulated by both. Their tables have to be the same, byte for byte.
Then both answer the commands below about twenty of those runs, each about the folder that it wrote
itself. What differs has to be in scripts/same.txt with a reason, and what is listed there has to differ.
With --platforms the two are builds of one program for two platforms, and tables alone are compared.
Exit codes: 0 the same, 1 something differs that is not listed, or is listed and does not differ.
"""
import argparse
import concurrent.futures
import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLES = ["trials.csv", "operations.csv", "messages.csv", "outages.csv", "summary.csv"]
FOLDERS = 20

# What varies from one run of a program to the next: paths, instants, durations, the build.
VARIES = [
    (re.compile(r"\d{8}T?-?\d{6}(\.\d+)?Z?(-[0-9a-z]+)?"), "STAMP"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)?(ms|µs|s|m\d+s)\b(?= \(|$| on | of processor)", re.M), "TOOK"),
    (re.compile(r"in \d+\.\d+ s\b"), "in TOOK"),
    (re.compile(r"\d+(\.\d+)? [nµm]?s of processor time"), "TOOK of processor time"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "HASH"),
    (re.compile(r"(conclave|v0\.0\.0-|\(devel\))[^\s\"]*(\+dirty)?"), "BUILD"),
    (re.compile(r" with uncommitted changes"), ""),
    (re.compile(r"\b[\d.]+k? per\s+second"), "RATE per second"),
    (re.compile(r"about \d+(\.\d+)? ?(ms|s|min|h)\w*"), "about TIME"),
]

# Commands about a run, by the name under which same.txt lists them. {run} is its folder, {other} that of
# another run, {config} its file, {algorithm} its first algorithm, {out} a folder to write into.
COMMANDS = {
    "compare": "compare {run} {run} --no-fail",
    "compare other": "compare {run} {other} --no-fail --ignore algorithm",
    "compare markdown": "compare {run} {run} --no-fail --format markdown",
    "compare json": "compare {run} {run} --no-fail --format json",
    "compare junit": "compare {run} {run} --no-fail --format junit",
    "compare operations": "compare {run} {run} --no-fail --over operations",
    "compare prove": "compare {run} {run} --prove 5%",
    "export csv": "export {run} --format csv",
    "export csv operations": "export {run} --format csv --over operations",
    "export json": "export {run} --format json",
    "export junit": "export {run} --format junit",
    "export markdown": "export {run} --format markdown",
    "export latex": "export {run} --format latex",
    "export gobench": "export {run} --format gobench",
    "export hgrm": "export {run} --format hgrm --out {out}",
    "export pgfplots": "export {run} --format pgfplots --out {out}",
    "export github": "export {run} --format github",
    "export bmf": "export {run} --format bmf",
    "report": "report {run} --out {out}/page.html",
    "report figures": "report {run} --out {out}/page.html --figures {out}/figures --all",
    "replay": "replay {run} --trial 1",
    "replay events": "replay {run} --trial 1 --events",
    "replay json": "replay {run} --trial 1 --json",
    "trace": "trace {run} --trial 1",
    "trace svg": "trace {run} --trial 1 --svg --out {out}/trial.svg",
    "trace html": "trace {run} --trial 1 --html --out {out}/trial.html",
    "trace shiviz": "trace {run} --trial 1 --format shiviz",
    "trace mermaid": "trace {run} --trial 1 --format mermaid",
    "trace perfetto": "trace {run} --trial 1 --format perfetto",
    "diff": "diff {run} {run} --trial 1",
    "diff json": "diff {run} {run} --trial 1 --json",
    "plan": "plan {config} --transport sim",
    "plan json": "plan {config} --transport sim --json",
    "describe": "describe {algorithm}",
    "describe json": "describe {algorithm} --json",
    "explore": "explore {algorithm} --schedules 200 --progress none",
    "explore json": "explore {algorithm} --schedules 200 --progress none --json",
    "verify": "verify {algorithm}",
    "run": "run {config} --transport sim --out {out} --quiet --set repetitions=2",
    "run json": "run {config} --transport sim --out {out} --quiet --set repetitions=2 --json",
}

# Commands about nothing in particular.
ALONE = {
    "list": "list", "list json": "list --json", "schema": "schema", "help": "help", "init": "init",
    "queue": "queue list", "reproduce": "reproduce --list", "reproduce json": "reproduce --list --json",
    "atlas": "atlas bully --processes 3 --quiet", "atlas json": "atlas bully --processes 3 --quiet --json",
    "rare": "rare configs/rare.yaml --quiet --set repetitions=2 --set rare.paths=50",
}
for verb in ["run", "merge", "work", "workers", "queue", "plan", "list", "describe", "compare", "gate", "diff", "bisect",
             "history", "replay", "trace", "verify", "explore", "atlas", "reproduce", "tune", "rare", "calibrate",
             "twin", "report", "serve", "export", "init", "new", "schema", "version"]:
    ALONE["help " + verb] = verb + " --help"


def bench(program, words, **places):
    """Runs a command: its exit code, and what it printed without what varies."""
    args = [w.format(**places) for w in words.split()]
    done = subprocess.run([program] + args, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", timeout=1800)
    return done.returncode, plain(done.stdout, places), plain(done.stderr, places)


def plain(text, places):
    for name in ("run", "other", "out", "top"):
        if places.get(name):
            text = text.replace(places[name], name.upper())
    for pattern, word in VARIES:
        text = pattern.sub(word, text)
    return text


def written(folder, places):
    """What a command wrote, by name."""
    out = {}
    for path in sorted(glob.glob(folder + "/**", recursive=True)):
        if os.path.isfile(path) and not path.endswith((".png", ".pdf", "journal.ndjson", "manifest.json")):
            with open(path, errors="replace") as file:
                out[plain(os.path.relpath(path, folder), places)] = plain(file.read(), places)
    return out


def latest(folder):
    runs = sorted(glob.glob(folder + "/*/2*"))
    return runs[-1] if runs else None


def simulate(programs, top, config, repetitions):
    """Simulates a file with both: the folders, and what differs."""
    name = os.path.relpath(config, ROOT)
    runs, codes = [], []
    for side, program in enumerate(programs):
        out = os.path.join(top, str(side), name.replace("/", "_"))
        done = subprocess.run([program, "run", config, "--transport", "sim", "--out", out, "--quiet", "--set",
                               "repetitions=%d" % repetitions], cwd=ROOT, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=3600)
        codes.append(done.returncode)
        runs.append(latest(out))
    if codes[0] != codes[1]:
        return name, runs, "exit codes %d and %d" % tuple(codes)
    if None in runs:
        return name, None, None if runs == [None, None] else "one wrote no run"
    for table in TABLES:
        paths = [os.path.join(run, table) for run in runs]
        there = [os.path.exists(path) for path in paths]
        if there[0] != there[1] or there[0] and not filecmp.cmp(*paths, shallow=False):
            return name, runs, table
    return name, runs, None


def ask(programs, top, label, words, runs, others, config, algorithm):
    """Has both answer a command: what differs."""
    answers = []
    for side, program in enumerate(programs):
        out = tempfile.mkdtemp(dir=top)
        places = {"run": runs and runs[side], "other": others and others[side], "config": config,
                  "algorithm": algorithm, "out": out, "top": os.path.join(top, str(side))}
        answers.append((bench(program, words, **places), written(out, places)))
        shutil.rmtree(out)
    (old, files), (new, others) = answers
    if old[0] != new[0]:
        return "exit codes %d and %d: %s" % (old[0], new[0], new[2][-300:])
    for name, a, b in (("standard output", old[1], new[1]), ("standard error", old[2], new[2])):
        if a != b:
            return name + first(a, b)
    for name in sorted(set(files) | set(others)):
        if files.get(name) != others.get(name):
            return name + first(files.get(name, ""), others.get(name, ""))
    return None


def first(a, b):
    """The first line that differs."""
    a, b = a.splitlines() + [""], b.splitlines() + [""]
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return ", line %d:\n    old %.160s\n    new %.160s" % (i + 1, x, y)
    return ": %d and %d lines" % (len(a), len(b))


def listed():
    """The differences that are meant: name of the command and reason."""
    out = {}
    with open(os.path.join(ROOT, "scripts", "same.txt")) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, reason = line.split(":", 1)
                out[name.strip()] = reason.strip()
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--platforms", action="store_true", help="compare tables of two platforms alone")
    o = parser.parse_args()
    programs = [os.path.abspath(o.old), os.path.abspath(o.new)]
    meant, differ, bad = listed(), {}, 0

    def found(name, what):
        nonlocal bad
        if what and name in meant:
            differ.setdefault(name, what)
        elif what:
            bad += 1
            print("DIFFERS %s: %s" % (name, what), flush=True)

    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        configs = [c for c in sorted(glob.glob(ROOT + "/configs/**/*.yaml", recursive=True)) if o.only in c]
        runs = []
        for config, (name, pair, what) in zip(configs, pool.map(
                lambda c: simulate(programs, top, c, o.repetitions), configs)):
            found(name, what)
            if pair and o.platforms:
                for folder in pair:
                    shutil.rmtree(folder)
            if pair:
                runs.append((config, pair))
        print("%d of %d files were simulated" % (len(runs), len(configs)), flush=True)
        if o.platforms:
            print("the same" if runs and not bad else "%d differences" % bad)
            return 0 if runs and not bad else 1
        jobs = [(name, words, None, None, "", "") for name, words in ALONE.items()]
        step = max(1, len(runs) // FOLDERS)
        for i, (config, pair) in list(enumerate(runs))[::step][:FOLDERS]:
            with open(os.path.join(pair[0], "trials.csv")) as file:
                head, row = file.readline().strip().split(","), file.readline().strip().split(",")
            algorithm = row[head.index("algorithm")] if len(row) == len(head) else "bully"
            for name, words in COMMANDS.items():
                jobs.append((name, words, pair, runs[i - 1][1], config, algorithm))
        for job, what in zip(jobs, pool.map(lambda j: ask(programs, top, *j), jobs)):
            if what and job[4]:
                what = os.path.relpath(job[4], ROOT) + ": " + what
            found(job[0], what)
        print("%d answers were compared, of %d commands about %d runs" % (
            len(jobs), len(COMMANDS) + len(ALONE), min(FOLDERS, len(runs))))
    for name in sorted(differ):
        print("as listed: %s: %s" % (name, meant[name]))
    for name in sorted(set(meant) - set(differ)):
        if not o.only:
            bad += 1
            print("NO LONGER DIFFERS %s: take it off scripts/same.txt" % name)
    print("the same" if not bad else "%d differences" % bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
