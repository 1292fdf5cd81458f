"""A port of the event loop of DistAlgo, for where DistAlgo itself is not: a process of the operating system for each
process, a thread that reads sockets and fills a queue, pickled messages with a Lamport clock, and a
main loop that takes one message at a time, matches it against every pattern, copies the bindings,
keeps the history that is asked for, and runs handlers until what is awaited holds.
distalgo_loop.py ALGORITHM NODES ENTRIES"""
import copy
import multiprocessing
import pickle
import queue
import selectors
import socket
import struct
import sys
import threading
import time

from algorithms import ALGORITHMS


class Process:
    def __init__(self, me, sockets, name):
        self.me, self.sockets, self.queue, self.jobs = me, sockets, queue.Queue(), []
        self.clock, self.sent, self.inside = 0, 0, False
        self.algorithm = ALGORITHMS[name](me, sorted(sockets), self.send, self.granted)
        kinds = {"ricart-agrawala": ("REQUEST", "REPLY"), "lamport": ("REQUEST", "ACK", "RELEASE")}[name]
        self.patterns = [(kind, self.receive) for kind in kinds]
        self.patterns.append(("DONE", None))
        self.history = {"DONE": set()}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        selector = selectors.DefaultSelector()
        for peer, s in self.sockets.items():
            selector.register(s, selectors.EVENT_READ, (peer, bytearray()))
        while True:
            for key, _ in selector.select():
                peer, buffer = key.data
                data = key.fileobj.recv(65536)
                if not data:
                    selector.unregister(key.fileobj)
                buffer += data
                while len(buffer) >= 4:
                    size = struct.unpack_from("!I", buffer)[0] + 4
                    if len(buffer) < size:
                        break
                    self.queue.put((peer, pickle.loads(bytes(buffer[4:size]))))
                    del buffer[:size]

    def send(self, to, message):
        self.clock += 1
        self.sent += message[0] != "DONE"
        data = pickle.dumps((self.clock, message))
        self.sockets[to].sendall(struct.pack("!I", len(data)) + data)

    def granted(self):
        self.inside = True

    def receive(self, bindings):
        self.algorithm.receive(bindings["source"], bindings["message"])

    def step(self):
        source, (clock, message) = self.queue.get()
        self.clock = max(self.clock, clock) + 1
        for kind, handler in self.patterns:
            bindings = {}
            if message[0] == kind:
                bindings["source"], bindings["message"] = source, message
                if kind in self.history:
                    self.history[kind].add((clock, source, message))
                if handler:
                    self.jobs.append((handler, copy.deepcopy(bindings)))
        while self.jobs:
            handler, bindings = self.jobs.pop(0)
            handler(bindings)

    def wait(self, holds):
        while not holds():
            self.step()

    def run(self, rounds, results):
        begun = time.monotonic()
        for _ in range(rounds):
            self.algorithm.request()
            self.wait(lambda: self.inside)
            self.inside = False
            self.algorithm.release()
        for peer in self.sockets:
            self.send(peer, ("DONE", self.me))
        self.wait(lambda: len(self.history["DONE"]) == len(self.sockets))
        results.put((begun, time.monotonic(), self.sent))


def main(name, nodes, entries):
    context = multiprocessing.get_context("fork")
    ends = [{} for _ in range(nodes)]
    for a in range(nodes):
        for b in range(a):
            ends[a][b], ends[b][a] = socket.socketpair()
    barrier, results = context.Barrier(nodes), context.Queue()

    def start(me):
        process = Process(me, ends[me], name)
        barrier.wait()
        process.run(entries // nodes, results)
        barrier.wait()

    for me in range(nodes):
        context.Process(target=start, args=(me,), daemon=True).start()
    all_ = [results.get(timeout=300) for _ in range(nodes)]
    print(entries, sum(r[2] for r in all_), max(r[1] for r in all_) - min(r[0] for r in all_))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
