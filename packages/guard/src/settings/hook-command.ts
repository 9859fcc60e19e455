import { shellWord } from "@harnesskit/wire";

/** What the command of a hook is made of. */
export interface HookCommandParts {
  /** The words before the host's id: `["harness", "guard", "hook"]`, or the paths of Node and of the hook's program. */
  readonly program: readonly [string, ...string[]];
  readonly host: string;
  /** How long the host waits, in milliseconds: what its settings get too. */
  readonly timeoutMs: number;
  /** The guard's socket. @default the one that the program finds */
  readonly socket?: string | undefined;
}

/** The command line of a hook for a POSIX shell. */
export const toHookCommand = ({ program, host, timeoutMs, socket }: HookCommandParts): string =>
  [...program, host, "--timeout-ms", String(timeoutMs), ...(socket === undefined ? [] : ["--socket", socket])]
    .map(shellWord)
    .join(" ");

/** Whether a command line runs the hook's program for this host, wherever that is installed. */
export const isHookCommand = (command: string, host: string): boolean =>
  new RegExp(`(?:guard hook|guard-hook(?:\\.cjs)?)'? ${host}(?: |$)`).test(command);

/** The words of a command line that {@link toHookCommand} has made. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? "") : quoted.replaceAll("'\\''", "'"),
  );

/** The file that a command line starts, if it names one by its absolute path; of `node FILE` the second. */
export const programOf = (command: string): readonly string[] =>
  wordsOf(command)
    .slice(0, 2)
    .filter((path) => path.startsWith("/"));

/** The words before the host's id in a command line that {@link toHookCommand} has made; undefined in any other. */
export const hookProgramOf = (command: string, host: string): readonly [string, ...string[]] | undefined => {
  const words = wordsOf(command);
  const end = words.findIndex((word, at) => word === host && words[at + 1] === "--timeout-ms");
  const [first, ...rest] = words.slice(0, Math.max(0, end));
  return first === undefined ? undefined : [first, ...rest];
};
