"""Ricart and Agrawala's and Lamport's mutual exclusion as state machines, for the Python loops.

send(to, message) sends; granted() says that the process is inside. Messages are tuples."""


class RicartAgrawala:
    def __init__(self, me, peers, send, granted):
        self.me, self.peers, self.send, self.granted = me, peers, send, granted
        self.highest, self.own, self.missing, self.deferred = 0, None, 0, []

    def request(self):
        self.own, self.missing = (self.highest + 1, self.me), len(self.peers)
        for p in self.peers:
            self.send(p, ("REQUEST", self.own))

    def receive(self, source, message):
        if message[0] == "REQUEST":
            self.highest = max(self.highest, message[1][0])
            if self.own is not None and self.own < message[1]:
                self.deferred.append(source)
            else:
                self.send(source, ("REPLY",))
            return
        self.missing -= 1
        if self.missing == 0:
            self.granted()

    def release(self):
        self.own, waiting, self.deferred = None, self.deferred, []
        for p in waiting:
            self.send(p, ("REPLY",))


class Lamport:
    def __init__(self, me, peers, send, granted):
        self.me, self.peers, self.send, self.granted = me, peers, send, granted
        self.clock, self.own, self.queue, self.acks = 0, None, {}, 0

    def request(self):
        self.clock += 1
        self.own, self.acks = (self.clock, self.me), 0
        self.queue[self.me] = self.own
        for p in self.peers:
            self.send(p, ("REQUEST", self.own))

    def receive(self, source, message):
        self.clock = max(self.clock, message[1][0]) + 1
        if message[0] == "REQUEST":
            self.queue[source] = message[1]
            self.send(source, ("ACK", (self.clock, self.me)))
            return
        if message[0] == "ACK":
            self.acks += 1
        else:
            del self.queue[source]
        self.enter()

    def enter(self):
        if self.own is not None and self.acks == len(self.peers) and min(self.queue.values()) == self.own:
            self.acks = 0
            self.granted()

    def release(self):
        self.own = None
        del self.queue[self.me]
        self.clock += 1
        for p in self.peers:
            self.send(p, ("RELEASE", (self.clock, self.me)))


ALGORITHMS = {"ricart-agrawala": RicartAgrawala, "lamport": Lamport}
