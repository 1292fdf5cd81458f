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
import { fileURLToPath } from "node:url";
import v8 from "node:v8";

export const PROTOCOL = 1;
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
  /** The name of the kind. @returns {string} */
  get kind() {
    return /** @type {typeof Message} */ (this.constructor).kind;
  }
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
  const names = Object.keys(fields ?? {});
  const made = class extends Message {
    static kind = kind;
    /** @type {Fields} */
    static fields = fields ?? {};
    /** @param {any} values */
    constructor(values) {
      super();
      for (const name of names) /** @type {any} */ (this)[name] = values[name];
    }
  };
  return /** @type {any} */ (made);
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

/** What a process knows at the start. */
export class Config {
  /** @param {any} given the config of the protocol @param {Message | null} saved */
  constructor(given, saved = null) {
    /** @type {number} */
    this.id = given.id;
    /** @type {number[]} all processes, ascending */
    this.peers = given.peers;
    /** @type {number[]} to which it may send */
    this.neighbors = given.neighbors ?? [];
    /** @type {number[]} of the links to them */
    this.weights = given.weights ?? [];
    /** @type {number[]} the order on a ring */
    this.ring = given.ring ?? [];
    /** @type {number} settled before the start */
    this.leader = given.leader ?? NONE;
    /** @type {boolean} */
    this.leaderDown = given.leader_down ?? false;
    /** @type {number} of the token at the start */
    this.holder = given.holder ?? NONE;
    /** @type {number} one more at every recovery */
    this.incarnation = given.incarnation ?? 0;
    /** @type {{ [name: string]: any }} of this process; durations in nanoseconds */
    this.params = given.params ?? {};
    /** @type {{ [name: string]: any[] }} of each parameter that differs, in the order of IDs */
    this.all = given.all ?? {};
    /** What the process last saved. */
    this.saved = saved;
  }

  /** The parameter of any process. @param {string} name @param {number} process @returns {any} */
  paramOf(name, process) {
    return name in this.all ? this.all[name][process - 1] : this.params[name];
  }
}

/** Stands for the effects of an event that is over. */
const OVER = /** @type {any} */ ({
  push() {
    throw new Error("env is used after its event: it is valid until the handler returns");
  },
});

/** What a process may ask for, and what it may know, during one event. */
export class Env {
  /** The local clock, in nanoseconds. */
  now = 0;
  /** Of a request; 0: none. */
  session = 0;
  /** @internal @type {string[]} in JSON */
  _effects = OVER;
  /** @internal @type {Message[]} to itself */
  _own = OVER;
  /** @internal @type {string | undefined} */
  _seed = undefined;
  /** @type {(() => number) | null} */
  #draw = null;
  #id;
  #others;

  /** @param {Config} config */
  constructor(config) {
    this.#id = config.id;
    this.#others = config.peers.filter((p) => p !== config.id);
  }

  /** @internal @param {any} request @param {string[]} effects @param {Message[]} own */
  _begin(request, effects, own) {
    this.now = request.now;
    this.session = request.session ?? 0;
    this._effects = effects;
    this._own = own;
    this._seed = request.random;
    this.#draw = null;
  }

  /** A number from 0 to 1, 1 excluded: the only source of randomness. Each event has its own seed. */
  random() {
    if (this._effects === OVER) OVER.push();
    if (this._seed === undefined) {
      throw new Error("env.random is used, but the spec does not say draws: true");
    }
    this.#draw ??= generator(this._seed);
    return (this.#draw() * 2 ** 21 + (this.#draw() >>> 11)) / 2 ** 53;
  }

  /** An integer from 0 to n - 1, drawn with random. @param {number} n */
  integer(n) {
    return Math.floor(this.random() * n);
  }

  /**
   * Sends a message. What a process sends to itself is handled right after the event.
   * @param {number} to @param {Message} message
   */
  send(to, message) {
    if (to === this.#id) this._own.push(message);
    else this._effects.push(`{"send":${to},"kind":${text(message)}}`);
  }

  /** Sends to all others, in ascending order. @param {Message} message */
  broadcast(message) {
    const sent = text(message);
    for (const to of this.#others) this._effects.push(`{"send":${to},"kind":${sent}}`);
  }

  /** (Re)starts a timer. @param {string} name @param {number} after in nanoseconds */
  setTimer(name, after) {
    this._effects.push(JSON.stringify({ set: name, after }));
  }

  /** Cancels a timer, if it runs. @param {string} name */
  cancelTimer(name) {
    this._effects.push(JSON.stringify({ cancel: name }));
  }

  /** Enters the critical section. */
  granted() {
    this._effects.push('{"granted":true}');
  }

  /** Names a leader; NONE: this process names none any more. @param {number} leader @param {number} term */
  elected(leader, term = 0) {
    this._effects.push(JSON.stringify(term ? { elected: leader, term } : { elected: leader }));
  }

  /** Writes to the disk. After a crash, Config.saved is what was saved last. @param {Message} message */
  save(message) {
    this._effects.push(`{"save":${text(message)}}`);
  }

  /** Writes a line to the trace. @param {string} line */
  log(line) {
    this._effects.push(JSON.stringify({ log: line }));
  }
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
  receive(env, sender, message) {
    throw new Error(`${this.constructor.name} has no method receive`);
  }

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
  invariant() {
    return null;
  }

  /**
   * The whole state, as JSON. The default is all properties but private ones (#name), with sets in
   * ascending order.
   * @returns {{ [name: string]: any }}
   */
  state() {
    return plain({ ...this });
  }
}

/** Mutual exclusion. */
export class Mutex extends Process {
  /** The application wants to enter. @param {Env} env */
  request(env) {
    throw new Error(`${this.constructor.name} has no method request`);
  }

  /** The application leaves. @param {Env} env */
  release(env) {
    throw new Error(`${this.constructor.name} has no method release`);
  }
}

/** A leader election. */
export class Election extends Process {
  /** This process starts an election. @param {Env} env */
  elect(env) {
    throw new Error(`${this.constructor.name} has no method elect`);
  }
}

/** The value as JSON, in an order that depends on nothing else. @param {any} value @returns {any} */
function plain(value) {
  if (value === undefined || value === null) return null;
  if (["boolean", "string"].includes(typeof value) || Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Set || value instanceof Map) return [...value].map(plain).sort(ascending);
  if (typeof value !== "object") throw new TypeError(`${String(value)} has no form in JSON: override state`);
  if (value instanceof Config) { // what can differ between two lives of one process
    const { leader, leaderDown, holder, incarnation, saved } = value;
    return plain({ leader, leaderDown, holder, incarnation, saved });
  }
  const kind = value instanceof Message ? { kind: value.kind } : {};
  return { ...kind, ...Object.fromEntries(Object.keys(value).sort().map((k) => [k, plain(value[k])])) };
}

/** Orders values in JSON, numbers by value. @param {any} a @param {any} b @returns {number} */
function ascending(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [x, y] = [JSON.stringify(a), JSON.stringify(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/**
 * A duration as Conclave prints it, such as 26ms or 1m2.5s.
 * @param {number} nanoseconds @returns {string}
 */
export function formatDuration(nanoseconds) {
  if (nanoseconds < 0) return "-" + formatDuration(-nanoseconds);
  const decimal = (/** @type {number} */ value, /** @type {number} */ size) =>
    (value / size).toFixed(9).replace(/\.?0+$/, "");
  for (const [at, unit] of ["ns", "µs", "ms"].entries()) {
    const size = 1000 ** at;
    if (0 < nanoseconds && nanoseconds < 1000 * size) return decimal(nanoseconds, size) + unit;
  }
  const minutes = Math.floor(nanoseconds / 60e9), hours = Math.floor(minutes / 60);
  const prefix = (hours ? `${hours}h` : "") + (minutes ? `${minutes % 60}m` : "");
  return prefix + decimal(nanoseconds % 60e9, 1e9) + "s";
}

/** The fields of a kind, as describe has them. @param {Fields} fields @returns {[string, any][]} */
function describeFields(fields) {
  return Object.entries(fields).map(([name, type]) => [name, describeType(type)]);
}

/** @param {any} type @returns {any} */
function describeType(type) {
  if (Array.isArray(type)) return type.map(describeType);
  return typeof type === "object" ? { fields: describeFields(type) } : type;
}

/** Keys as the protocol writes them: starvation_free. @param {any} value @returns {any} */
function snake(value) {
  if (Array.isArray(value)) return value.map(snake);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) =>
    [k.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase()), snake(v)]));
}

/**
 * A class of processes.
 * @typedef {{ new (config: Config): Process, spec: Spec, name: string, prototype: any }} Algorithm
 */

/** Answers requests of the step protocol for one algorithm. Use serve, or conclave_local.mjs. */
export class Program {
  #algorithm;
  #spec;
  #checked;
  /** @type {Map<number, { process: any, env: Env }>} */
  #lives = new Map();
  /** @type {Map<string, Kind>} */
  #kinds = new Map();

  /** @param {Algorithm} algorithm */
  constructor(algorithm) {
    this.#algorithm = algorithm;
    this.#spec = algorithm.spec;
    this.#checked = algorithm.prototype.invariant !== Process.prototype.invariant;
    const { messages, auxiliary = [], saves = [] } = this.#spec;
    for (const kind of [...messages, ...auxiliary, ...saves]) this.#kinds.set(kind.kind, kind);
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
    switch (request.on) {
      case "describe":
        return `,"protocol":${PROTOCOL},"spec":${JSON.stringify(this.#describe())}`;
      case "default": {
        const given = this.#spec.parameters?.find((p) => p.name === request.parameter)?.default;
        return value(typeof given === "function" ? given(network(request)) : given);
      }
      case "doubt":
        return value(this.#spec.doubt?.(network(request)));
      case "new": {
        const config = new Config(request.config, request.saved ? this.message(request.saved) : null);
        this.#lives.set(request.process, { process: new this.#algorithm(config), env: new Env(config) });
        return "";
      }
      case "drop":
        this.#lives.delete(request.process); // absent if its constructor failed
        return "";
    }
    const life = this.#lives.get(request.process);
    if (!life) throw new Error(`there is no process ${request.process}`);
    if (request.on === "state") return `,"state":${JSON.stringify(life.process.state())}`;
    return this.#event(request, life.process, life.env);
  }

  /** @param {any} request @param {any} process @param {Env} env @returns {string} */
  #event(request, process, env) {
    /** @type {string[]} */
    const effects = [];
    /** @type {Message[]} */
    const own = [];
    env._begin(request, effects, own);
    try {
      let returned = this.#call(request, process, env);
      for (let i = 0; i < own.length; i++) { // own grows meanwhile
        if (i === 1 << 16) throw new Error(`it sent itself ${i} messages in one event: an endless loop`);
        returned = process.receive(env, process.id, own[i]) ?? returned;
      }
      if (returned instanceof Promise) throw new Error("a handler is async: an event has no later");
    } finally {
      env._effects = env._own = OVER;
    }
    const broken = this.#checked ? process.invariant() : null;
    return (effects.length ? `,"effects":[${effects.join(",")}]` : "") +
      (broken ? `,"broken":${JSON.stringify(broken)}` : "");
  }

  /** @param {any} request @param {any} process @param {Env} env @returns {unknown} */
  #call(request, process, env) {
    switch (request.on) {
      case "receive": return process.receive(env, request.from, this.message(request));
      case "timeout": return process.timeout(env, request.timer);
      case "do": return process.do(env, request.op, request.target ?? NONE);
      case "suspect": case "restore": return process[request.on](env, request.peer);
      case "start": case "request": case "release": case "elect": return process[request.on](env);
    }
    throw new Error(`there is no request ${request.on}`);
  }

  /** The message that its name and fields in JSON stand for. @param {{ kind: string, msg?: any }} of */
  message(of) {
    const kind = this.#kinds.get(of.kind);
    if (!kind) throw new Error(`${of.kind} is not in the spec`);
    return new kind(of.msg);
  }

  #describe() {
    const { token, parameters = [], files = [], doubt, ...rest } = this.#spec;
    const { prototype } = this.#algorithm;
    const kinds = (/** @type {Kind[]} */ list = []) =>
      list.map(({ kind, fields }) => ({ kind, fields: describeFields(fields) }));
    return {
      states: true,
      ...snake(rest),
      problem: prototype instanceof Mutex ? "mutex" : "election",
      messages: kinds(rest.messages), auxiliary: kinds(rest.auxiliary), saves: kinds(rest.saves),
      token: token?.kind,
      parameters: parameters.map((p) =>
        snake(typeof p.default === "function" ? { ...p, default: undefined, asks: true } : p)),
      handles: /** @type {const} */ (["start", "timeout", "suspect", "restore", "do"])
        .filter((on) => prototype[on] !== Process.prototype[on]),
      doubts: doubt !== undefined,
      files: [import.meta.url, ...files].map(String)
        .map((f) => f.startsWith("file:") ? fileURLToPath(f) : path.resolve(f)),
    };
  }
}

/** @param {any} given */
function value(given) {
  return `,"value":${JSON.stringify(given ?? null)}`;
}

/** @param {any} request @returns {Network} */
function network(request) {
  return { ...request.network, params: request.params ?? {} };
}

/** The exception, and the last place outside of the kit where it passed. @param {unknown} error */
function failure(error) {
  if (!(error instanceof Error)) return `thrown: ${String(error)}`;
  const place = (error.stack ?? "").split(" at Program.answer ")[0].split("\n")
    .filter((line) => /^ +at /.test(line) && !/\(?node:/.test(line) && !line.includes(import.meta.url))
    .map((line) => /([^/\\]+:\d+):\d+\)?$/.exec(line)?.[1]).find(Boolean);
  return `${error.name}: ${error.message}` + (place ? ` (${place})` : "");
}

/** Writes all of it. @param {number} descriptor @param {string | Uint8Array} data */
function write(descriptor, data) {
  const size = Buffer.byteLength(data);
  let done = patiently(() => fs.writeSync(descriptor, /** @type {string} */ (data)));
  while (done < size) done += patiently(() => fs.writeSync(descriptor, Buffer.from(data), done));
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
/** @type {any[][]} */
const printed = [];
process.stdout.write = (/** @type {any[]} */ ...given) => printed.push(given) > 0;
const release = () => {
  if (process.stdout.write === toError) return;
  process.stdout.write = print;
  for (const given of printed.splice(0)) process.stdout.write(.../** @type {[any]} */ (given));
};
setImmediate(release);
process.once("exit", release);

/**
 * Writes to standard error instead of standard output.
 * @param {string | Uint8Array} data @param {any[]} rest
 */
function toError(data, ...rest) {
  write(2, data);
  rest.find((r) => typeof r === "function")?.();
  return true;
}

/** What is printed goes to standard error; what is random comes from env. */
function redirect() {
  process.stdout.write = toError;
  for (const [data, ...rest] of printed.splice(0)) toError(data, ...rest);
  Math.random = () => {
    throw new Error("Math.random differs between runs: use env.random, with draws: true in the spec");
  };
}

/**
 * Answers Conclave's requests until they end, if this module is the program. It is the last line of a
 * program: serve(MyLock, import.meta.url). In a module that another one imports it does nothing.
 * @param {Algorithm} algorithm @param {string} url
 */
export function serve(algorithm, url) {
  if (!process.argv[1] || fs.realpathSync(process.argv[1]) !== fs.realpathSync(fileURLToPath(url))) return;
  redirect();
  v8.setFlagsFromString("--semi-space-growth-factor=1"); // or the heap grows by 40 MB for garbage
  const program = new Program(algorithm);
  const buffer = Buffer.allocUnsafe(1 << 16);
  /** @type {Buffer[]} the beginning of a line, in earlier chunks */
  let begun = [];
  for (;;) {
    const size = patiently(() => fs.readSync(0, buffer, 0, buffer.length, null));
    if (size === 0) return;
    let from = 0;
    for (let end; (end = buffer.subarray(0, size).indexOf(10, from)) >= 0; from = end + 1) {
      const line = begun.length === 0 ? buffer.toString("utf8", from, end)
        : Buffer.concat([...begun, buffer.subarray(from, end)]).toString();
      begun = [];
      const answer = program.answer(line);
      if (answer === null) return;
      write(1, answer + "\n");
    }
    if (from < size) begun.push(Buffer.from(buffer.subarray(from, size)));
  }
}
