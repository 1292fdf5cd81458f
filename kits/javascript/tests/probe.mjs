/** An algorithm that uses all of the kit, and does what it should not when it is asked to. */

import { execFileSync } from "node:child_process";

import { Mutex, message, serve } from "../conclave.mjs";

/** @typedef {import("../conclave.mjs").Env} Env */

console.log("printed while the module was loaded");

const place = /** @type {const} */ ({ x: "int", seen: ["id"] });

export class Everything extends message("EVERY_TYPE", {
  count: "uint", where: place, delta: "int", wait: "duration", ok: "bool", ratio: "float", name: "string",
  peers: ["id"], places: [place],
}) {}

export class Bare extends message("BARE") {}

export class Count extends message("COUNT", { left: "uint" }) {}

/** @typedef {import("../conclave.mjs").Network} Network */

const threeLatencies = (/** @type {Network} */ network) => 3 * network.latency;
const longer = (/** @type {Network} */ network) => network.params.wait + 1;

export class Probe extends Mutex {
  /** @type {import("../conclave.mjs").Spec} */
  static spec = {
    summary: "does what it is asked to",
    messages: [Everything, Bare],
    auxiliary: [Count],
    saves: [Count],
    token: Bare,
    parameters: [
      { name: "wait", type: "duration", doc: "how long", default: threeLatencies, min: 0 },
      { name: "more", type: "duration", doc: "longer", default: longer },
      { name: "flag", type: "bool", doc: "whether", default: false },
      { name: "rank", type: "int", doc: "of a process", default: 0, perProcess: true, max: 9 },
    ],
    draws: true,
    timers: ["retry", "T*"],
    files: [import.meta.url],
    periods: [{ parameter: "wait", timer: "retry" }],
    needs: { fifo: true, nodes: 2 },
    survives: { loss: true, crashes: "minority" },
    promises: { starvationFree: true, live: "steady" },
    doubt: ({ latency, params }) => params.wait < latency ? "too short" : null,
  };

  /** @param {import("../conclave.mjs").Config} config */
  constructor(config) {
    super(config);
    /** @type {[number, any][]} */
    this.heard = [];
    /** @type {string | null} */
    this.wrong = null;
    /** @type {Env | null} */
    this.kept = null;
    if (config.params.flag) throw new RangeError("no process with this flag");
  }

  /** @param {Env} env */
  request(env) {
    env.granted();
    env.log(`session ${env.session}`);
  }

  release() {
    this.wrong = "it has left";
  }

  /** @param {Env} env @param {number} sender @param {import("../conclave.mjs").Message} message */
  receive(env, sender, message) {
    this.heard.push([sender, message]);
    if (message instanceof Count && message.left > 0) {
      env.send(this.id, new Count({ left: message.left - 1 }));
      env.send(3 - this.id, new Bare());
    }
  }

  /** @param {Env} env @param {string} timer */
  timeout(env, timer) {
    env.cancelTimer(timer);
    env.setTimer("retry", 5);
  }

  /** @param {Env} env @param {string} op @param {number} target @returns {any} */
  do(env, op, target) {
    return /** @type {any} */ (this)[op](env, target);
  }

  print() {
    console.log("printed by a handler");
    process.stdout.write("written to the stream\n");
    execFileSync("sh", ["-c", "echo printed by a child >&2"], { stdio: ["ignore", "ignore", "inherit"] });
  }

  /** @param {Env} env @param {number} target */
  every(env, target) {
    const where = { x: -1, seen: [1, 2] };
    env.send(target, new Everything({
      count: 1, where, delta: -2, wait: 3, ok: true, ratio: 0.5, name: 'a"b\né', peers: [1], places: [where],
    }));
    where.x = 7; // what is sent is sent
    env.broadcast(new Bare());
    env.elected(2, 3);
    env.elected(0);
    env.save(new Count({ left: 4 }));
  }

  /** @param {Env} env */
  draw(env) {
    env.log(`${env.random()} ${env.random()}`);
    env.log(String(env.integer(3)));
  }

  chance() {
    return Math.random();
  }

  /** @param {Env} env */
  fail(env) {
    env.granted();
    throw new RangeError("missing");
  }

  /** @param {Env} env @param {number} target */
  unsendable(env, target) {
    env.send(target, new Count({ left: /** @type {any} */ (1n) }));
  }

  async later() {}

  /** @param {Env} env */
  forever(env) {
    env.send(this.id, new Count({ left: 2 ** 40 }));
  }

  /** @param {Env} env */
  keep(env) {
    this.kept = env;
  }

  /** @param {Env} env */
  long(env) {
    env.log("x".repeat(300_000));
  }

  invariant() {
    return this.wrong;
  }
}

serve(Probe, import.meta.url);
