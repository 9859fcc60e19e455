import { ThreadErrorCode } from "@harnesskit/protocol/threads";
import { HarnessError, ProtocolError } from "@harnesskit/wire";
import { CliError, toCliError } from "../cli-error.ts";
import { toSocketFailure } from "../endpoint.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";

/** Codes of a server that went away while it was used. */
const lost = new Set(["connection_closed", "request_timeout", "child_exited"]);

/** Why a server's thread could not be followed, as an error that says what to do next. */
export const toAttachFailure = (thrown: unknown, option: string, threadId = ""): CliError => {
  const error = toSocketFailure(thrown, option);
  if (!HarnessError.isInstance(error) || CliError.isInstance(error)) return toCliError(error);
  const cause = error;
  if (error.code === "request_cancelled") return new CliError("cancelled", "Cancelled", { cause });
  if (ProtocolError.isInstance(error)) {
    if (error.rpcCode === ThreadErrorCode.ThreadNotFound) {
      return new CliError("thread_not_found", `The server has no thread ${oneLine(threadId, 80)}`, {
        hint: "Without --thread, attach lists the threads and takes the one used last",
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
  if (!lost.has(error.code)) return toCliError(error);
  return new CliError("unavailable", `The server cannot be reached: ${oneLine(error.message, 500)}`, {
    exitCode: ExitCode.unavailable,
    hint: "Start it again: harness serve --listen unix:PATH",
    cause,
  });
};
