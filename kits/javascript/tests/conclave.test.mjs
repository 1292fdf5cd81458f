/** Tests of the kit: what it answers to requests of the step protocol. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { Config, Process, Program, formatDuration } from "../conclave.mjs";
import { Everything, Probe } from "./probe.mjs";

const PROBE = fileURLToPath(new URL("probe.mjs", import.meta.url));
const NETWORK = { nodes: 5, latency: 2_000_000, mean: 2_000_000, bounded: true, hold: 0 };
const CONFIG = { id: 1, peers: [1, 2], neighbors: [1, 2], params: { flag: false } };
const SEED = "0123456789abcdef";

/** The number of the line of probe.mjs that has the text. @param {string} text */
function lineOf(text) {
  return 1 + fs.readFileSync(PROBE, "utf8").split("\n").findIndex((line) => line.includes(text));
}

describe("Program", () => {
  /** @type {Program} */
  let program;
  let n = 0;

  /** @param {any} request @returns {any} */
  const ask = (request) => {
    const answer = JSON.parse(program.answer(JSON.stringify({ n: ++n, ...request })) ?? "{}");
    assert.equal(answer.n, n);
    delete answer.n;
    return answer;
  };
  /** @param {string} on @param {any} more */
  const event = (on, more = {}) => ask({ on, process: 7, now: 9, random: SEED, ...more });

  beforeEach(() => {
    program = new Program(Probe);
    assert.deepEqual(ask({ on: "new", process: 7, config: CONFIG }), {});
  });

  it("describes the algorithm", () => {
    const { protocol, spec } = ask({ on: "describe", protocols: [1] });
    assert.equal(protocol, 1);
    const place = { fields: [["x", "int"], ["seen", ["id"]]] };
    assert.deepEqual(spec.messages, [
      { kind: "EVERY_TYPE", fields: [
        ["count", "uint"], ["where", place], ["delta", "int"], ["wait", "duration"], ["ok", "bool"],
        ["ratio", "float"], ["name", "string"], ["peers", ["id"]], ["places", [place]]] },
      { kind: "BARE", fields: [] }]);
    assert.deepEqual(spec.auxiliary, [{ kind: "COUNT", fields: [["left", "uint"]] }]);
    assert.deepEqual(spec.saves, spec.auxiliary);
    assert.equal(spec.token, "BARE");
    assert.deepEqual(spec.parameters[0], {
      name: "wait", type: "duration", doc: "how long", asks: true, min: 0 });
    assert.deepEqual(spec.parameters[3], {
      name: "rank", type: "int", doc: "of a process", default: 0, per_process: true, max: 9 });
    assert.equal(spec.parameters[2].default, false);
    assert.deepEqual(spec.handles, ["timeout", "do"]);
    assert.deepEqual(spec.timers, ["retry", "T*"]);
    assert.deepEqual(spec.needs, { fifo: true, nodes: 2 });
    assert.deepEqual(spec.survives, { loss: true, crashes: "minority" });
    assert.deepEqual(spec.promises, { starvation_free: true, live: "steady" });
    assert.deepEqual([spec.draws, spec.states, spec.doubts, spec.problem], [true, true, true, "mutex"]);
    assert.deepEqual(spec.files, [fileURLToPath(new URL("../conclave.mjs", import.meta.url)), PROBE]);
    assert.ok(!("doubt" in spec) && !("service" in spec));
  });

  it("works defaults and doubts out", () => {
    /** @param {string} parameter @param {any} params */
    const of = (parameter, params) => ask({ on: "default", network: NETWORK, parameter, params }).value;
    assert.equal(of("wait", {}), 6_000_000);
    assert.equal(of("more", { wait: 4 }), 5);
    assert.equal(of("flag", {}), false);
    assert.equal(ask({ on: "doubt", network: NETWORK, params: { wait: 1 } }).value, "too short");
    assert.equal(ask({ on: "doubt", network: NETWORK, params: { wait: 2_000_000 } }).value, null);
  });

  it("answers effects in order", () => {
    const place = { x: -1, seen: [1, 2] };
    const sent = {
      count: 1, where: place, delta: -2, wait: 3, ok: true, ratio: 0.5, name: 'a"b\né', peers: [1],
      places: [place] };
    assert.deepEqual(event("do", { op: "every", target: 2 }), { effects: [
      { send: 2, kind: "EVERY_TYPE", msg: sent }, { send: 2, kind: "BARE" }, { elected: 2, term: 3 },
      { elected: 0 }, { save: "COUNT", msg: { left: 4 } }] });
    assert.deepEqual(event("timeout", { timer: "T1" }).effects, [
      { cancel: "T1" }, { set: "retry", after: 5 }]);
    assert.deepEqual(event("request", { session: 4 }).effects, [{ granted: true }, { log: "session 4" }]);
    assert.deepEqual(event("request").effects, [{ granted: true }, { log: "session 0" }]);
    assert.deepEqual(event("receive", { from: 2, kind: "EVERY_TYPE", msg: sent }), {});
    assert.deepEqual(ask({ on: "state", process: 7 }).state.heard, [[2, { kind: "EVERY_TYPE", ...sent }]]);
    assert.ok(program.message({ kind: "EVERY_TYPE", msg: sent }) instanceof Everything);
  });

  it("delivers what a process sends to itself", () => {
    assert.deepEqual(event("receive", { from: 2, kind: "COUNT", msg: { left: 2 } }),
      { effects: [{ send: 2, kind: "BARE" }, { send: 2, kind: "BARE" }] });
    assert.deepEqual(ask({ on: "state", process: 7 }).state.heard,
      [[2, { kind: "COUNT", left: 2 }], [1, { kind: "COUNT", left: 1 }], [1, { kind: "COUNT", left: 0 }]]);
    assert.match(event("do", { op: "forever" }).failed, /an endless loop/);
  });

  it("reports a failure and its place, and goes on", () => {
    assert.deepEqual(event("do", { op: "fail" }),
      { failed: `RangeError: missing (probe.mjs:${lineOf('RangeError("missing")')})` });
    assert.match(event("do", { op: "unsendable", target: 2 }).failed,
      new RegExp(`^TypeError: .*BigInt.* \\(probe.mjs:${lineOf("1n")}\\)$`));
    assert.match(event("do", { op: "later" }).failed, /a handler is async/);
    assert.match(event("elect").failed, /TypeError/);
    assert.match(event("receive", { from: 2, kind: "OTHER" }).failed, /OTHER is not in the spec/);
    assert.equal(event("request").effects.length, 2);
    assert.deepEqual(ask({ on: "state", process: 8 }), { failed: "Error: there is no process 8" });
    const flagged = { on: "new", process: 8, config: { ...CONFIG, params: { flag: true } } };
    assert.match(ask(flagged).failed, /^RangeError: no process with this flag \(probe.mjs:\d+\)$/);
    assert.deepEqual(ask({ on: "drop", process: 8 }), {});
  });

  it("refuses to use an env after its event", () => {
    class Keeper extends Probe {
      /** @param {any} env */
      keep(env) {
        kept = env;
      }
    }
    /** @type {any} */
    let kept;
    program = new Program(Keeper);
    ask({ on: "new", process: 7, config: CONFIG });
    assert.deepEqual(event("do", { op: "keep" }), {});
    for (const use of [() => kept.granted(), () => kept.send(1, {}), () => kept.random()]) {
      assert.throws(use, /used after its event/);
    }
  });

  it("draws from the seed of the event alone", () => {
    const first = event("do", { op: "draw" });
    const [one, two] = first.effects[0].log.split(" ").map(Number);
    assert.ok(one !== two && [one, two].every((x) => 0 <= x && x < 1));
    assert.deepEqual(event("do", { op: "draw" }), first);
    assert.notDeepEqual(event("do", { op: "draw", random: "0123456789abcdee" }), first);
    assert.match(ask({ on: "do", process: 7, now: 9, op: "draw" }).failed, /does not say draws: true/);
  });

  it("reports a broken invariant", () => {
    assert.deepEqual(event("release"), { broken: "it has left" });
  });

  it("keeps lives apart", () => {
    ask({ on: "new", process: 8, config: CONFIG, saved: { kind: "COUNT", msg: { left: 4 } } });
    event("receive", { from: 2, kind: "BARE" });
    const config = { holder: 0, incarnation: 0, leader: 0, leaderDown: false, saved: null };
    assert.deepEqual(ask({ on: "state", process: 7 }).state, {
      config, heard: [[2, { kind: "BARE" }]], id: 1, kept: null, peers: [1, 2], wrong: null });
    const { state } = ask({ on: "state", process: 8 });
    assert.deepEqual(state.heard, []);
    assert.deepEqual(state.config.saved, { kind: "COUNT", left: 4 });
    assert.deepEqual(ask({ on: "drop", process: 7 }), {});
    assert.match(event("request").failed, /there is no process 7/);
  });
});

describe("state", () => {
  it("is in an order of its own", () => {
    const process = /** @type {any} */ (new Process(new Config({ id: 1, peers: [1] })));
    process.z = new Set([10, 9, 2]);
    process.y = new Map(/** @type {any[]} */ ([["b", 1], ["a", { d: undefined, c: 2 }]]));
    const state = process.state();
    assert.deepEqual(Object.keys(state), ["config", "id", "peers", "y", "z"]);
    assert.equal(JSON.stringify([state.z, state.y]), '[[2,9,10],[["a",{"c":2,"d":null}],["b",1]]]');
    process.z = () => 1;
    assert.throws(() => process.state(), /override state/);
  });
});

describe("formatDuration", () => {
  it("prints as Go does", () => {
    for (const [nanoseconds, text] of /** @type {[number, string][]} */ ([
      [0, "0s"], [1, "1ns"], [999, "999ns"], [1_500, "1.5µs"], [26_000_000, "26ms"], [100_000_000, "100ms"],
      [1_000_001, "1.000001ms"], [999_999_999, "999.999999ms"], [1e9, "1s"], [62.5e9, "1m2.5s"],
      [60_000_000_001, "1m0.000000001s"], [3600e9, "1h0m0s"], [-1_500_000, "-1.5ms"],
    ])) assert.equal(formatDuration(nanoseconds), text);
  });
});

describe("serve", () => {
  /** Starts the program as Conclave does. @param {any[]} requests */
  const converse = (...requests) => spawnSync(process.execPath, [PROBE], {
    input: requests.map((r, i) => JSON.stringify({ n: i + 1, ...r }) + "\n").join(""), encoding: "utf8",
  });
  const begin = { on: "new", process: 1, config: CONFIG };
  const event = { on: "do", process: 1, now: 0, random: SEED };

  it("keeps standard output for answers", () => {
    const { status, stdout, stderr } = converse(
      begin, { ...event, op: "print" }, { ...event, op: "long" }, { ...event, op: "chance" },
      { on: "drop", process: 1, ignored: "é".repeat(300_000) }, { on: "end" });
    assert.equal(status, 0);
    const answers = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(answers.map(({ n }) => n), [1, 2, 3, 4, 5]);
    assert.deepEqual(answers[1], { n: 2 });
    assert.equal(answers[2].effects[0].log.length, 300_000);
    assert.match(answers[3].failed, /Math.random .* use env.random/);
    for (const text of ["while the module was loaded", "by a handler", "to the stream", "by a child"]) {
      assert.ok(stderr.includes(text), text);
    }
  });

  it("ends with its input", () => {
    const { status, stdout } = converse(begin);
    assert.equal(status, 0);
    assert.equal(stdout, '{"n":1}\n');
  });

  it("does nothing in a module that is imported", () => {
    const url = new URL("probe.mjs", import.meta.url).href;
    const ran = spawnSync(process.execPath, ["--input-type=module", "-e", `import ${JSON.stringify(url)}`],
      { input: '{"n":1,"on":"describe"}\n', encoding: "utf8" });
    assert.deepEqual([ran.status, ran.stdout], [0, "printed while the module was loaded\n"]);
  });
});
