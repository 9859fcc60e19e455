import { displayText } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";
import type { AgentTreeLimits } from "./agent-limits.ts";

/** An agent that is not installed because of what it holds. */
export const unsafeAgent = (message: string, hint?: string): CliError =>
  new CliError("agent_unsafe", message, hint === undefined ? {} : { hint });

/** Why a path inside of an agent is refused. */
const pathProblem = (path: string, limits: AgentTreeLimits): string | undefined => {
  if (path.length > limits.maxPathLength) return `exceeds ${limits.maxPathLength} characters`;
  const parts = path.split("/");
  if (parts.length > limits.maxDepth) return `is deeper than ${limits.maxDepth} directories`;
  if (parts.some((part) => part === "" || part === "." || part === "..") || path.includes("\\")) {
    return "leads out of the agent, or is not a plain path";
  }
  return displayText(path) === path ? undefined : "has characters that cannot be shown";
};

/** What to do about an agent that holds too much. */
const bundleHint = `Bundle the agent into one file, or pack it with the packages that it needs (npm pack with bundleDependencies). One file:
  npx esbuild agent.mjs --bundle --platform=node --format=esm --outfile=bundle/agent.mjs
  cp opensentience.agent.json bundle/
  harness agents install ./bundle`;

/** The directory that a path is counted for: the packages that it belongs to, or else the first one. */
const countedFor = (path: string): string | undefined =>
  /^(?:.*?\/)?node_modules(?=\/|$)/.exec(path)?.[0] ?? /^[^/]+(?=\/)/.exec(path)?.[0];

/** Counts what an agent holds, and refuses what is unsafe or too much before it is read. */
export class TreeMeter {
  readonly #limits: AgentTreeLimits;
  #files = 0;
  readonly #filesOf = new Map<string, number>();
  #bytes = 0;

  constructor(limits: AgentTreeLimits) {
    this.#limits = limits;
  }

  get bytesLeft(): number {
    return this.#limits.maxBytes - this.#bytes;
  }

  /** Throws a `CliError` `agent_unsafe`. */
  path(path: string): void {
    const problem = pathProblem(path, this.#limits);
    if (problem !== undefined) throw unsafeAgent(`the path ${path} of the agent ${problem}`);
    const { maxFiles } = this.#limits;
    if (this.#files === maxFiles) {
      throw unsafeAgent(`the agent holds more than ${maxFiles} files${this.#largest()}`, bundleHint);
    }
    this.#files++;
    const directory = countedFor(path);
    if (directory !== undefined) this.#filesOf.set(directory, (this.#filesOf.get(directory) ?? 0) + 1);
  }

  /** The directory with most of what was counted. */
  #largest(): string {
    const [largest] = [...this.#filesOf].sort(([, a], [, b]) => b - a);
    if (largest === undefined) return "";
    const [directory, files] = largest;
    return `: ${files} of the first ${this.#files} are in ${directory}`;
  }

  /** Throws a `CliError` `agent_unsafe`. */
  bytes(count: number): void {
    this.#bytes += count;
    if (this.bytesLeft < 0) {
      throw unsafeAgent(`the agent holds more than ${this.#limits.maxBytes} bytes`, bundleHint);
    }
  }
}
