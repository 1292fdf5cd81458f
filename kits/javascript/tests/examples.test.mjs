/** Tests of the examples, with Group instead of Conclave. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { NONE } from "../conclave.mjs";
import { Group } from "../conclave_local.mjs";
import { BrokenLock } from "../examples/broken_lock.mjs";
import { Answer, Ask, Bully, Coordinator } from "../examples/bully.mjs";
import { ChangRoberts, Probe } from "../examples/chang_roberts.mjs";
import { Elected } from "../examples/lap.mjs";
import { Reply, Request, RicartAgrawala } from "../examples/ricart_agrawala.mjs";

const MS = 1_000_000;

/** @param {number} to @param {import("../conclave.mjs").Message} message */
const send = (to, message) => ({ send: to, message });

describe("RicartAgrawala", () => {
  /** @param {number} number @param {number} id */
  const request = (number, id) => new Request({ number, id });
  /** @param {number} number @param {number} id */
  const reply = (number, id) => new Reply({ number, id });

  it("compares the request, not the highest number seen", () => {
    const group = new Group(RicartAgrawala, 3);
    assert.deepEqual(group.request(2), [send(1, request(1, 2)), send(3, request(1, 2))]);
    assert.deepEqual(group.receive(2, 3, request(9, 3)), []);
    assert.deepEqual(group.receive(2, 1, request(5, 1)), []);
    assert.deepEqual(group.receive(2, 1, reply(1, 2)), []);
    assert.deepEqual(group.receive(2, 3, reply(1, 2)), [{ granted: true }]);
    assert.deepEqual(group.release(2), [send(3, reply(9, 3)), send(1, reply(5, 1))]);
    assert.deepEqual(group.request(2), [send(1, request(10, 2)), send(3, request(10, 2))]);
  });

  it("lets the smaller process come first if numbers are equal", () => {
    const group = new Group(RicartAgrawala, 3);
    group.request(2);
    assert.deepEqual(group.receive(2, 1, request(1, 1)), [send(1, reply(1, 1))]);
    assert.deepEqual(group.receive(2, 3, request(1, 3)), []);
  });

  it("ignores a reply to an earlier request, and a second copy", () => {
    const group = new Group(RicartAgrawala, 3);
    group.request(1);
    group.receive(1, 2, reply(1, 1));
    assert.deepEqual(group.receive(1, 2, reply(1, 1)), []);
    group.receive(1, 3, request(1, 3));
    assert.deepEqual(group.receive(1, 3, reply(1, 1)), [{ granted: true }]);
    group.release(1);
    group.request(1);
    for (const [sender, number] of [[2, 1], [3, 2], [3, 2]]) {
      assert.deepEqual(group.receive(1, sender, reply(number, 1)), []);
    }
    assert.deepEqual(group.receive(1, 2, reply(2, 1)), [{ granted: true }]);
  });

  it("counts on beyond its former life", () => {
    const group = new Group(RicartAgrawala, 2);
    group.crash(1);
    group.recover(1);
    assert.deepEqual(group.request(1), [send(2, request(2 ** 32 + 1, 1))]);
  });

  it("lets all enter once, one at a time, in every schedule", () => {
    for (let seed = 0; seed < 50; seed++) {
      const group = new Group(RicartAgrawala, 4);
      for (const p of [1, 2, 3, 4]) group.request(p);
      group.run(seed);
      assert.deepEqual(group.entered, [1, 2, 3, 4]);
    }
  });
});

describe("BrokenLock", () => {
  it("lets two processes in", () => {
    const group = new Group(BrokenLock, 3);
    for (const p of [1, 2, 3]) group.request(p);
    assert.throws(() => {
      for (const p of [1, 2, 3]) for (const q of [1, 2, 3]) if (p !== q) group.deliver(p, q);
      for (const p of [1, 2, 3]) for (const q of [1, 2, 3]) if (p !== q) group.deliver(p, q);
    }, /processes 1,3 are in the critical section/);
  });
});

describe("Bully", () => {
  const ask = (count = 1, incarnation = 0) => new Ask({ incarnation, count });
  const answer = (count = 1, incarnation = 0) => new Answer({ incarnation, count });
  const t = { set: "T", after: 23 * MS };
  const tPrime = { set: "T'", after: 46 * MS };

  it("asks all above, and announces itself if none answers", () => {
    const group = new Group(Bully, 3);
    assert.deepEqual(group.elect(2), [send(3, ask()), { elected: NONE }, t]);
    assert.deepEqual(group.elect(2), []);
    assert.deepEqual(group.timeout(2, "T"), [{ cancel: "T'" }, { elected: 2 }, send(1, new Coordinator())]);
  });

  it("leaves the election to a process that answers, for T' at most", () => {
    const group = new Group(Bully, 3);
    group.elect(2);
    assert.deepEqual(group.receive(2, 3, answer(2)), []); // of another attempt
    assert.deepEqual(group.receive(2, 3, answer(1, 1)), []); // of another life
    assert.deepEqual(group.receive(2, 3, answer()), [{ cancel: "T" }, tPrime]);
    assert.deepEqual(group.receive(2, 1, ask()), [send(1, answer())]);
    assert.deepEqual(group.timeout(2, "T'"), [send(3, ask(2)), { elected: NONE }, t]);
  });

  it("answers every attempt without suppression", () => {
    const group = new Group(Bully, 3, { params: { suppress_duplicates: false } });
    group.elect(2);
    assert.deepEqual(group.receive(2, 1, ask()), [
      send(1, answer()), send(3, ask(2)), { elected: NONE }, { ...t, set: "T of attempt 2" }]);
    assert.deepEqual(group.receive(2, 3, new Coordinator()), [
      { cancel: "T of attempt 1" }, { cancel: "T of attempt 2" }, { cancel: "T'" }, { elected: 3 }]);
  });

  it("announces itself when asked: to all below, or to the asker alone", () => {
    const coordinator = new Coordinator();
    for (const [mode, told] of /** @type {[string, any[]][]} */ ([
      ["broadcast", [{ cancel: "T'" }, { elected: 3 }, send(1, coordinator), send(2, coordinator)]],
      ["unicast", [send(1, coordinator)]],
    ])) {
      const group = new Group(Bully, 3, { params: { coordinator_reply: mode }, leader: 3 });
      assert.deepEqual(group.receive(3, 1, ask()), [send(1, answer()), ...told]);
    }
  });

  it("holds an election if two announcements may have raced", () => {
    const group = new Group(Bully, 4);
    assert.deepEqual(group.receive(1, 4, new Coordinator()), [{ cancel: "T'" }, { elected: 4 }]);
    assert.equal(group.receive(1, 3, new Coordinator()).length, 5); // asks 2, 3 and 4
    const later = new Group(Bully, 4);
    later.receive(1, 4, new Coordinator());
    later.now = 23 * MS;
    assert.deepEqual(later.receive(1, 3, new Coordinator()), [{ cancel: "T'" }, { elected: 3 }]);
  });

  it("ranks by estimate first", () => {
    const group = new Group(Bully, 3, { params: { est: [5, 0, 0] } });
    const announces = [2, 3].map((p) => send(p, new Coordinator()));
    assert.deepEqual(group.elect(1), [{ cancel: "T'" }, { elected: 1 }, ...announces]);
  });

  it("makes the highest live process lead, also after a crash and a return", () => {
    for (let seed = 0; seed < 20; seed++) {
      const group = new Group(Bully, 5, { leader: 5 });
      group.crash(5);
      for (const p of [1, 2, 3, 4]) group.elect(p);
      group.run(seed);
      assert.deepEqual([...group.leaders.values()], [4, 4, 4, 4]);
      group.recover(5);
      group.run(seed);
      assert.deepEqual([...group.leaders.values()], [5, 5, 5, 5, 5]);
    }
  });

  it("doubts time-outs that do not cover a round trip", () => {
    const network = { nodes: 3, latency: 2 * MS, mean: 2 * MS, bounded: true, hold: 0 };
    /** @param {number} t_answer @param {number} t_coordinator */
    const doubt = (t_answer, t_coordinator) =>
      Bully.spec.doubt?.({ ...network, params: { t_answer, t_coordinator } });
    assert.equal(doubt(1 * MS, 9 * MS), "t_answer 1ms is below 2d = 4ms");
    assert.equal(doubt(4 * MS, 7.5 * MS), "t_coordinator 7.5ms is below T + 2d = 8ms");
    assert.equal(doubt(4 * MS, 8 * MS), null);
  });
});

describe("ChangRoberts", () => {
  /** @param {number} id */
  const probe = (id) => new Probe({ id });
  const ring = { ring: [1, 2, 3] };

  /** Each message in each state, at process 2 of the ring 1-2-3: what the last event does. */
  const table = /** @type {[string, any, ((g: Group) => any)[], any[]][]} */ ([
    ["begins", {}, [(g) => g.elect(2)], [send(3, probe(2))]],
    ["begins once", {}, [(g) => g.elect(2), (g) => g.elect(2)], []],
    ["has passed one on", {}, [(g) => g.receive(2, 1, probe(1)), (g) => g.elect(2)], []],
    ["swallows a smaller", {}, [(g) => g.elect(2), (g) => g.receive(2, 1, probe(1))], []],
    ["passes a larger on", {}, [(g) => g.elect(2), (g) => g.receive(2, 1, probe(3))], [send(3, probe(3))]],
    ["comes round", {}, [(g) => g.elect(2), (g) => g.receive(2, 1, probe(2))],
      [{ elected: 2, term: 1 }, send(3, new Elected({ id: 2 }))]],
    ["joins", { mode: "join" }, [(g) => g.receive(2, 1, probe(1))], [send(3, probe(2))]],
    ["is not passive", { relay_makes_passive: false }, [(g) => g.receive(2, 1, probe(1)), (g) => g.elect(2)],
      [send(3, probe(2))]],
  ]);
  for (const [name, params, events, want] of table) {
    it(name, () => {
      const group = new Group(ChangRoberts, 3, { ...ring, params });
      assert.deepEqual(events.map((event) => event(group)).pop(), want);
    });
  }

  it("makes the largest of those that begin lead", () => {
    const group = new Group(ChangRoberts, 5, { ring: [3, 1, 5, 2, 4] });
    for (const p of [1, 2, 4]) group.elect(p);
    group.run(1);
    assert.deepEqual([...group.leaders.values()], [4, 4, 4, 4, 4]);
  });

  it("doubts the promises without the rule", () => {
    const params = { relay_makes_passive: false };
    const network = { nodes: 3, latency: 1, mean: 1, bounded: true, hold: 0, params };
    assert.equal(ChangRoberts.spec.doubt?.(network),
      "relay_makes_passive is false: a process whose ID comes behind that of the winner wins too");
  });
});
