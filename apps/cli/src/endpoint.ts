import { HarnessError } from "@harnesskit/wire";
import { CliError, type HintLine, unavailableError, usageError } from "./cli-error.ts";
import { fromHere } from "./io.ts";

const allowed = "An endpoint is unix:PATH, the path of a socket that only you can reach";

/** The absolute path of a `unix:PATH`. Throws a usage error that says what is allowed for anything else, for a directory, and for `~`, which a shell should have replaced. */
export const socketPathOf = (endpoint: string, option: string): string => {
  const path = endpoint.startsWith("unix:") ? endpoint.slice("unix:".length) : "";
  const refused = (what: string, hint: string) => usageError(`${option}: ${endpoint} ${what}`, hint);
  if (path === "") throw refused("is not an endpoint", allowed);
  if (path.startsWith("~/"))
    throw refused("begins with ~, which the shell left as it is", `Write "unix:$HOME/${path.slice(2)}"`);
  if (/(^|\/)\.{0,2}$/.test(path)) throw refused("names a directory", allowed);
  return fromHere(path);
};

const wrongPath = new Set(["path_too_long", "insecure_directory", "not_a_socket", "invalid_argument"]);

export interface SocketAdvice {
  /** How another path is named. @default `OPTION unix:PATH` */
  readonly form?: string;
  /** What to do about a server that is there already. @default to attach to it */
  readonly whenInUse?: HintLine;
}

/** Why a socket cannot be used, as an error that says what to do; its sentences are those of the transport. */
export const toSocketFailure = (thrown: unknown, option: string, advice: SocketAdvice = {}): unknown => {
  const {
    form = `${option} unix:PATH`,
    whenInUse = { to: "Use the server that runs there", run: "harness attach unix:PATH" },
  } = advice;
  if (!HarnessError.isInstance(thrown) || CliError.isInstance(thrown)) return thrown;
  const { code, message } = thrown;
  if (wrongPath.has(code)) return usageError(`${option}: ${message}`, `Name another path: ${form}`, thrown);
  if (code !== "address_in_use" && code !== "transport_failed") return thrown;
  const hint = code === "address_in_use" ? whenInUse : "Look into it: the same command with HARNESS_DEBUG=1";
  return unavailableError("unavailable", message, { hint, cause: thrown });
};

/** Why an HTTP server does not listen, as an error that says what to do. */
export const toHttpFailure = (thrown: unknown, option: string): unknown => {
  if (!HarnessError.isInstance(thrown)) return thrown;
  const { code, message } = thrown;
  if (code === "insecure_token_file") {
    return usageError(`--token-file: ${message}`, "Name a file in a directory of your own");
  }
  if (code !== "address_in_use" && code !== "transport_failed") return thrown;
  const why = code === "address_in_use" ? "another program has this port: " : "";
  return unavailableError("unavailable", `${option}: ${why}${message}`, {
    hint: `Choose another port, or a free one: ${option} 0`,
    cause: thrown,
  });
};
