import { lstatSync } from "node:fs";
import { HarnessError } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";
import { socketPathOf } from "../endpoint.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";
import { shellWord } from "../terminal/shell-word.ts";

/** What to do where no server is. */
export const startHint = (endpoint: string): string =>
  `Start one there: harness serve --listen ${oneLine(shellWord(endpoint), 1000)}`;

/** Nobody listens at an endpoint, or who did is gone. */
export interface Absence {
  readonly kind: "not_there" | "lost";
  readonly failure: CliError;
}

/** Codes of the system for a socket that is missing, or that nobody has. */
const nobodyListens = new Set<unknown>(["ENOENT", "ECONNREFUSED"]);

/** What is behind a connection that was closed by no fault of a message. */
const lossCauses = new Set(["connection_closed", "transport_failed", "request_cancelled"]);

/** Whether an error says that no server is there; undefined for one that has another reason. */
export const toAbsence = (error: unknown, endpoint: string): Absence | undefined => {
  if (!HarnessError.isInstance(error) || CliError.isInstance(error)) return undefined;
  const { code, cause, message } = error;
  if (code === "transport_failed" && nobodyListens.has(systemCodeOf(cause)) && !isOtherFile(endpoint))
    return { kind: "not_there", failure: unavailable(oneLine(message, 1000), endpoint, error) };
  if (code !== "connection_closed" || (HarnessError.isInstance(cause) && !lossCauses.has(cause.code)))
    return undefined;
  const text = "The server has ended, or the connection to it is lost";
  return { kind: "lost", failure: unavailable(text, endpoint, error) };
};

const unavailable = (message: string, endpoint: string, cause: unknown): CliError =>
  new CliError("unavailable", message, { exitCode: ExitCode.unavailable, hint: startHint(endpoint), cause });

const systemCodeOf = (cause: unknown): unknown =>
  cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;

/** True where something lies at the path that no server can take. */
const isOtherFile = (endpoint: string): boolean => {
  try {
    return !lstatSync(socketPathOf(endpoint, "attach")).isSocket();
  } catch {
    return false;
  }
};
