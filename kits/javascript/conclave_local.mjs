/**
 * Run the processes of an algorithm in memory, without Conclave: for unit tests.
 *
 *     const group = new Group(RicartAgrawala, 3);
 *     const request = new Request({ number: 1, id: 1 });
 *     assert.deepEqual(group.request(1), [{ send: 2, message: request }, { send: 3, message: request }]);
 *     group.run(7);
 *     assert.deepEqual(group.entered, [1]);
 *
 * Each event goes through the same JSON as with Conclave. Links lose nothing and keep the order. There is
 * no clock but the timers: time passes only when no message is in transit, up to the next timer.
 * @module
 */

import { MILLISECOND, NONE, Process, Program, generator } from "./conclave.mjs";

/** @typedef {import("./conclave.mjs").Message} Message */

/**
 * An effect as in the protocol, but that messages are objects of their classes.
 * @typedef {{ send: number, message: Message } | { set: string, after: number } | { cancel: string }
 *   | { granted: true } | { elected: number, term?: number } | { save: Message } | { log: string }} Effect
 */

/**
 * All processes of one trial.
 *
 * A method for an event returns its effects, which have happened then. It throws if a handler fails, if an
 * invariant does not hold, or if two processes are in the critical section.
 */
export class Group {
  /** Nanoseconds. */
  now = 0;
  /** @type {number[]} the processes, in the order of their entries */
  entered = [];
  /** @type {Set<number>} */
  inside = new Set();
  /** @type {Map<number, number>} whom each live process names */
  leaders = new Map();
  /** @type {{ process: number, timer: string, due: number }[]} by when they expire */
  timers = [];
  /** @type {{ from: number, to: number, message: any }[]} in the order in which they were sent */
  inTransit = [];
  /** @type {Map<number, any>} */
  saved = new Map();
  #program;
  #spec;
  #starts;
  #asked = 0;
  #lives = 0;
  /** @type {Map<number, number>} of the life that each process lives */
  #numbers = new Map();
  /** @type {Map<number, number>} */
  #incarnations = new Map();
  /** @type {{ [name: string]: any }} */
  #params = {};
  #config;
  #draw = generator("0000000000000001");

  /**
   * Params that are durations are in nanoseconds. Those absent have their defaults, which may follow from
   * the latency. A list has a value for each process. On a ring, each process sends to the next of the
   * list alone.
   * @param {import("./conclave.mjs").Algorithm} algorithm @param {number} nodes
   * @param {{ params?: { [name: string]: any }, latency?: number, ring?: number[], leader?: number }} options
   */
  constructor(algorithm, nodes, { params = {}, latency = MILLISECOND, ring = [], leader = NONE } = {}) {
    this.#program = new Program(algorithm);
    this.#spec = algorithm.spec;
    this.#starts = algorithm.prototype.start !== Process.prototype.start;
    const peers = Array.from({ length: nodes }, (_, i) => i + 1);
    this.#config = { peers, ring, leader };
    const network = { nodes, latency, mean: latency, bounded: true, hold: 0 };
    for (const { name } of algorithm.spec.parameters ?? []) {
      this.#params[name] = params[name] ??
        this.#ask({ on: "default", parameter: name, network, params: this.#params }).value;
    }
    for (const p of peers) this.#incarnations.set(p, 0);
    for (const p of peers) this.#begin(p);
  }

  /** @param {number} process @param {number} session */
  request(process, session = 0) {
    return this.#event(process, { on: "request", session });
  }

  /** @param {number} process */
  release(process) {
    this.inside.delete(process);
    return this.#event(process, { on: "release" });
  }

  /** @param {number} process */
  elect(process) {
    return this.#event(process, { on: "elect" });
  }

  /** @param {number} process @param {number} peer */
  suspect(process, peer) {
    return this.#event(process, { on: "suspect", peer });
  }

  /** @param {number} process @param {number} peer */
  restore(process, peer) {
    return this.#event(process, { on: "restore", peer });
  }

  /** @param {number} process @param {string} op @param {number} target */
  do(process, op, target = NONE) {
    return this.#event(process, { on: "do", op, target });
  }

  /**
   * Hands it a message that need not have been sent.
   * @param {number} process @param {number} sender @param {Message} message
   */
  receive(process, sender, message) {
    return this.#event(process, { on: "receive", from: sender, kind: message.kind, msg: message });
  }

  /** Hands it the oldest message of a link. @param {number} sender @param {number} process */
  deliver(sender, process) {
    const at = this.inTransit.findIndex((m) => m.from === sender && m.to === process);
    const [{ message }] = this.inTransit.splice(at, 1);
    if (!this.#numbers.has(process)) return []; // it is down
    return this.#event(process, { on: "receive", from: sender, ...message });
  }

  /** Lets a timer that runs expire, now or when it is due. @param {number} process @param {string} timer */
  timeout(process, timer) {
    const at = this.timers.findIndex((t) => t.process === process && t.timer === timer);
    if (at < 0) throw new Error(`timer ${timer} of process ${process} does not run`);
    this.now = Math.max(this.now, this.timers.splice(at, 1)[0].due);
    return this.#event(process, { on: "timeout", timer });
  }

  /** It forgets all but what it saved. Messages to it are lost. @param {number} process */
  crash(process) {
    this.#ask({ on: "drop", process: this.#numbers.get(process) });
    this.#numbers.delete(process);
    this.timers = this.timers.filter((t) => t.process !== process);
    this.leaders.delete(process);
    this.inside.delete(process);
  }

  /** @param {number} process */
  recover(process) {
    this.#incarnations.set(process, (this.#incarnations.get(process) ?? 0) + 1);
    return this.#begin(process);
  }

  /** @param {number} process @returns {{ [name: string]: any }} */
  state(process) {
    return this.#ask({ on: "state", process: this.#numbers.get(process) }).state;
  }

  /**
   * Delivers messages, in the order of each link and otherwise at random, and lets processes leave that
   * are inside. When there is nothing else, the next timer expires. It ends when nothing is left.
   * @param {number} seed a whole number @param {number} steps at most
   */
  run(seed, steps = 100_000) {
    const draw = generator(seed.toString(16).padStart(16, "0"));
    for (let i = 0; i < steps; i++) {
      const choices = this.inTransit.length + this.inside.size;
      const choice = draw() % Math.max(choices, 1);
      if (choice < this.inTransit.length) {
        this.deliver(this.inTransit[choice].from, this.inTransit[choice].to);
      } else if (choices > 0) {
        this.release([...this.inside][choice - this.inTransit.length]);
      } else if (this.timers.length > 0) {
        this.timeout(this.timers[0].process, this.timers[0].timer);
      } else {
        return;
      }
    }
    throw new Error(`it does not come to rest within ${steps} steps`);
  }

  /** @param {number} process */
  #begin(process) {
    this.#numbers.set(process, ++this.#lives);
    const { peers, ring } = this.#config;
    const lists = Object.entries(this.#params).filter(([, value]) => Array.isArray(value));
    const own = Object.fromEntries(lists.map(([name, values]) => [name, values[process - 1]]));
    const config = {
      ...this.#config, id: process, params: { ...this.#params, ...own }, all: Object.fromEntries(lists),
      neighbors: ring.length ? [ring[(ring.indexOf(process) + 1) % ring.length]] : peers,
      incarnation: this.#incarnations.get(process),
    };
    this.#ask({ on: "new", process: this.#lives, config, saved: this.saved.get(process) });
    return this.#starts ? this.#event(process, { on: "start" }) : [];
  }

  /** @param {number} process @param {any} request @returns {Effect[]} */
  #event(process, request) {
    const random = [this.#draw(), this.#draw()].map((d) => d.toString(16).padStart(8, "0")).join("");
    const { effects = [] } = this.#ask({
      ...request, process: this.#numbers.get(process), now: this.now,
      ...(this.#spec.draws ? { random } : {}),
    });
    return effects.map((/** @type {any} */ effect) => this.#happen(process, effect));
  }

  /** @param {any} request @returns {any} */
  #ask(request) {
    const answer = JSON.parse(this.#program.answer(JSON.stringify({ n: ++this.#asked, ...request })) ?? "{}");
    for (const wrong of ["failed", "broken"]) {
      if (wrong in answer) throw new Error(`${JSON.stringify(request)}: ${wrong}: ${answer[wrong]}`);
    }
    return answer;
  }

  /** @param {number} process @param {any} effect @returns {Effect} */
  #happen(process, effect) {
    if (effect.send !== undefined) {
      const { send, ...message } = effect;
      this.inTransit.push({ from: process, to: send, message });
      return { send, message: this.#program.message(message) };
    }
    const timer = effect.set ?? effect.cancel;
    if (timer !== undefined) {
      this.timers = this.timers.filter((t) => t.process !== process || t.timer !== timer);
      if (effect.set !== undefined) this.timers.push({ process, timer, due: this.now + effect.after });
      this.timers.sort((s, t) => s.due - t.due);
    } else if (effect.granted) {
      this.entered.push(process);
      this.inside.add(process);
      if (this.inside.size > 1) {
        throw new Error(`processes ${[...this.inside].sort()} are in the critical section`);
      }
    } else if (effect.elected !== undefined) {
      this.leaders.set(process, effect.elected);
    } else if (effect.save !== undefined) {
      this.saved.set(process, { kind: effect.save, msg: effect.msg });
      return { save: this.#program.message(this.saved.get(process)) };
    }
    return effect;
  }
}
