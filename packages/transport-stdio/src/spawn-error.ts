import { statSync } from "node:fs";
import { displayText, TransportError } from "@harnesskit/wire";

const show = (text: string): string => `"${displayText(text, { maxLength: 200 })}"`;

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

const codeOf = (cause: unknown): string => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : "unknown";
};

const hasDirectory = (path: string): boolean => {
  try {
    return isDirectory(path);
  } catch {
    return false;
  }
};

const sentence = ({ command, cwd }: { command: string; cwd?: string }, code: string): string => {
  if (cwd !== undefined && !hasDirectory(cwd)) {
    return `the working directory ${show(cwd)} cannot be used: create it or pass another cwd`;
  }
  if (code === "ENOENT") {
    return `the command ${show(command)} was not found: install it, put it on the PATH or pass its full path`;
  }
  if (code === "EACCES") {
    return `the command ${show(command)} may not be run: make the file executable or pass another command`;
  }
  return `the command ${show(command)} could not be started (${code})`;
};

/**
 * Says why a program could not be started and what to do. Names the command and the directory; the system's own error
 * is not kept as the cause, because it repeats the arguments.
 */
export const spawnError = (options: { command: string; cwd?: string }, cause: unknown): TransportError =>
  new TransportError(sentence(options, codeOf(cause)));
