import { displayText } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";

/** What an agent that is installed may hold: files and links, bytes of all files, and how its paths may look. */
export const agentTreeLimits = {
  maxFiles: 5000,
  maxBytes: 64 * 1024 * 1024,
  maxPathLength: 512,
  maxDepth: 32,
} as const;

/** An agent that is not installed because of what it holds. */
export const unsafeAgent = (message: string, hint?: string): CliError =>
  new CliError("agent_unsafe", message, { hint });

/** Why a path inside of an agent is refused. */
const pathProblem = (path: string): string | undefined => {
  const { maxPathLength, maxDepth } = agentTreeLimits;
  if (path.length > maxPathLength) return `exceeds ${maxPathLength} characters`;
  const parts = path.split("/");
  if (parts.length > maxDepth) return `is deeper than ${maxDepth} directories`;
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

/** Counts what an agent holds, and refuses what is unsafe or too much before it is copied. */
export class TreeMeter {
  #files = 0;
  #bytes = 0;

  /** Throws a `CliError` `agent_unsafe`. */
  add(path: string, bytes: number): void {
    const problem = pathProblem(path);
    if (problem !== undefined) throw unsafeAgent(`the path ${path} of the agent ${problem}`);
    const { maxFiles, maxBytes } = agentTreeLimits;
    if (++this.#files > maxFiles)
      throw unsafeAgent(`the agent holds more than ${maxFiles} files`, bundleHint);
    this.#bytes += bytes;
    if (this.#bytes > maxBytes) throw unsafeAgent(`the agent holds more than ${maxBytes} bytes`, bundleHint);
  }
}
