/**
 * Write an algorithm for Conclave in JavaScript.
 *
 * An algorithm is a class: a Mutex or an Election, with a spec and a method for each event that it
 * handles. One object is one process. It receives one event at a time and asks its Env for effects. It
 * needs no clock, socket or promise, and it shares nothing with other objects. See README.md, and
 * examples/ricart_agrawala.mjs for a whole algorithm.
 *
 * All times and durations are in nanoseconds. Processes are numbered from 1; NONE is no process.
 * @module
 */

import fs from "node:fs";
import path from "node:path";
import { StringDecoder } from "node:string_decoder";
import { fileURLToPath } from "node:url";
import v8 from "node:v8";
import vm from "node:vm";

export const NONE = 0;
export const MILLISECOND = 1_000_000;
/** What default time-outs leave for the schedulers of real machines. */
export const SLACK = 20 * MILLISECOND;

/**
 * The type of a field: uint and id from 0 on; duration in nanoseconds; a list has one element, the type
 * of its elements; an object has fields of its own.
 * @typedef {"uint" | "id" | "int" | "duration" | "bool" | "float" | "string"} Scalar
 * @typedef {Scalar | readonly [any] | { readonly [name: string]: any }} Type
 * @typedef {{ readonly [name: string]: Type }} Fields
 */

/**
 * The values that fields of these types have.
 * @template T
 * @typedef {T extends "bool" ? boolean : T extends "string" ? string : T extends Scalar ? number
 *   : T extends readonly [infer E] ? ValueOf<E>[] : { [K in keyof T]: ValueOf<T[K]> }} ValueOf
 */

/** The base of all kinds of messages, and of what is saved: see message. */
export class Message {
  static kind = "";
  /** @type {Fields} */
  static fields = {};
  /** @param {any} [values] */
  constructor(values) {
    const { fields } = /** @type {typeof Message} */ (this.constructor);
    for (const name in fields) /** @type {any} */ (this)[name] = values[name];
  }
  /** The name of the kind. @returns {string} */
  get kind() { return /** @type {typeof Message} */ (this.constructor).kind; }
}

/**
 * Declares a kind: class Request extends message("REQUEST", { number: "uint", id: "id" }) {}. The order
 * of the fields is that of the bytes on the network.
 * @template {Fields} const F
 * @param {string} kind
 * @param {F} [fields]
 * @returns {{ new (values?: ValueOf<F>): Message & ValueOf<F>, kind: string, fields: Fields }}
 */
export function message(kind, fields) {
  return /** @type {any} */ (class extends Message {
    static kind = kind;
    static fields = /** @type {Fields} */ (fields ?? {});
  });
}

/** @typedef {{ new (values?: any): Message, kind: string, fields: Fields }} Kind */

/**
 * What may be known of the links when defaults are worked out. latency is the largest one-way latency,
 * or its 99.9th percentile if it is not bounded; mean the largest mean of a link; hold the longest stay
 * in the critical section. params are the parameters before this one, or all.
 * @typedef {{ nodes: number, latency: number, mean: number, bounded: boolean, hold: number,
 *   params: { [name: string]: any } }} Network
 */

/**
 * A parameter. Its default is a value, or a function of the network.
 * @typedef {{ name: string, type: "bool" | "int" | "float" | "duration" | "enum", doc: string,
 *   default: any, min?: number, max?: number, choices?: string[], perProcess?: boolean,
 *   process?: boolean, tunes?: "patience" | "spread" }} Parameter
 */

/**
 * What an algorithm says about itself: see docs/reference/contract.md. Zero values are what most papers
 * assume: a complete network, messages in any order, no bound on delays, no faults.
 * @typedef {object} Spec
 * @property {string} summary one line
 * @property {Kind[]} messages
 * @property {{ authors: string, title: string, venue: string, year: number, doi?: string,
 *   deviations?: string }} [paper] where the rules come from
 * @property {Kind[]} [auxiliary] messages that are counted apart, such as acknowledgements
 * @property {Kind[]} [saves] what is saved and is no message
 * @property {Kind} [token] the kind that hands the token on
 * @property {Parameter[]} [parameters]
 * @property {boolean} [draws] it uses env.random
 * @property {boolean} [states] state() is the whole state; default: true
 * @property {string[]} [timers] the names that it sets, or prefixes and "*"; default: any
 * @property {(string | URL)[]} [files] the modules that it imports, beside the kit
 * @property {boolean} [perpetual] it never falls quiet
 * @property {boolean} [told] a script's suspicion starts an election
 * @property {{ parameter: string, timer: string, spread?: string, reply?: boolean }[]} [periods]
 *   what a leader repeats
 * @property {{ topology?: string, fifo?: boolean, anonymous?: boolean, synchrony?: string,
 *   detector?: string, nodes?: number }} [needs] words as in bench describe; nodes: the least number
 * @property {{ loss?: boolean, duplication?: boolean, partition?: boolean, recovery?: boolean,
 *   crashes?: number | "minority" | "all but one" }} [survives]
 * @property {{ starvationFree?: boolean, requestOrder?: boolean, announced?: boolean,
 *   leadership?: string, highest?: boolean, live?: "steady" }} [promises]
 * @property {"agreed" | "led" | "served"} [service] which outages count
 * @property {string} [breaks] what happens beyond what it survives
 * @property {(network: Network) => string | null} [doubt] why the promises do not hold
 */

/**
 * What a process knows at the start. Peers are all processes, ascending; neighbors those to which it may
 * send; weights those of the links to them; ring the order on a ring. The leader is settled before the
 * start, the holder has the token then. The incarnation is one more at every recovery. Params are those of
 * this process, with durations in nanoseconds; all has the list of each that differs between processes.
 * Saved is what the process last saved. ParamOf is the parameter of any process.
 * @typedef {{ id: number, peers: number[], neighbors: number[], weights: number[], ring: number[],
 *   leader: number, leaderDown: boolean, holder: number, incarnation: number,
 *   params: { [name: string]: any }, all: { [name: string]: any[] }, saved: Message | null,
 *   paramOf(name: string, process: number): any }} Config
 */

/** @param {any} given the config of the protocol @param {Message | null} saved @returns {Config} */
export function configOf({ leader_down: leaderDown = false, ...given }, saved = null) {
  return {
    neighbors: [], weights: [], ring: [], leader: NONE, holder: NONE, incarnation: 0, params: {}, all: {},
    ...given, leaderDown, saved,
    paramOf(name, process) { return name in this.all ? this.all[name][process - 1] : this.params[name]; },
  };
}

/** What a process may ask for, and what it may know, during one event. */
export class Env {
  /** @internal @type {(string | Message)[] | null} in JSON, or messages to itself; null: it is over */
  _effects = [];
  #config;
  /** @type {string | undefined} */
  #seed;
  /** @type {(() => number) | undefined} */
  #draw;

  /** @internal @param {Config} config @param {any} request */
  constructor(config, request) {
    this.#config = config;
    this.#seed = request.random;
    /** @type {number} the local clock, in nanoseconds */
    this.now = request.now;
    /** @type {number} of a request; 0: none */
    this.session = request.session ?? 0;
  }

  /** A number from 0 to 1, 1 excluded: the only source of randomness. Each event has its own seed. */
  random() {
    if (!this._effects || this.#seed === undefined) {
      throw new Error("env.random is used after its event, or the spec does not say draws: true");
    }
    this.#draw ??= generator(this.#seed);
    return (this.#draw() * 2 ** 21 + (this.#draw() >>> 11)) / 2 ** 53;
  }

  /** An integer from 0 to n - 1, drawn with random. @param {number} n */
  integer(n) { return Math.floor(this.random() * n); }

  /** @param {string | Message} effect */
  #ask(effect) {
    if (!this._effects) throw new Error("env is used after its event: it is valid until the handler returns");
    this._effects.push(effect);
  }

  /**
   * Sends a message. What a process sends to itself is handled right after the event.
   * @param {number} to @param {Message} message
   */
  send(to, message) {
    this.#ask(to === this.#config.id ? message : `{"send":${to},"kind":${text(message)}}`);
  }

  /** Sends to all others, in ascending order. @param {Message} message */
  broadcast(message) {
    const { id, peers } = this.#config, sent = text(message);
    for (const to of peers) if (to !== id) this.#ask(`{"send":${to},"kind":${sent}}`);
  }

  /** (Re)starts a timer. @param {string} name @param {number} after in nanoseconds */
  setTimer(name, after) { this.#ask(JSON.stringify({ set: name, after })); }

  /** Cancels a timer, if it runs. @param {string} name */
  cancelTimer(name) { this.#ask(JSON.stringify({ cancel: name })); }

  /** Enters the critical section. */
  granted() { this.#ask('{"granted":true}'); }

  /** Names a leader; NONE: this process names none any more. @param {number} leader @param {number} term */
  elected(leader, term = 0) {
    this.#ask(JSON.stringify({ elected: leader, term: term || undefined }));
  }

  /** Writes to the disk. After a crash, Config.saved is what was saved last. @param {Message} message */
  save(message) { this.#ask(`{"save":${text(message)}}`); }

  /** Writes a line to the trace. @param {string} line */
  log(line) { this.#ask(JSON.stringify({ log: line })); }
}

/** The name of the kind and the fields, in JSON. @param {Message} message */
function text(message) {
  const fields = JSON.stringify(message);
  return fields === "{}" ? `"${message.kind}"` : `"${message.kind}","msg":${fields}`;
}

/**
 * Draws 32 bits at a time, by sfc32 of Doty-Humphrey.
 * @param {string} seed 16 hexadecimal digits
 * @internal
 */
export function generator(seed) {
  let a = parseInt(seed.slice(0, 8), 16), b = parseInt(seed.slice(8), 16), c = 0, count = 1;
  const draw = () => {
    const out = (a + b + count++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + out) | 0;
    return out >>> 0;
  };
  for (let i = 0; i < 12; i++) draw();
  return draw;
}

/**
 * One process of an algorithm. Override the methods of the events that it handles.
 *
 * A variable of the process is a property of the object. Static properties and variables of the module
 * must be constants, since one program runs the processes of many trials.
 */
export class Process {
  /** @type {Spec} */
  static spec;

  /** @param {Config} config */
  constructor(config) {
    this.config = config;
    this.id = config.id;
    this.peers = config.peers;
  }

  /** Comes before any other event, also after a recovery. @param {Env} env */
  start(env) {}

  /** A message has arrived. @param {Env} env @param {number} sender @param {Message} message */
  receive(env, sender, message) { throw new Error(`${this.constructor.name} has no method receive`); }

  /** A timer has expired. @param {Env} env @param {string} timer */
  timeout(env, timer) {}

  /** The failure detector suspects a process. @param {Env} env @param {number} peer */
  suspect(env, peer) {}

  /** The failure detector trusts a process again. @param {Env} env @param {number} peer */
  restore(env, peer) {}

  /**
   * A script asks for an operation of the algorithm's own; target may be NONE.
   * @param {Env} env @param {string} op @param {number} target
   */
  do(env, op, target) {}

  /** Which local invariant does not hold, in words; called after every event. @returns {string | null} */
  invariant() { return null; }

  /**
   * The whole state, as JSON. The default is all properties but private ones (#name), with sets in
   * ascending order.
   * @returns {{ [name: string]: any }}
   */
  state() {
    const { leader, leaderDown, holder, incarnation, saved } = this.config; // the rest is constant
    return plain({ ...this, config: { leader, leaderDown, holder, incarnation, saved } });
  }
}

/** Mutual exclusion. */
export class Mutex extends Process {
  /** The application wants to enter. @param {Env} env */
  request(env) { throw new Error(`${this.constructor.name} has no method request`); }

  /** The application leaves. @param {Env} env */
  release(env) { throw new Error(`${this.constructor.name} has no method release`); }
}

/** A leader election. */
export class Election extends Process {
  /** This process starts an election. @param {Env} env */
  elect(env) { throw new Error(`${this.constructor.name} has no method elect`); }
}

/** The value as JSON, in an order that depends on nothing else. @param {any} value @returns {any} */
function plain(value) {
  if (value === undefined || value === null) return null;
  if (["boolean", "string"].includes(typeof value) || Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Set || value instanceof Map) { // short before long, so numbers ascend
    const items = [...value].map((item) => JSON.stringify(plain(item)));
    return items.sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).map((item) => JSON.parse(item));
  }
  if (typeof value !== "object") throw new TypeError(`${String(value)} has no form in JSON: override state`);
  const kind = value instanceof Message ? { kind: value.kind } : {};
  return { ...kind, ...Object.fromEntries(Object.keys(value).sort().map((k) => [k, plain(value[k])])) };
}

/**
 * A duration as Conclave prints it, such as 26ms or 1m2.5s.
 * @param {number} nanoseconds @returns {string}
 */
export function formatDuration(nanoseconds) {
  const value = Math.abs(nanoseconds), minutes = Math.floor(value / 60e9), hours = Math.floor(minutes / 60);
  const small = /** @type {[string, number][]} */ ([["ns", 1], ["µs", 1e3], ["ms", 1e6]]);
  const [unit, size] = small.find(([, size]) => 0 < value && value < 1000 * size) ?? ["s", 1e9];
  const whole = (hours ? `${hours}h` : "") + (minutes ? `${minutes % 60}m` : "");
  const rest = (value % 60e9 / size).toFixed(9).replace(/\.?0+$/, "");
  return (nanoseconds < 0 ? "-" : "") + whole + rest + unit;
}

/** The type of a field, as describe has it. @param {any} type @returns {any} */
function described(type) {
  if (Array.isArray(type)) return type.map(described);
  if (typeof type !== "object") return type;
  return { fields: Object.entries(type).map(([name, of]) => [name, described(of)]) };
}

/** A declaration, as describe has it, with keys such as starvation_free. @param {any} value @returns {any} */
function declared(value) {
  if (typeof value === "function") return { kind: value.kind, ...described(value.fields) };
  if (Array.isArray(value)) return value.map(declared);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) =>
    [key.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase()), declared(of)]));
}

/**
 * A class of processes.
 * @typedef {{ new (config: Config): Process, spec: Spec, name: string, prototype: any }} Algorithm
 */

/** Answers requests of the step protocol for one algorithm. Use serve, or conclave_local.mjs. */
export class Program {
  #algorithm;
  /** @type {Map<number, { process: any, config: Config }>} */
  #lives = new Map();
  /** @type {Map<string, Kind>} */
  #kinds;

  /** @param {Algorithm} algorithm */
  constructor(algorithm) {
    this.#algorithm = algorithm;
    const { messages, auxiliary = [], saves = [] } = algorithm.spec;
    this.#kinds = new Map([...messages, ...auxiliary, ...saves].map((kind) => [kind.kind, kind]));
  }

  /** The answer to a request, without the end of the line; null after the last. @param {string} line */
  answer(line) {
    const request = JSON.parse(line);
    if (request.on === "end") return null;
    let body;
    try {
      body = this.#answer(request);
    } catch (error) {
      body = `,"failed":${JSON.stringify(failure(error))}`;
    }
    return `{"n":${request.n}${body}}`;
  }

  /** @param {any} request @returns {string} */
  #answer(request) {
    const { on, process: number, params = {} } = request, { spec } = this.#algorithm;
    if (on === "describe") return `,"protocol":1,"spec":${JSON.stringify(this.#describe())}`;
    if (on === "default" || on === "doubt") {
      const given = on === "doubt" ? spec.doubt
        : spec.parameters?.find((p) => p.name === request.parameter)?.default;
      const value = typeof given === "function" ? given({ ...request.network, params }) : given;
      return `,"value":${JSON.stringify(value ?? null)}`;
    }
    if (on === "new") {
      const config = configOf(request.config, request.saved && this.message(request.saved));
      this.#lives.set(number, { process: new this.#algorithm(config), config });
      return "";
    }
    if (on === "drop") { // it is absent if its constructor failed
      this.#lives.delete(number);
      return "";
    }
    const life = this.#lives.get(number);
    if (!life) throw new Error(`there is no process ${number}`);
    if (on === "state") return `,"state":${JSON.stringify(life.process.state())}`;
    return this.#event(request, life.process, life.config);
  }

  /** @param {any} request @param {any} process @param {Config} config @returns {string} */
  #event(request, process, config) {
    const env = new Env(config, request), { on } = request;
    const effects = /** @type {(string | Message)[]} */ (env._effects);
    try {
      let returned = on === "receive" ? process.receive(env, request.from, this.message(request))
        : process[on](env, request.timer ?? request.peer ?? request.op, request.target ?? NONE);
      for (let i = 0; i < effects.length; i++) { // they grow meanwhile
        const effect = effects[i];
        if (typeof effect === "string") continue;
        if (i > 1 << 16) throw new Error(`${i} effects: it sends to itself in an endless loop`);
        returned = process.receive(env, config.id, effect) ?? returned;
      }
      if (returned instanceof Promise) throw new Error("a handler is async: an event has no later");
    } finally {
      env._effects = null;
    }
    const asked = effects.filter((effect) => typeof effect === "string").join(",");
    const broken = process.invariant();
    return (asked && `,"effects":[${asked}]`) + (broken ? `,"broken":${JSON.stringify(broken)}` : "");
  }

  /** The message that its name and fields in JSON stand for. @param {{ kind: string, msg?: any }} of */
  message(of) {
    const kind = this.#kinds.get(of.kind);
    if (!kind) throw new Error(`${of.kind} is not in the spec`);
    return new kind(of.msg);
  }

  #describe() {
    const { token, doubt, parameters = [], files = [], ...rest } = this.#algorithm.spec;
    const { prototype } = this.#algorithm;
    return {
      states: true, ...declared(rest), token: token?.kind, doubts: doubt !== undefined,
      problem: prototype instanceof Mutex ? "mutex" : "election",
      parameters: parameters.map(({ default: given, ...p }) =>
        ({ ...declared(p), ...(typeof given === "function" ? { asks: true } : { default: given }) })),
      handles: /** @type {const} */ (["start", "timeout", "suspect", "restore", "do"])
        .filter((on) => prototype[on] !== Process.prototype[on]),
      files: [import.meta.url, ...files].map(String)
        .map((f) => f.startsWith("file:") ? fileURLToPath(f) : path.resolve(f)),
    };
  }
}

/** The exception, and the last place outside of the kit where it passed. @param {unknown} error */
function failure(error) {
  if (!(error instanceof Error)) return `thrown: ${String(error)}`;
  const place = (error.stack ?? "").split(" at Program.answer ")[0].split("\n")
    .filter((line) => /^ +at /.test(line) && !/\(?node:/.test(line) && !line.includes(import.meta.url))
    .map((line) => /([^/\\]+:\d+):\d+\)?$/.exec(line)?.[1]).find(Boolean);
  return `${error.name}: ${error.message}` + (place ? ` (${place})` : "");
}

/** Calls until the descriptor is ready, if its other users made it nonblocking. @param {() => number} call */
function patiently(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code === "EOF") return 0; // Windows, at the end of a pipe
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

// What modules print while they are loaded waits until it is clear whether one of them serves.
const print = process.stdout.write;
/** @type {any[]} */
const printed = [];
const hold = (/** @type {any[]} */ ...given) => printed.push(given) > 0;
const release = (write = print) => {
  if (process.stdout.write !== hold) return;
  process.stdout.write = write;
  for (const given of printed) write.apply(process.stdout, given);
};
process.stdout.write = hold;
setImmediate(() => release());
process.once("exit", () => release());

/**
 * The descriptors of requests and answers. From now on, what is written to descriptor 1, also by child
 * processes, goes to standard error.
 */
function takeStreams() {
  try {
    const [requests, answers] = [0, 1, 2].map((d) => fs.openSync(`/dev/fd/${d}`, d ? "a" : "r"));
    for (const [d, file] of ["/dev/null", "/dev/fd/2", "/dev/fd/1"].entries()) { // 2 too, so that both append
      fs.closeSync(d);
      fs.openSync(file, d ? "a" : "r"); // it becomes d, the lowest that is free
    }
    release();
    return [requests, answers];
  } catch { // Windows, or sockets instead of pipes: only what is printed goes to standard error
    release(process.stderr.write.bind(process.stderr));
    return [0, 1];
  }
}

/**
 * Answers Conclave's requests until they end, if this module is the program. It is the last line of a
 * program: serve(MyLock, import.meta.url). In a module that another one imports it does nothing.
 * @param {Algorithm} algorithm @param {string} url
 */
export function serve(algorithm, url) {
  if (!process.argv[1] || fs.realpathSync(process.argv[1]) !== fs.realpathSync(fileURLToPath(url))) return;
  const [requests, answers] = takeStreams();
  Math.random = () => {
    throw new Error("Math.random differs between runs: use env.random, with draws: true in the spec");
  };
  // Left to itself, the heap grows by 40 MB for garbage. Collections keep what was compiled, and begin late.
  const flags = ["semi-space-growth-factor=1", "expose-gc", "no-flush-bytecode", "retain-maps-for-n-gc=1000"];
  for (const flag of flags) v8.setFlagsFromString("--" + flag);
  const collect = vm.runInNewContext("gc"), used = () => v8.getHeapStatistics().used_heap_size;
  const program = new Program(algorithm), decoder = new StringDecoder(), buffer = Buffer.allocUnsafe(1 << 16);
  let rest = "", answered = 0, most = 8e6;
  for (let size; (size = patiently(() => fs.readSync(requests, buffer, 0, buffer.length, null))) > 0;) {
    const lines = (rest + decoder.write(buffer.subarray(0, size))).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const answer = program.answer(line);
      if (answer === null) return;
      const data = answer + "\n", size = Buffer.byteLength(data);
      let done = patiently(() => fs.writeSync(answers, data)); // without a copy, if it takes all
      while (done < size) done += patiently(() => fs.writeSync(answers, Buffer.from(data), done));
      if (++answered % 1024 !== 0 || used() < most) continue;
      collect();
      most = 1.25 * used() + 3e6;
    }
  }
}
