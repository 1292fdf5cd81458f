/**
 * The permission algorithm of Ricart and Agrawala (CACM 1981).
 *
 * A process that wants to enter asks all others and enters when all have replied. A process that wants
 * to enter itself, or is inside, compares the two requests: to the later one it replies only when it
 * leaves. Requests are ordered by the sequence number that each carries, one above the highest that its
 * sender had seen, and equal numbers by process. So of any two requests one waits for the other, and
 * never both. There is no RELEASE: the deferred replies take its place.
 */

import { Mutex, message, serve } from "../conclave.mjs";

/** @typedef {import("../conclave.mjs").Config} Config */
/** @typedef {import("../conclave.mjs").Env} Env */
/** @typedef {import("../conclave.mjs").Message} Message */
/** @typedef {import("../conclave.mjs").Spec} Spec */

/**
 * Orders requests: by sequence number, and equal ones by process.
 * @typedef {{ number: number, id: number }} Stamp
 */

/** Asks its receiver for permission to enter. */
export class Request extends message("REQUEST", { number: "uint", id: "id" }) {}

/** Gives permission to the request that it names. */
export class Reply extends message("REPLY", { number: "uint", id: "id" }) {}

/** The variables have the paper's meaning; Outstanding_Reply_Count is the set needed. */
export class RicartAgrawala extends Mutex {
  /** @type {Spec} */
  static spec = {
    summary: "ask all others; a process that asked earlier or is inside replies when it leaves",
    paper: {
      authors: "G. Ricart, A. K. Agrawala",
      title: "An optimal algorithm for mutual exclusion in computer networks",
      venue: "CACM 24(1), 9-17", year: 1981, doi: "10.1145/358527.358537",
      deviations: "A REPLY names the request that it answers, and those that have replied are kept " +
        "as a set; the paper counts bare REPLYs. So duplicates change nothing. A process that " +
        "comes back numbers its requests beyond those of its former life.",
    },
    messages: [Request, Reply],
    timers: [],
    survives: { duplication: true },
    promises: { starvationFree: true },
    breaks: "Any crash blocks it, also of a process that does not want to enter, and so does a lost " +
      "message: a process that asks afterwards lacks one reply forever.",
  };

  /**
   * Starts with no request and no number seen. A process that comes back from a crash counts on beyond
   * its former life, or its requests would come before those inside.
   * @param {Config} config
   */
  constructor(config) {
    super(config);
    this.highest = config.incarnation * 2 ** 32; // sequence number seen in any request
    /** @type {Stamp} of the present request, otherwise of the last one */
    this.own = { number: 0, id: 0 };
    this.requesting = false; // from the request until the release
    /** @type {Set<number>} whose replies are still to come */
    this.needed = new Set();
    /** @type {Stamp[]} requests to be answered at the release */
    this.deferred = [];
  }

  /** Rule 1: choose a number above all that were seen, and ask. @param {Env} env */
  request(env) {
    this.requesting = true;
    this.own = { number: this.highest + 1, id: this.id };
    this.needed = new Set(this.peers.filter((p) => p !== this.id));
    env.broadcast(new Request(this.own));
    this.enterIfAllowed(env);
  }

  /** @param {Env} env @param {number} sender @param {Message} message */
  receive(env, sender, message) {
    if (message instanceof Request) this.onRequest(env, message);
    else if (message instanceof Reply) this.onReply(env, sender, message);
  }

  /**
   * Rule 2. What counts is the number of the own request, not the highest seen since. Inside the
   * critical section, too: whatever comes before the own request was over when its sender replied.
   * @param {Env} env @param {Request} request
   */
  onRequest(env, { number, id }) {
    this.highest = Math.max(this.highest, number);
    if (this.requesting && this.comesFirst({ number, id })) this.deferred.push({ number, id });
    else env.send(id, new Reply({ number, id }));
  }

  /** Whether the own request comes before another. @param {Stamp} stamp */
  comesFirst({ number, id }) {
    return this.own.number < number || (this.own.number === number && this.own.id < id);
  }

  /**
   * Rule 3. A reply to an earlier request changes nothing.
   * @param {Env} env @param {number} sender @param {Reply} reply
   */
  onReply(env, sender, { number, id }) {
    if (number === this.own.number && id === this.own.id && this.needed.delete(sender)) {
      this.enterIfAllowed(env);
    }
  }

  /** @param {Env} env */
  enterIfAllowed(env) {
    if (this.needed.size === 0) env.granted();
  }

  /** Rule 4: the answers that others have been waiting for. @param {Env} env */
  release(env) {
    this.requesting = false;
    for (const stamp of this.deferred) env.send(stamp.id, new Reply(stamp));
    this.deferred = [];
  }

  /**
   * What the paper's proof rests on: only a requester waits or makes others wait, and those come after
   * it.
   */
  invariant() {
    if (!this.requesting && this.needed.size + this.deferred.length > 0) {
      return "not requesting, but replies are due";
    }
    const early = this.deferred.find((stamp) => !this.comesFirst(stamp));
    return early ? `request ${early.number} of ${early.id} is deferred, but comes before ours` : null;
  }
}

serve(RicartAgrawala, import.meta.url);
