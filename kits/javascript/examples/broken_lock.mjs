/**
 * Ricart and Agrawala's algorithm with a mistake, for Conclave to find.
 *
 * A process that wants to enter compares the sequence numbers alone. With equal numbers both reply, so
 * two processes that ask at the same time both enter.
 */

import { serve } from "../conclave.mjs";
import { RicartAgrawala } from "./ricart_agrawala.mjs";

/** Differs from the original in one rule. */
export class BrokenLock extends RicartAgrawala {
  static spec = {
    ...RicartAgrawala.spec,
    summary: "ricart-agrawala with a mistake: equal numbers are not ordered",
    paper: undefined,
    files: [new URL("ricart_agrawala.mjs", import.meta.url)],
  };

  /** @param {import("./ricart_agrawala.mjs").Stamp} stamp */
  comesFirst({ number }) {
    return this.own.number < number;
  }
}

serve(BrokenLock, import.meta.url);
