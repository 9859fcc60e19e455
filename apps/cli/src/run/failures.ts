import { lstatSync } from "node:fs";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { ThreadErrorCode } from "@harnesskit/protocol/threads";
import { displayText, HarnessError, ProtocolError, shellWord } from "@harnesskit/wire";
import {
  CliError,
  ExitCode,
  type Hint,
  type HintLine,
  toCliError,
  unavailableError,
  usageError,
} from "../cli-error.ts";
import { socketPathOf, toSocketFailure } from "../endpoint.ts";
import { oneLine } from "../terminal/text.ts";

/** What a command worked on when it failed. */
export interface FailureFacts {
  readonly command: "run" | "attach";
  /** The directory of the server, where it was started for this command. */
  readonly workspace?: string | undefined;
  /** The endpoint of a server that others use as well. @default the server was started for this command */
  readonly endpoint?: string | undefined;
  readonly threadId: string | undefined;
}

/** Why a turn could not be run or a thread not be followed, as an error that says what to do next. */
export const toCliFailure = (thrown: unknown, facts: FailureFacts): CliError => {
  const { command, endpoint, threadId } = facts;
  if (command === "run" && endpoint !== undefined && threadId === undefined) {
    const absence = toAbsence(thrown, endpoint);
    if (absence) return absence.failure;
  }
  const error =
    endpoint === undefined ? thrown : toSocketFailure(thrown, command === "run" ? "--attach" : command);
  if (!HarnessError.isInstance(error) || CliError.isInstance(error)) return toCliError(error);
  if (error.code === "request_cancelled") {
    const message = command === "run" ? "Cancelled before the turn began" : "Cancelled";
    return new CliError("cancelled", message, { exitCode: ExitCode.interrupted, cause: error });
  }
  const refused = ProtocolError.isInstance(error) ? toThreadRefusal(error, facts) : undefined;
  if (refused) return refused;
  if (endpoint !== undefined) return toSharedServerFailure(error, endpoint, threadId);
  if (ProtocolError.isInstance(error)) return toServerRefusal(error);
  return toCliError(error);
};

const lookHint: Hint = [
  { to: "Look into it", run: "harness doctor" },
  "Or run the same command with HARNESS_DEBUG=1",
];

/** Codes for a socket on which no server of this version answers. */
const foreignCodes: ReadonlySet<string> = new Set([
  "version_mismatch",
  "unsupported",
  "invalid_message",
  "invalid_frame",
  "frame_too_large",
  "method_not_found",
]);

const unavailable = (message: string, hint: Hint, cause: unknown): CliError =>
  unavailableError("unavailable", message, { hint, cause });

const dataFields = (data: JsonValue | undefined): { readonly [name: string]: JsonValue | undefined } =>
  typeof data === "object" && data !== null && !Array.isArray(data) ? data : {};

/** The refusals that concern a thread: it does not exist, or another server has it. */
const toThreadRefusal = (cause: ProtocolError, facts: FailureFacts): CliError | undefined => {
  const { command, workspace = "", endpoint, threadId = "" } = facts;
  if (cause.rpcCode === ThreadErrorCode.ThreadNotFound) {
    if (endpoint === undefined) return threadNotFound(threadId, workspace, cause);
    const hint = "Without --thread, attach lists the threads and takes the one used last";
    return new CliError("thread_not_found", `The server has no thread ${threadId}`, {
      hint,
      cause,
    });
  }
  if (cause.rpcCode === ThreadErrorCode.ThreadArchived) return threadArchived(threadId, endpoint, cause);
  if (cause.rpcCode !== ThreadErrorCode.TurnBusy) return undefined;
  if (dataFields(cause.data).reason === "queue_full") {
    const hint = "Try again when a turn has ended";
    return new CliError("queue_full", "The queue of the thread is full", { hint, cause });
  }
  if (dataFields(cause.data).reason === "lock_unreadable") {
    const hint = {
      to: endpoint === undefined ? "Look into it" : "Where the server runs",
      run: "harness doctor",
    };
    return new CliError("lock_unreadable", cause.message, { hint, cause });
  }
  const hint =
    command === "run"
      ? { to: "Wait until it ends, or start a new thread", run: 'harness run "PROMPT"' }
      : "Attach to that server, or end it";
  return new CliError("turn_busy", "The thread is in use by another server", { hint, cause });
};

const threadArchived = (threadId: string, endpoint: string | undefined, cause: ProtocolError): CliError => {
  const at = endpoint === undefined ? "" : ` --attach ${shellWord(endpoint)}`;
  return new CliError("thread_archived", `The thread ${threadId} is archived`, {
    hint: { to: "To use it again", run: `harness threads unarchive ${threadId}${at}` },
    cause,
  });
};

/** What the server refuses about the agent, the model or the input of a turn. */
const toServerRefusal = (cause: ProtocolError): CliError => {
  const { reason, agents } = dataFields(cause.data);
  const message = displayText(cause.message, { maxLength: 500 });
  if (reason === "model.missing_key" || reason === "model.missing_package") {
    return unavailableError(reason, message, { cause });
  }
  if (Array.isArray(agents)) {
    const hint = `Use --agent with one of: ${displayText(agents.join(", "), { maxLength: 300 })}`;
    return usageError(message, hint, cause);
  }
  if (cause.code === "invalid_params") return usageError(message, undefined, cause);
  const code = typeof reason === "string" ? displayText(reason) : cause.code;
  return new CliError(code, `The server refused: ${message}`, { hint: lookHint, cause });
};

const toSharedServerFailure = (
  error: HarnessError,
  endpoint: string,
  threadId: string | undefined,
): CliError => {
  if (error.code === "log_went_back") {
    const message = "The thread is not the one that was followed: its log went back to an earlier state";
    const hint = {
      to: "Some of what was shown is not in it any more. See what is",
      run: attachCommand(endpoint, threadId),
    };
    return new CliError(error.code, message, { hint, cause: error });
  }
  const again = comeBackHint(endpoint, threadId);
  const foreign = causesOf(error).find(({ code }) => foreignCodes.has(code));
  if (foreign) {
    const message = `What listens on ${endpoint} cannot be used: ${foreign.message}`;
    return unavailable(message, "It must be a harness serve of the same version, on this path", error);
  }
  if (error.code === "request_timeout") {
    const message = `The server does not answer: ${error.message}`;
    return unavailable(message, ["If it is stuck, end it", ...again], error);
  }
  if (ProtocolError.isInstance(error)) return toServerRefusal(error);
  return error.code === "connection_closed" ? unavailable(lostText, again, error) : toCliError(error);
};

const causesOf = (error: HarnessError): HarnessError[] => {
  const found: HarnessError[] = [];
  for (let at: unknown = error; HarnessError.isInstance(at) && found.length < 5; at = at.cause)
    found.push(at);
  return found;
};

/** The command that follows a thread of a server. */
export const attachCommand = (endpoint: string, threadId: string | undefined): string => {
  const thread = threadId === undefined ? "" : ` --thread ${oneLine(shellWord(threadId), 80)}`;
  return `harness attach ${shellWord(endpoint)}${thread}`;
};

/** What to do about a server that is gone. */
export const comeBackHint = (endpoint: string, threadId: string | undefined): HintLine[] => [
  { to: "Start it again", run: `harness serve --listen ${shellWord(endpoint)}` },
  { to: "Then go on", run: attachCommand(endpoint, threadId) },
];

/** What to do where no server is. */
export const startHint = (endpoint: string): HintLine => ({
  to: "Start one there",
  run: `harness serve --listen ${shellWord(endpoint)}`,
});

/** There is no server at an endpoint, or it is gone. */
export interface Absence {
  readonly kind: "not_there" | "lost";
  readonly failure: CliError;
}

const lostText = "The server has ended, or the connection to it is lost";
const absentCodes = new Set<unknown>(["ENOENT", "ECONNREFUSED"]);
const lossCauses = new Set(["connection_closed", "transport_failed", "request_cancelled"]);

/** Whether an error says that no server is there; undefined for one that has another reason. */
export const toAbsence = (error: unknown, endpoint: string): Absence | undefined => {
  if (!HarnessError.isInstance(error) || CliError.isInstance(error)) return undefined;
  const { code, cause, message } = error;
  const hint = startHint(endpoint);
  if (code === "transport_failed" && absentCodes.has((cause as NodeJS.ErrnoException | undefined)?.code)) {
    if (isOtherFile(endpoint)) return undefined;
    return { kind: "not_there", failure: unavailable(message, hint, error) };
  }
  const isLost = !HarnessError.isInstance(cause) || lossCauses.has(cause.code);
  if (code !== "connection_closed" || !isLost) return undefined;
  return { kind: "lost", failure: unavailable(lostText, hint, error) };
};

const isOtherFile = (endpoint: string): boolean => {
  try {
    // With numbers in place of bigints, Node loads no module behind a link once a socket was found.
    return !lstatSync(socketPathOf(endpoint, "attach"), { bigint: true }).isSocket();
  } catch {
    return false;
  }
};

/** There is no such thread below the directory. */
export const threadNotFound = (threadId: string, workspace: string, cause?: unknown): CliError =>
  new CliError("thread_not_found", `There is no thread ${threadId} in ${workspace}`, {
    hint: { to: "See what there is", run: "harness threads list" },
    cause,
  });
