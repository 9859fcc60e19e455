import { ToolError } from "@harnesskit/agent-sdk";
import picomatch from "picomatch";
import type { Deadline } from "./deadline.ts";
import { maxGlobLength } from "./limits.ts";
import { RegexWorker } from "./regex-worker.ts";

/** Tells which paths a glob pattern means. Slashes separate, a leading dot is nothing special, `**` spans directories. */
export class GlobMatcher {
  readonly #pattern: string;
  readonly #worker: RegexWorker;

  /** Throws `ToolError` `tool.invalid_input` for a pattern that is none. */
  constructor(pattern: string, deadline: Deadline) {
    this.#pattern = pattern;
    const { source, flags } = compile(pattern);
    this.#worker = new RegexWorker({ source, flags }, deadline);
  }

  /** Indexes of the first `maxFound` names that match. Throws as {@link RegexWorker.matching}. */
  async matching(names: readonly string[], maxFound: number): Promise<number[]> {
    const found = await this.#worker.matching(names, maxFound);
    // As in a shell, a pattern also means the file that is called exactly so, `a[1].txt` for one.
    if (!names.includes(this.#pattern)) return found;
    const exact = [...names.keys()].filter((index) => names[index] === this.#pattern);
    return [...new Set([...found, ...exact])].sort((a, b) => a - b).slice(0, maxFound);
  }

  async close(): Promise<void> {
    await this.#worker.close();
  }
}

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
  compile(plain);
  return plain;
}

function compile(pattern: string): RegExp {
  try {
    return picomatch.makeRe(pattern, { dot: true, debug: true, maxLength: maxGlobLength });
  } catch (cause) {
    throw new ToolError("tool.invalid_input", "the glob pattern is malformed", { cause });
  }
}
