import { displayText, HarnessError } from "@harnesskit/wire";
import stringWidth from "fast-string-width";
import { io } from "./io.ts";
import { createTerminal } from "./terminal/terminal.ts";
import { oneLine } from "./terminal/text.ts";

/** What a script learns from the end of a command. */
export const ExitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  unavailable: 4,
  /** Of `harness conformance`: the suite itself failed, and gave no verdict. */
  ownFault: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** A line that says what to do: a sentence, or a command to be copied and what it is for. */
export type HintLine = string | { readonly to: string; readonly run: string };
export type Hint = HintLine | readonly HintLine[];

export interface CliErrorOptions {
  /** @default `failed` */
  readonly exitCode?: ExitCode;
  /** What to do. */
  readonly hint?: Hint | undefined;
  readonly cause?: unknown;
}

/** Why a command ends without its result. The message is shown as one line, each of `hints` as one. */
export class CliError extends HarnessError {
  static override readonly brand = "CliError";
  readonly exitCode: ExitCode;
  readonly hints: readonly HintLine[];
  /** What a program reads that asked for JSON. */
  json: unknown;

  constructor(code: string, message: string, options: CliErrorOptions = {}) {
    super(code, message, options);
    this.exitCode = options.exitCode ?? ExitCode.failed;
    this.hints = [options.hint ?? []].flat();
    const { exitCode, hints } = this;
    this.json = { error: { code, message, hint: hints.map(hintText), exitCode } };
  }
}

/** A line of a hint as text. */
export const hintText = (line: HintLine): string =>
  typeof line === "string" ? line : `${line.to}: ${line.run}`;

/** The command line cannot be used as it was written. */
export const usageError = (message: string, hint?: CliErrorOptions["hint"], cause?: unknown): CliError =>
  new CliError("usage", message, { exitCode: ExitCode.usage, hint, cause });

/** Throws what a package says about something that the command line names, as wrong usage. */
export const unusable =
  (what: string, hint?: Hint) =>
  (cause: unknown): never => {
    if (!HarnessError.isInstance(cause) || CliError.isInstance(cause)) throw cause;
    throw new CliError(cause.code, `${what}: ${cause.message}`, { exitCode: ExitCode.usage, hint, cause });
  };

/** What `read` returns; what it throws is wrong usage of `what`, as with {@link unusable}. */
export const reading = <T>(what: string, read: () => T, hint?: Hint): T => {
  try {
    return read();
  } catch (cause) {
    return unusable(what, hint)(cause);
  }
};

type FailureOptions = Omit<CliErrorOptions, "exitCode">;

/** What a command needs is not there, or cannot be used. */
export const unavailableError = (code: string, message: string, options: FailureOptions = {}): CliError =>
  new CliError(code, message, { ...options, exitCode: ExitCode.unavailable });

/** The user, a policy or a rule said no. */
export const refusedError = (code: string, message: string, options: FailureOptions = {}): CliError =>
  new CliError(code, message, { ...options, exitCode: ExitCode.refused });

/** Writes an error to stderr, and what to do: a command is never broken, and begins a line where the terminal has no room for what it is for beside it. */
export const sayError = (message: string, hint: Hint = []): void => {
  const terminal = createTerminal(io().stderr);
  terminal.say(`harness: ${message}`);
  for (const line of [hint].flat()) {
    const text = `  ${hintText(line)}`;
    const hasRoom = stringWidth(text) <= (terminal.columns ?? Number.POSITIVE_INFINITY);
    if (typeof line === "string" || hasRoom) terminal.say(text, "  ");
    else {
      terminal.say(`  ${line.to}:`, "  ");
      terminal.exact(`    ${line.run}`);
    }
  }
};

/** Anything thrown, as an error of this command. A stack never reaches the user, a message only as safe text. */
export const toCliError = (thrown: unknown): CliError => {
  if (CliError.isInstance(thrown)) return thrown;
  const code = HarnessError.isInstance(thrown) ? thrown.code : "unexpected";
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new CliError(code, displayText(message, { maxLength: 500 }), {
    cause: thrown,
    hint: "HARNESS_DEBUG=1 shows the causes on stderr.",
  });
};

/** The error and its causes with their stacks, as safe text, for HARNESS_DEBUG. */
export const describeCauses = (error: unknown): string => {
  const lines: string[] = [];
  let current = error;
  for (let depth = 0; current !== undefined && depth < 10; depth++) {
    const text = current instanceof Error ? (current.stack ?? current.message) : String(current);
    lines.push(`${depth === 0 ? "" : "caused by "}${displayText(text, { multiline: true })}`);
    current = current instanceof Error ? current.cause : undefined;
  }
  return lines.join("\n");
};

/** True where HARNESS_DEBUG asks for causes and stacks on stderr. */
export const isDebugging = (env: NodeJS.ProcessEnv = io().env): boolean =>
  !["", "0", undefined].includes(env.HARNESS_DEBUG);

/** A failure that has no caller: one safe line, with its causes below where HARNESS_DEBUG is set. */
export const describeFailure = (where: string, error: unknown): string => {
  const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
  const message = error instanceof Error ? error.message : String(error);
  const line = `${where}: ${oneLine(message, 500)}${code}`;
  return isDebugging() ? `${line}\n${describeCauses(error)}` : line;
};

/** Writes a failure that has no caller to stderr. */
export const logFailure = (where: string, error: unknown): void => {
  createTerminal(io().stderr).say(describeFailure(where, error).split("\n"));
};
