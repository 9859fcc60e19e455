import { setTimeout as wait } from "node:timers/promises";
import { Violation } from "../crash/violation.mjs";

/** How long anything may take before it counts as never. */
const patienceMs = 40_000;
const lookEveryMs = 8;

/** Waits until `look` gives something; what it gives is returned. Throws a `Violation` that says what did not come. */
export async function waitUntil(what, look, { forMs = patienceMs } = {}) {
  const lastAt = performance.now() + forMs;
  for (;;) {
    const isLast = performance.now() > lastAt;
    const found = look();
    if (found) return found;
    if (isLast) throw new Violation(`nothing for ${forMs} ms: ${typeof what === "function" ? what() : what}`);
    await wait(lookEveryMs);
  }
}
