/**
 * The election on a ring of Chang and Roberts (CACM 1979).
 *
 * A process that wants an election sends its ID round the ring, in one direction. A process that takes
 * part itself passes larger IDs on, and swallows smaller ones. So the largest comes round, and its
 * process leads. It says so in a second lap. How many messages that takes depends on the order of the
 * IDs: about twice N if they ascend in the direction of the messages, half of N squared if they descend,
 * and N times the N-th harmonic number on average.
 */

import { message, serve } from "../conclave.mjs";
import { Elected, OnRing } from "./lap.mjs";

/** @typedef {import("../conclave.mjs").Env} Env */

/** Goes round the ring with the ID of the process that wants to lead. */
export class Probe extends message("PROBE", { id: "id" }) {}

const PASSING = "relay_makes_passive";

export class ChangRoberts extends OnRing {
  /** @type {import("../conclave.mjs").Spec} */
  static spec = {
    summary: "on a ring; each passes larger IDs on, so that the largest returns to its sender",
    paper: {
      authors: "E. Chang, R. Roberts",
      title: "An improved algorithm for decentralized extrema-finding in circular " +
        "configurations of processes",
      venue: "CACM 22(5), 281-283", year: 1979, doi: "10.1145/359104.359108",
      deviations: "With mode initiators-only, a process that has passed an ID on does not want to " +
        "lead any more. With mode join, it puts its own ID in place of a smaller one, so that " +
        "the largest of all processes leads. There is one election: a later request for another " +
        "is ignored.",
    },
    messages: [Probe, Elected],
    parameters: [
      {
        name: "mode", type: "enum", choices: ["initiators-only", "join"], default: "initiators-only",
        doc: "which processes may lead: those that wanted an election, or all",
      },
      {
        name: PASSING, type: "bool", default: true,
        doc: "a process that has passed an ID on does not want to lead any more; without this rule " +
          "two may",
      },
    ],
    timers: [],
    files: [new URL("lap.mjs", import.meta.url)],
    needs: { topology: "ring" },
    promises: { announced: true, leadership: "at most one" },
    doubt: ({ params }) => params[PASSING] ? null
      : `${PASSING} is false: a process whose ID comes behind that of the winner wins too`,
    breaks: "Any crash opens the ring, and a lost message is not sent again: no process leads, or " +
      "some never learn of the leader.",
  };

  /** Has heard of no election. @param {import("../conclave.mjs").Config} config */
  constructor(config) {
    super(config);
    this.join = config.params.mode === "join";
    /** @type {boolean} it does not want to lead once it has passed an ID on */
    this.passive = config.params[PASSING];
    this.taken = false; // part in the election, if only by passing an ID on
    this.candidate = false; // its own ID went out
  }

  /** Sends the own ID out, unless it is too late. @param {Env} env */
  elect(env) {
    if (this.taken) return;
    this.taken = this.candidate = true;
    env.send(this.next, new Probe({ id: this.id }));
  }

  /** @param {Env} env @param {number} _ @param {import("../conclave.mjs").Message} message */
  receive(env, _, message) {
    if (message instanceof Probe) this.onProbe(env, message.id);
    else if (message instanceof Elected) this.announce(env, message.id);
  }

  /** @param {Env} env @param {number} id */
  onProbe(env, id) {
    if (id === this.id) { // it has come round
      this.announce(env, id);
    } else if (id < this.id && this.candidate) {
      // swallowed
    } else if (id < this.id && this.join && !this.taken) {
      this.elect(env);
    } else {
      this.taken ||= this.passive;
      env.send(this.next, new Probe({ id }));
    }
  }
}

serve(ChangRoberts, import.meta.url);
