"""Runs a program of DistAlgo's own, counts the messages of each kind that it sends, and measures from the first
to the last. DISTALGO is a clone of github.com/DistAlgo/distalgo.

distalgo_run.py PROGRAM NODES ROUNDS: NODES is that of the program, and each node enters ROUNDS times."""
import ast
import atexit
import builtins
import collections
import ctypes
import multiprocessing
import os
import sys
import time

KINDS = ("request", "reply", "ack", "release")
fork = multiprocessing.get_context("fork")  # DistAlgo sets the default one
shared = fork.RawArray(ctypes.c_double, 64 * 8)  # a row for each process: count by kind, first, last
slots = fork.Value("i", 0)
mine = {}


def distalgo():
    """DistAlgo, which knows Python up to 3.9. What its compiler leaves out of a tree since then is where a node ends."""
    sys.path.insert(0, os.environ["DISTALGO"])
    real, compiled = sys.version_info, builtins.compile
    if real >= (3, 10):
        version = collections.namedtuple("version_info", "major minor micro releaselevel serial")
        sys.version_info = version(3, 9, 0, "final", 0)

    def compile_(source, *args, **kwargs):
        if isinstance(source, ast.AST):
            for node in ast.walk(source):
                if hasattr(node, "end_lineno"):
                    node.end_lineno = getattr(node, "lineno", 1)
                    node.end_col_offset = getattr(node, "col_offset", 0)
        return compiled(source, *args, **kwargs)

    builtins.compile = compile_
    import da.sim
    from da.__main__ import libmain
    sys.version_info = real
    return da.sim, libmain


def count(sim):
    send = sim.DistProcess.send

    def counted(self, message, to, channel=None, **rest):
        kind = message[0].lower() if isinstance(message, tuple) and isinstance(message[0], str) else ""
        if kind in KINDS:
            row = mine.get(os.getpid())
            if row is None:
                with slots.get_lock():
                    row = mine[os.getpid()] = 8 * slots.value
                    slots.value += 1
                shared[row + 6] = time.monotonic()
            shared[row + KINDS.index(kind)] += len(to) if isinstance(to, (set, frozenset, list)) else 1
            shared[row + 7] = time.monotonic()
        return send(self, message, to, channel, **rest)

    sim.DistProcess.send = counted


def main(nodes, rounds):
    sim, libmain = distalgo()
    count(sim)
    sys.argv = ["dar", "-o", "channel=fifo", "-L", "error"] + sys.argv[1:]
    main_process = os.getpid()

    def report():
        if os.getpid() != main_process:
            return
        rows = range(0, 8 * slots.value, 8)
        sent = sum(shared[r + k] for r in rows for k in range(len(KINDS)))
        print(nodes * rounds, int(sent), max(shared[r + 7] for r in rows) - min(shared[r + 6] for r in rows))

    atexit.register(report)
    libmain()


main(int(sys.argv[2]), int(sys.argv[3]))
