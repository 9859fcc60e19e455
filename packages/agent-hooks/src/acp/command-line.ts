import { shellWord } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

/** A program's name or path that a shell reads as nothing else. */
const isPlain = (program: string): boolean => /^[\w@%+:,./-]+$/.test(program);

const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

const assignments = (env: unknown): string | undefined => {
  if (env === undefined || env === null) return "";
  if (!Array.isArray(env)) return undefined;
  const words: string[] = [];
  for (const one of env) {
    const { name, value } = isObject(one) ? (one as { name?: unknown; value?: unknown }) : {};
    if (typeof name !== "string" || !/^[A-Za-z_]\w*$/.test(name) || typeof value !== "string")
      return undefined;
    words.push(`${name}=${shellWord(value)} `);
  }
  return words.join("");
};

/**
 * A command as the one line that policies judge; undefined where it could be read in more than one way. Agents put a whole line into `command`
 * and have the client run it by a shell; with `args`, or as an array, it is a program and its arguments.
 */
export const commandLine = (command: unknown, args?: unknown, env?: unknown): string | undefined => {
  const before = assignments(env);
  if (before === undefined) return undefined;
  if (isStrings(command))
    return args === undefined ? commandLine(command[0], command.slice(1), env) : undefined;
  if (typeof command !== "string" || command.trim() === "") return undefined;
  if (args === undefined || args === null) return before + command;
  if (!isStrings(args)) return undefined;
  if (args.length === 0) return before + command;
  return isPlain(command) ? before + [command, ...args].map(shellWord).join(" ") : undefined;
};
