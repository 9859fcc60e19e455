import { HarnessError } from "@harnesskit/wire";
import { CliError, usageError } from "./cli-error.ts";
import { ExitCode } from "./exit-code.ts";
import { oneLine } from "./terminal/one-line.ts";

const allowed = "An endpoint is unix:PATH, the path of a socket that only you can reach";

/** The path of a `unix:PATH`. Throws a usage error that says what is allowed for anything else. */
export const socketPathOf = (endpoint: string, option: string): string => {
  const path = endpoint.startsWith("unix:") ? endpoint.slice("unix:".length) : "";
  if (path !== "") return path;
  throw usageError(`${option}: ${oneLine(endpoint, 200)} is no endpoint`, allowed);
};

/** Codes that only another path can cure. */
const wrongPath = new Set(["path_too_long", "insecure_directory", "not_a_socket", "invalid_argument"]);

/** Why a socket cannot be used, as an error that says what to do; its sentences are those of the transport. */
export const toSocketFailure = (thrown: unknown, option: string): unknown => {
  if (!HarnessError.isInstance(thrown) || CliError.isInstance(thrown)) return thrown;
  const { code, message } = thrown;
  if (wrongPath.has(code)) {
    return new CliError("usage", `${option}: ${oneLine(message, 1000)}`, {
      exitCode: ExitCode.usage,
      hint: `Name another path: ${option} unix:PATH`,
      cause: thrown,
    });
  }
  if (code !== "address_in_use" && code !== "transport_failed") return thrown;
  const hint =
    code === "address_in_use"
      ? "Use the server that runs there: harness attach unix:PATH"
      : "Look into it: the same command with HARNESS_DEBUG=1";
  return new CliError("unavailable", oneLine(message, 1000), {
    exitCode: ExitCode.unavailable,
    hint,
    cause: thrown,
  });
};
