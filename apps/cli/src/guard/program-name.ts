import { basename } from "node:path";
import { usageError } from "../cli-error.ts";

const runners = new Set(["npx", "bunx", "uvx", "pnpx", "node", "python", "python3", "docker", "deno"]);

/** What the server is called where no name was given: the package or the program. */
const serverName = ([program = "", ...args]: readonly string[]): string => {
  const name = basename(program);
  const word = runners.has(name) ? (args.find((one) => !one.startsWith("-")) ?? name) : name;
  return basename(word.replace(/(?:\/dist)?(?:\/index)?\.[cm]?[jt]s$/, "")).replace(/(.)@[^@]*$/, "$1");
};

/** A name that is one part of `mcp__SERVER__TOOL`. */
const asPart = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9.-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64) || "server";

/** The name that policies know a program by: what was given, else made of its command. Throws a usage error. */
export const readProgramName = (given: string | undefined, words: readonly string[]): string => {
  if (given === undefined) return asPart(serverName(words));
  if (/^[A-Za-z0-9.-]{1,64}$/.test(given)) return given;
  throw usageError(
    `--name: ${JSON.stringify(given)} is not a name`,
    "It takes 1 to 64 letters, digits, points and hyphens",
  );
};
