/**
 * What elections on a ring of processes that do not die share: the order of the ring, and the last lap,
 * in which all learn which process leads. It is no algorithm by itself.
 */

import { Election, NONE, message } from "../conclave.mjs";

/** Goes round with the leader's ID. */
export class Elected extends message("ELECTED", { id: "id" }) {}

/** A process with a place on the ring. */
export class OnRing extends Election {
  /** @param {import("../conclave.mjs").Config} config */
  constructor(config) {
    super(config);
    /** @type {number} the successor, in one direction or both */
    this.next = config.neighbors[config.neighbors.length - 1];
    this.leader = NONE; // as this process has learned
  }

  /**
   * Names the leader and passes that on: the lap begins, or continues. It ends where it began, since
   * that process knows the leader; or, if a second election ran anyway, where the lap of a larger ID
   * has already passed.
   * @param {import("../conclave.mjs").Env} env @param {number} leader
   */
  announce(env, leader) {
    if (leader <= this.leader) return;
    this.leader = leader;
    env.elected(leader, 1);
    env.send(this.next, new Elected({ id: leader }));
  }
}
