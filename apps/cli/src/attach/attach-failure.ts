import { ThreadErrorCode } from "@harnesskit/protocol/threads";
import { HarnessError, ProtocolError } from "@harnesskit/wire";
import { CliError, toCliError } from "../cli-error.ts";
import { toSocketFailure } from "../endpoint.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";
import { shellWord } from "../terminal/shell-word.ts";

/** Codes of a server that went away while it was used. */
const lost = new Set(["connection_closed", "child_exited"]);

/** Codes of a server that this program cannot use. */
const foreign = new Set([
  "version_mismatch",
  "unsupported",
  "invalid_message",
  "invalid_frame",
  "frame_too_large",
  "method_not_found",
]);

export interface AttachFacts {
  /** The option that named the endpoint. */
  readonly option: string;
  readonly endpoint: string;
  readonly threadId: string | undefined;
}

/** The command that follows a thread of a server. */
export const attachCommand = (endpoint: string, threadId: string | undefined): string => {
  const thread = threadId === undefined ? "" : ` --thread ${oneLine(shellWord(threadId), 80)}`;
  return `harness attach ${oneLine(shellWord(endpoint), 1000)}${thread}`;
};

/** What to do about a server that is gone. */
export const comeBackHint = (endpoint: string, threadId: string | undefined): string =>
  `Start it again: harness serve --listen ${oneLine(shellWord(endpoint), 1000)}\n  Then go on: ${attachCommand(endpoint, threadId)}`;

/** Why a server's thread could not be followed, as an error that says what to do next. */
export const toAttachFailure = (thrown: unknown, { option, endpoint, threadId }: AttachFacts): CliError => {
  const error = toSocketFailure(thrown, option);
  if (!HarnessError.isInstance(error) || CliError.isInstance(error)) return toCliError(error);
  const cause = error;
  if (error.code === "request_cancelled")
    return new CliError("cancelled", "Cancelled", { exitCode: ExitCode.interrupted, cause });
  if (ProtocolError.isInstance(error)) {
    if (error.rpcCode === ThreadErrorCode.ThreadNotFound) {
      return new CliError("thread_not_found", `The server has no thread ${oneLine(threadId ?? "", 80)}`, {
        hint: "Without --thread, attach lists the threads and takes the one used last",
        cause,
      });
    }
    if (error.rpcCode === ThreadErrorCode.TurnBusy && reasonOf(error) === "lock_unreadable") {
      return new CliError("lock_unreadable", oneLine(error.message, 500), {
        hint: "Where the server runs: harness doctor",
        cause,
      });
    }
    if (error.rpcCode === ThreadErrorCode.TurnBusy) {
      return new CliError("turn_busy", "The thread is in use: another server writes it", {
        hint: "Attach to that server, or end it",
        cause,
      });
    }
  }
  if (error.code === "log_went_back") {
    return new CliError(
      "log_went_back",
      "The thread is not the one that was followed: its log went back to an earlier state",
      {
        hint: `Some of what was shown is not in it any more. See what is: ${attachCommand(endpoint, threadId)}`,
        cause,
      },
    );
  }
  const unavailable = (message: string, hint: string) =>
    new CliError("unavailable", message, { exitCode: ExitCode.unavailable, hint, cause });
  const unusable = foreignError(error);
  if (unusable) {
    const what = oneLine(unusable.message, 500);
    return unavailable(
      `What listens on ${oneLine(endpoint, 300)} cannot be used: ${what}`,
      "It has to be a harness serve of the same version, on this path",
    );
  }
  if (error.code === "request_timeout") {
    return unavailable(
      `The server does not answer: ${oneLine(error.message, 500)}`,
      `If it is stuck, end it. ${comeBackHint(endpoint, threadId)}`,
    );
  }
  if (ProtocolError.isInstance(error)) {
    return new CliError(error.code, `The server refused: ${oneLine(error.message, 500)}`, {
      hint: "HARNESS_DEBUG=1 shows the causes on stderr.",
      cause,
    });
  }
  if (!lost.has(error.code)) return toCliError(error);
  return unavailable(
    "The server has ended, or the connection to it is lost",
    comeBackHint(endpoint, threadId),
  );
};

const reasonOf = ({ data }: ProtocolError): unknown =>
  typeof data === "object" && data !== null && "reason" in data ? data.reason : undefined;

/** The error, or the cause of a lost connection, that says that this is no server for this program. */
const foreignError = (error: HarnessError): HarnessError | undefined => {
  let current: unknown = error;
  for (let depth = 0; HarnessError.isInstance(current) && depth < 5; depth++) {
    if (foreign.has(current.code)) return current;
    current = current.cause;
  }
  return undefined;
};
