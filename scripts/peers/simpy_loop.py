"""SimPy itself, as its documentation's example of a cable with latency. simpy_loop.py ALGORITHM NODES ENTRIES"""
import sys
import time

import simpy

from algorithms import ALGORITHMS


def main(name, nodes, entries):
    env = simpy.Environment()
    stores = [simpy.Store(env) for _ in range(nodes)]
    left = [entries // nodes] * nodes
    done = inside = sent = 0

    def latency(to, value):
        yield env.timeout(1)
        stores[to].put(value)

    def member(me):
        def send(to, message):
            nonlocal sent
            sent += 1
            env.process(latency(to, (me, message)))

        def granted():
            nonlocal inside
            inside += 1
            assert inside == 1, "two processes are inside"
            env.process(stay())

        def stay():
            nonlocal done, inside
            yield env.timeout(1)
            inside -= 1
            done += 1
            p.release()
            left[me] -= 1
            if left[me]:
                yield env.timeout(1)
                p.request()

        p = ALGORITHMS[name](me, [q for q in range(nodes) if q != me], send, granted)
        yield env.timeout(1)
        p.request()
        while True:
            source, message = yield stores[me].get()
            p.receive(source, message)

    for me in range(nodes):
        env.process(member(me))
    begun = time.perf_counter()
    env.run()
    print(done, sent, time.perf_counter() - begun)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
