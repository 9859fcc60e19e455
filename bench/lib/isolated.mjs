import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const host = fileURLToPath(new URL("./contender-host.mjs", import.meta.url));

/**
 * Starts a contender's calling side in a process of its own: side by side in one process, what one of them sends makes
 * the code that all share slower for the others. Takes the URL of a module that exports `contenders`, a contender's
 * name and the directory that its `start` gets. Returns `throughput`, `latency` (as in `rounds.mjs`, with the input in
 * the place of the call) and `close`.
 */
export const startIsolated = async (module, name, directory) => {
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
