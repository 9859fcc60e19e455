import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addFigures, inRounds } from "./rounds.mjs";

const host = fileURLToPath(new URL("./contender-host.mjs", import.meta.url));

/**
 * Starts a contender's calling side in a process of its own: side by side in one process, what one of them sends makes
 * the code that all share slower for the others. Returns `throughput`, `latency` (as in `rounds.mjs`, with the input in
 * the place of the call) and `close`.
 */
const startIsolated = async (module, name, directory) => {
  // The peers add a listener for each message that waits, which Node takes for a leak.
  const child = fork(host, [module.href, name, directory], {
    execArgv: ["--disable-warning=MaxListenersExceededWarning"],
  });
  const gone = once(child, "exit").then(() => {
    throw new Error(`${name} has ended`);
  });
  gone.catch(() => {});
  const answer = async (question) => {
    if (question) child.send(question);
    const [message] = await Promise.race([once(child, "message"), gone]);
    return message;
  };
  await answer();
  return {
    name,
    throughput: (input, options) => answer({ measure: "throughput", input, options }),
    latency: (input, options) => answer({ measure: "latency", input, options }),
    close: async () => {
      child.send({ measure: "nothing" });
      await gone.catch(() => {});
    },
  };
};

/**
 * Measures contenders of a module, which exports them as `contenders`, in processes of their own; what V8 makes of the same code differs
 * from process to process, so that `processes` are started one after the other. `warm(contender)` comes first; then the `measures`, each
 * `{ measure(contender) }`. Returns the figures of each measure.
 */
export const measureIsolated = async (
  { module, names, directory = "", processes = 1, rounds },
  warm,
  measures,
) => {
  const found = Object.fromEntries(Object.keys(measures).map((what) => [what, new Map()]));
  for (let index = 0; index < processes; index++) {
    const running = [];
    try {
      // A socket of the process before, which a contender that was ended left, is not met again.
      const own = directory && mkdtempSync(join(directory, "process-"));
      for (const name of names) running.push(await startIsolated(module, name, own));
      for (const contender of running) await warm(contender);
      for (const [what, { measure }] of Object.entries(measures))
        addFigures(found[what], await inRounds(running, rounds, measure));
    } finally {
      for (const { close } of running) await close();
    }
  }
  return found;
};
