import { Worker } from "node:worker_threads";
import { ToolError } from "@harnesskit/agent-sdk";
import type { Deadline } from "./deadline.ts";
import { compileGlob } from "./glob-pattern.ts";

const maxHeapMb = 256;

const program = `
const { parentPort, workerData } = require("node:worker_threads");
const { source, flags, names, maxFound } = workerData;
const expression = new RegExp(source, flags);
const found = [];
for (let index = 0; index < names.length && found.length < maxFound; index++)
  if (expression.test(names[index])) found.push(index);
parentPort.postMessage(found);
`;

/**
 * The indexes of the first `maxFound` names that a glob pattern means. Slashes separate, a leading dot is nothing special,
 * `**` spans directories. It runs in a thread of its own, so that a pattern made to be slow ends at the deadline.
 * Throws `ToolError` `tool.timeout`, `tool.canceled`, or `tool.failed` if the pattern needs too much memory.
 */
export async function matchNames(
  pattern: string,
  names: readonly string[],
  maxFound: number,
  deadline: Deadline,
): Promise<number[]> {
  deadline.throwIfOver();
  const { source, flags } = compileGlob(pattern);
  const worker = new Worker(program, {
    eval: true,
    workerData: { source, flags, names, maxFound },
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const end = () => void worker.terminate();
  deadline.signal.addEventListener("abort", end, { once: true });
  try {
    const found = await new Promise<number[] | undefined>((resolve) => {
      worker.once("message", resolve);
      // What went wrong does not matter: the thread has ended without a result.
      worker.once("error", () => resolve(undefined));
      worker.once("exit", () => resolve(undefined));
    });
    deadline.throwIfOver();
    if (found === undefined) throw new ToolError("tool.failed", "the glob pattern needs too much memory");
    return withExact(pattern, names, found).slice(0, maxFound);
  } finally {
    deadline.signal.removeEventListener("abort", end);
    await worker.terminate();
  }
}

/** As in a shell, a pattern also means the file that is called exactly so, `a[1].txt` for one. */
function withExact(pattern: string, names: readonly string[], found: readonly number[]): number[] {
  const exact = [...names.keys()].filter((index) => names[index] === pattern);
  return [...new Set([...found, ...exact])].sort((a, b) => a - b);
}
