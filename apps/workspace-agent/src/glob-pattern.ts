import { ToolError } from "@harnesskit/agent-sdk";
import picomatch from "picomatch";
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

/** A glob pattern as an expression for paths. Throws `ToolError` `tool.invalid_input` for one that is malformed. */
export function compileGlob(pattern: string): RegExp {
  try {
    return picomatch.makeRe(pattern, { dot: true, debug: true, maxLength: maxGlobLength });
  } catch (cause) {
    throw new ToolError("tool.invalid_input", "the glob pattern is malformed", { cause });
  }
}
