import { Worker } from "node:worker_threads";
import { ToolError } from "@harnesskit/agent-sdk";
import picomatch from "picomatch";
import type { Deadline } from "./deadline.ts";
import { maxGlobLength } from "./limits.ts";

/**
 * The canonical spelling of a glob pattern. Throws `ToolError` `tool.invalid_input` for one that is empty, malformed or
 * leads out of the directory it is relative to.
 */
export function normaliseGlob(pattern: string): string {
  const plain = pattern.replace(/^(?:\.\/+)+/, "");
  if (plain === "") throw new ToolError("tool.invalid_input", "the glob pattern is empty");
  if (plain.startsWith("/"))
    throw new ToolError("tool.invalid_input", "the glob pattern is absolute; use path");
  if (plain.split("/").includes(".."))
    throw new ToolError("tool.outside_workspace", "the glob pattern leads upwards with ..");
  compileGlob(plain);
  return plain;
}

function compileGlob(pattern: string): RegExp {
  try {
    return picomatch.makeRe(pattern, { dot: true, debug: true, maxLength: maxGlobLength });
  } catch (cause) {
    throw new ToolError("tool.invalid_input", "the glob pattern is malformed", { cause });
  }
}

const maxHeapMb = 256;

const program = `
const { parentPort, workerData } = require("node:worker_threads");
const { source, flags, names } = workerData;
const expression = new RegExp(source, flags);
parentPort.postMessage([...names.keys()].filter((index) => expression.test(names[index])));
`;

/**
 * The indexes of the names that a glob pattern matches. Slashes separate, a leading dot is nothing special,
 * `**` spans directories. Runs in its own thread, so that a pathological pattern ends at the deadline.
 * Throws `ToolError` `tool.timeout`, `tool.canceled`, or `tool.failed` if the pattern needs too much memory.
 */
export async function matchNames(
  pattern: string,
  names: readonly string[],
  deadline: Deadline,
): Promise<number[]> {
  deadline.throwIfOver();
  const { source, flags } = compileGlob(pattern);
  const worker = new Worker(program, {
    eval: true,
    workerData: { source, flags, names },
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
    // As in a shell, a pattern also matches the file with exactly that name, such as `a[1].txt`.
    const exact = [...names.keys()].filter((index) => names[index] === pattern);
    return [...new Set([...found, ...exact])].sort((a, b) => a - b);
  } finally {
    deadline.signal.removeEventListener("abort", end);
    await worker.terminate();
  }
}
