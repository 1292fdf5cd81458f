/**
 * The election of Garcia-Molina (IEEE ToC 1982) as textbooks and lecture notes teach it, not as the
 * paper has it: by estimate, without halting and reorganizing the others. Comments cite the numbered
 * rules of that form.
 *
 * A process that misses the coordinator asks all of higher rank. If none answers within T it announces
 * itself to all of lower rank. If one answers, it leaves the election to that one and waits, for T' at
 * most, for the announcement of the winner. A process that is asked answers and holds an election of its
 * own, so the live process of highest rank wins. This relies on known delays: an answer later than T
 * leads to a second coordinator.
 */

import { Election, NONE, SLACK, formatDuration, message, serve } from "../conclave.mjs";

/** @typedef {import("../conclave.mjs").Config} Config */
/** @typedef {import("../conclave.mjs").Env} Env */
/** @typedef {import("../conclave.mjs").Message} Message */
/** @typedef {import("../conclave.mjs").Network} Network */

/** One election of one process across its crashes, so that an answer to an earlier one is not taken for
 * an answer to this one. */
const attempt = /** @type {const} */ ({ incarnation: "uint", count: "uint" });

/** Asks a process of higher rank whether it is alive. */
export class Ask extends message("ELECTION", attempt) {}

/** Its sender is alive, in answer to the attempt. */
export class Answer extends message("ANSWER", attempt) {}

/** Announces its sender. */
export class Coordinator extends message("COORDINATOR") {}

/** @typedef {"idle" | "electing" | "waiting"} Status
 * electing: ELECTION is out, no answer yet; waiting: a process of higher rank answered */

const T = "T";
const T_PRIME = "T'";

/** The default of a time-out for an answer. @param {Network} network */
const roundTrip = (network) => 3 * network.latency + SLACK;

/** Which time-out does not cover its round trip. @param {Network} network */
function tooShort({ latency, params: { t_answer, t_coordinator } }) {
  const trip = 2 * latency;
  if (t_answer < trip) return `t_answer ${formatDuration(t_answer)} is below 2d = ${formatDuration(trip)}`;
  const least = t_answer + trip;
  if (t_coordinator >= least) return null;
  return `t_coordinator ${formatDuration(t_coordinator)} is below T + 2d = ${formatDuration(least)}`;
}

export class Bully extends Election {
  /** @type {import("../conclave.mjs").Spec} */
  static spec = {
    summary: "ask all of higher rank; if none answers in time, announce yourself",
    paper: {
      authors: "H. Garcia-Molina",
      title: "Elections in a distributed computing system",
      venue: "IEEE Transactions on Computers C-31(1), 48-59", year: 1982,
      doi: "10.1109/TC.1982.1675885",
      deviations: "This is the textbook form (Coulouris et al., section 15.3; lecture notes), and " +
        "messages are counted by it. In the paper a process is down, or in the state Election, " +
        "Reorganization or Normal. A process that holds an election asks those of higher rank in " +
        "turn whether they are there, and stops at the first that answers; that one does not " +
        "hold an election because it was asked. If none answers, it HALTs all of lower rank " +
        "before it announces itself to those that heed it, and makes them READY when they are " +
        "reorganized. Here all of higher rank are asked at once, a process that is asked holds " +
        "an election, and a single COORDINATOR ends it. Ours differs from that form, too: ranks " +
        "are pairs (est, ID), since estimates may be equal. Answers name the attempt that they " +
        "answer. A process that is electing answers but does not start again " +
        "(suppress_duplicates; false is the literal text, with a number of messages exponential " +
        "in n). A coordinator that is asked announces itself to all of lower rank again " +
        "(coordinator_reply; unicast: to the asker alone). If a process of lower rank announces " +
        "itself within T after one of higher rank, a process that hears both holds an election: " +
        "the two announcements may be a race between a process that came back and one that did " +
        "not know of it.",
    },
    messages: [Ask, Answer, Coordinator],
    parameters: [
      {
        name: "t_answer", type: "duration", min: 0, default: roundTrip,
        doc: "T, how long to wait for an answer; default 3d + 20 ms, d the largest latency",
      },
      {
        name: "t_coordinator", type: "duration", min: 0,
        default: (/** @type {Network} */ network) => network.params.t_answer + roundTrip(network),
        doc: "T', how long to wait for the announcement after an answer; default T + 3d + 20 ms",
      },
      {
        name: "suppress_duplicates", type: "bool", default: true,
        doc: "a process that is electing does not start again when asked",
      },
      {
        name: "coordinator_reply", type: "enum", choices: ["broadcast", "unicast"], default: "broadcast",
        doc: "to which processes a coordinator that is asked announces itself",
      },
      {
        name: "est", type: "int", default: 0, perProcess: true,
        doc: "estimate: the rank's first part, the ID is its second",
      },
    ],
    timers: [T_PRIME, "T*"],
    needs: { synchrony: "synchronous", detector: "eventually perfect" },
    survives: { crashes: "all but one", recovery: true },
    promises: { announced: true, leadership: "eventual", highest: true, live: "steady" },
    doubt: tooShort,
    breaks: "Delays above the bound, or a partition, make several coordinators: one in each part, or " +
      "one for each process whose answers come too late. A heal alone does not end it: a process " +
      "must start an election.",
  };

  /** Starts idle, with the coordinator that is settled, if one is. @param {Config} config */
  constructor(config) {
    super(config);
    /** @type {Status} */
    this.status = "idle";
    this.coordinator = config.leader;
    /** @type {{ sender: number, at: number }[]} announcements of the last T, believed or not */
    this.heard = [];
    this.attempts = 0; // made so far in this incarnation
    /** @type {number[]} attempts without an answer: with suppression, one at most */
    this.open = [];
    /** @type {number} */
    this.t = config.params.t_answer;
    /** @type {number} */
    this.tPrime = config.params.t_coordinator;
    /** @type {boolean} */
    this.suppress = config.params.suppress_duplicates;
    this.unicast = config.params.coordinator_reply === "unicast";
  }

  /** Whether p ranks above q: by estimate, then by ID. @param {number} p @param {number} q */
  above(p, q) {
    const [e, other] = [this.config.paramOf("est", p), this.config.paramOf("est", q)];
    return e > other || (e === other && p > q);
  }

  /**
   * Rule 1: a suspicion, or a withdrawn one, starts an election unless one is in progress here.
   * @param {Env} env
   */
  elect(env) {
    if (this.status === "idle") this.begin(env);
  }

  /**
   * Rule 7: a process that comes back holds an election, and so displaces a coordinator of lower rank.
   * @param {Env} env
   */
  start(env) {
    if (this.config.incarnation > 0) this.begin(env);
  }

  /** @param {Env} env @param {number} sender @param {Message} message */
  receive(env, sender, message) {
    if (message instanceof Ask) this.onAsk(env, sender, message);
    else if (message instanceof Answer) this.onAnswer(env, message);
    else if (message instanceof Coordinator) this.onCoordinator(env, sender);
  }

  /** @param {Env} env @param {string} timer */
  timeout(env, timer) {
    if (timer !== T_PRIME) this.onSilence(env, timer);
    else this.begin(env); // rule 5: a process that answered died before it announced itself
  }

  /**
   * The body of rule 1. The suspect is asked as well: were it not, the process next to it in rank would
   * wait for nobody.
   * @param {Env} env
   */
  begin(env) {
    this.attempts++;
    const higher = this.peers.filter((p) => this.above(p, this.id));
    for (const p of higher) {
      env.send(p, new Ask({ incarnation: this.config.incarnation, count: this.attempts }));
    }
    if (higher.length === 0) {
      this.declare(env);
      return;
    }
    this.status = "electing";
    this.coordinator = NONE;
    env.elected(NONE);
    this.open.push(this.attempts);
    env.setTimer(this.answerTimer(this.attempts), this.t);
  }

  /**
   * Rules 2 and 2': answer always; hold an election only if idle.
   * @param {Env} env @param {number} sender @param {Ask} asked
   */
  onAsk(env, sender, asked) {
    env.send(sender, new Answer(asked));
    if (this.status !== "idle" && this.suppress) return; // duplicate suppression
    if (this.coordinator === this.id && this.unicast) env.send(sender, new Coordinator());
    else this.begin(env);
  }

  /**
   * Rules 3 and 3': leave the election to the process that answered.
   * @param {Env} env @param {Answer} answer
   */
  onAnswer(env, { incarnation, count }) {
    if (!this.open.includes(count) || incarnation !== this.config.incarnation) return; // an earlier attempt
    this.open = this.open.filter((a) => a !== count);
    env.cancelTimer(this.answerTimer(count));
    this.status = "waiting";
    env.setTimer(T_PRIME, this.tPrime);
  }

  /** Rule 4: T is over and nobody of higher rank answered. @param {Env} env @param {string} timer */
  onSilence(env, timer) {
    this.open = this.open.filter((a) => this.answerTimer(a) !== timer);
    this.declare(env);
  }

  /** Rule 4: this process is the coordinator, and says so to those of lower rank. @param {Env} env */
  declare(env) {
    this.status = "idle";
    this.coordinator = this.id;
    env.cancelTimer(T_PRIME);
    env.elected(this.id);
    for (const p of this.peers) if (this.above(this.id, p)) env.send(p, new Coordinator());
  }

  /**
   * Rule 6. One of lower rank that announces itself is bullied. If one of higher rank did so within T,
   * the two messages raced each other: an election tells which of the two is alive.
   * @param {Env} env @param {number} sender
   */
  onCoordinator(env, sender) {
    if (this.raced(sender, env.now) || this.above(this.id, sender)) {
      this.elect(env);
      return;
    }
    this.status = "idle";
    this.coordinator = sender;
    for (const a of this.open) env.cancelTimer(this.answerTimer(a));
    this.open = [];
    env.cancelTimer(T_PRIME);
    env.elected(sender);
  }

  /**
   * Notes an announcement, and says whether one of higher rank announced itself less than T ago.
   * @param {number} sender @param {number} now
   */
  raced(sender, now) {
    this.heard = this.heard.filter((a) => a.sender !== sender && now - a.at < this.t);
    this.heard.push({ sender, at: now });
    return this.heard.some((a) => this.above(a.sender, sender));
  }

  /** T of one attempt. With suppression there is but one at a time. @param {number} count */
  answerTimer(count) {
    return this.suppress ? T : `T of attempt ${count}`;
  }

  /**
   * With suppression there is one attempt at a time, and a process that takes part in it follows none. A
   * process that has taken part in one follows none below itself.
   */
  invariant() {
    const { status, suppress, open, coordinator, attempts } = this;
    if (suppress && (status === "electing") !== (open.length === 1)) {
      return `status ${status} with ${open.length} attempts without an answer`;
    }
    if (suppress && status !== "idle" && coordinator !== NONE) {
      return `status ${status} but follows ${coordinator}`;
    }
    if (status === "idle" && attempts > 0 && this.above(this.id, coordinator)) {
      return `follows ${coordinator} after attempt ${attempts}`;
    }
    return null;
  }
}

serve(Bully, import.meta.url);
