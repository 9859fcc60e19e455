import type { JsonValue } from "@harnesskit/protocol/envelope";
import { ThreadErrorCode } from "@harnesskit/protocol/threads";
import { displayText, HarnessError, ProtocolError } from "@harnesskit/wire";
import { toAbsence } from "../attach/absent-server.ts";
import { toAttachFailure } from "../attach/attach-failure.ts";
import { CliError, toCliError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { threadNotFound } from "../stored-threads.ts";

export interface RunFacts {
  readonly workspace: string;
  readonly threadId: string | undefined;
  /** The endpoint of the server, where it was not started here. */
  readonly attach?: string | undefined;
}

const lost = new Set([
  "transport_failed",
  "connection_closed",
  "child_exited",
  "request_timeout",
  "version_mismatch",
]);

/** Why a run could not be done, as an error that says what to do next. */
export const toRunFailure = (thrown: unknown, { workspace, threadId = "", attach }: RunFacts): CliError => {
  if (!HarnessError.isInstance(thrown) || CliError.isInstance(thrown)) return toCliError(thrown);
  const { code, message } = thrown;
  const cause = thrown;
  if (code === "request_cancelled")
    return new CliError("cancelled", "Cancelled before the turn began", {
      exitCode: ExitCode.interrupted,
      cause,
    });
  if (isRefusal(thrown, ThreadErrorCode.ThreadNotFound)) {
    return attach === undefined
      ? threadNotFound(threadId, workspace, cause)
      : toAttachFailure(thrown, { option: "--attach", endpoint: attach, threadId });
  }
  if (isRefusal(thrown, ThreadErrorCode.TurnBusy)) {
    if (fieldsOf((thrown as ProtocolError).data).reason === "lock_unreadable") {
      const hint = "Look into it: harness doctor";
      return new CliError("lock_unreadable", displayText(message, { maxLength: 500 }), { hint, cause });
    }
    return new CliError("turn_busy", "The thread is in use: another server writes it", {
      hint: "Use that one: harness run --attach unix:PATH, or begin another thread without --thread",
      cause,
    });
  }
  if (ProtocolError.isInstance(thrown)) return fromServer(thrown);
  if (attach !== undefined) {
    const absence = threadId === "" ? toAbsence(thrown, attach) : undefined;
    if (absence) return absence.failure;
    return toAttachFailure(thrown, { option: "--attach", endpoint: attach, threadId: threadId || undefined });
  }
  if (lost.has(code)) {
    return new CliError(
      "unavailable",
      `The server cannot be reached: ${displayText(message)}${tailOf(cause)}`,
      {
        exitCode: ExitCode.unavailable,
        hint: "Look into it: harness doctor, or the same command with HARNESS_DEBUG=1",
        cause,
      },
    );
  }
  return toCliError(thrown);
};

const isRefusal = (error: unknown, rpcCode: number): boolean =>
  ProtocolError.isInstance(error) && error.rpcCode === rpcCode;

const fromServer = (error: ProtocolError): CliError => {
  const { reason, agents } = fieldsOf(error.data);
  const message = displayText(error.message, { maxLength: 500 });
  if (Array.isArray(agents)) {
    const names = displayText(agents.join(", "), { maxLength: 300 });
    return new CliError("usage", message, {
      exitCode: ExitCode.usage,
      hint: `Use --agent with one of: ${names}`,
    });
  }
  if (reason === "model.missing_key" || reason === "model.missing_package") {
    return new CliError(reason, message, { exitCode: ExitCode.unavailable, cause: error });
  }
  if (error.code === "invalid_params") {
    return new CliError("usage", message, { exitCode: ExitCode.usage, cause: error });
  }
  const hint = "Look into it: harness doctor, or the same command with HARNESS_DEBUG=1";
  return new CliError(typeof reason === "string" ? displayText(reason) : error.code, message, {
    hint,
    cause: error,
  });
};

const fieldsOf = (data: JsonValue | undefined): { readonly [name: string]: JsonValue | undefined } =>
  typeof data === "object" && data !== null && !Array.isArray(data) ? data : {};

/** What the server said last on its standard error; safe text already. */
const tailOf = (error: unknown): string => {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; depth++) {
    const { stderrTail } = current as { stderrTail?: unknown };
    if (typeof stderrTail === "string" && stderrTail !== "") return `\n${stderrTail}`;
    current = current.cause;
  }
  return "";
};
