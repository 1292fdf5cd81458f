"""An event loop as SimPy's, and no more: a heap of (time, number, callback). heap.py ALGORITHM NODES ENTRIES"""
import heapq
import sys
import time

from algorithms import ALGORITHMS


def main(name, nodes, entries):
    heap, now, number, done, inside, sent = [], 0.0, 0, 0, 0, 0

    def at(delay, callback, *args):
        nonlocal number
        number += 1
        heapq.heappush(heap, (now + delay, number, callback, args))

    processes, left = {}, [entries // nodes] * nodes

    def member(me):
        def send(to, message):
            nonlocal sent
            sent += 1
            at(1.0, processes[to].receive, me, message)

        def granted():
            nonlocal inside
            inside += 1
            assert inside == 1, "two processes are inside"
            at(1.0, leave)

        def leave():
            nonlocal done, inside
            inside -= 1
            done += 1
            p.release()
            left[me] -= 1
            if left[me]:
                at(1.0, p.request)

        p = processes[me] = ALGORITHMS[name](me, [q for q in range(nodes) if q != me], send, granted)
        at(1.0, p.request)

    for me in range(nodes):
        member(me)
    begun = time.perf_counter()
    while heap:
        now, _, callback, args = heapq.heappop(heap)
        callback(*args)
    print(done, sent, time.perf_counter() - begun)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
