import { stat } from "node:fs/promises";
import { isMissing, readOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import type { HttpCredentials } from "@harnesskit/transport-http";
import { CliError, ExitCode, usageError } from "../cli-error.ts";
import { fromHere, io } from "../io.ts";

const maxTokenFileBytes = 4096;
const minServerTokenLength = 16;

const unreadableToken = (file: string, why: string, cause?: unknown, option = "--token-file"): CliError =>
  new CliError("token_unreadable", `${option}: ${file} cannot be read ${why}`.trimEnd(), {
    exitCode: ExitCode.usage,
    hint: "Name a file with the token and nothing else in it",
    cause,
  });

/** The token in a file, whose name may be a link: mounted secrets are. Undefined if it does not exist. */
const readToken = async (file: string, option = "--token-file"): Promise<string | undefined> => {
  let content: Buffer;
  try {
    content = await readOwnFile(fromHere(file), { followLinks: true, maxBytes: maxTokenFileBytes });
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    const why = UnsafeFileError.isInstance(cause) ? cause.problem : (systemErrorCode(cause) ?? "unknown");
    throw unreadableToken(file, `(${why})`, cause, option);
  }
  const token = content.toString("utf8").trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw usageError(`${option}: ${file} holds no token`, "A token is visible ASCII characters");
};

/**
 * The token that a server asks for; undefined where the file is missing, which is where one is made then. Throws a usage
 * error for a file that other users can read, and for a token that is easily guessed.
 */
export const readServerToken = async (file: string): Promise<string | undefined> => {
  const token = await readToken(file);
  if (token === undefined) return undefined;
  if (process.platform !== "win32" && ((await stat(fromHere(file))).mode & 0o077) !== 0) {
    throw usageError(`--token-file: ${file} is open to other users`, "chmod it to 0600");
  }
  if (token.length < minServerTokenLength) {
    throw usageError(
      `--token-file: the token has less than ${minServerTokenLength} characters`,
      "Remove the file, and one is made",
    );
  }
  return token;
};

/** The token of {@link readServerToken} as a server over HTTP takes it, or where it makes one; nothing without a file. */
export const readServerAccess = async (file: string | undefined) => {
  if (file === undefined) return {};
  const token = await readServerToken(file);
  return token === undefined ? { tokenFile: fromHere(file) } : { token };
};

/** The token that a client shows: of the file, else of the environment's variable, else none. */
export const readClientToken = async (
  file: string | undefined,
  { variable, option = "--token-file" }: { readonly variable: string; readonly option?: string },
): Promise<string | undefined> => {
  if (file === undefined) return io().env[variable]?.trim() || undefined;
  const token = await readToken(file, option);
  if (token === undefined) throw unreadableToken(file, "(it is not there)", undefined, option);
  return token;
};

/** The files of the credential that a client shows to a harness. */
export interface AccessOptions {
  readonly tokenFile?: string | undefined;
  readonly apiKeyFile?: string | undefined;
  /** Shows it in the URL of a WebSocket. */
  readonly inQuery?: boolean | undefined;
}

/**
 * The credentials that a client shows: a token or an API key, of a file or else of HARNESS_AHP_TOKEN or HARNESS_AHP_API_KEY;
 * none where neither is given. Throws a usage error for two of them, and for files that cannot be read.
 */
export const readAccess = async ({
  tokenFile,
  apiKeyFile,
}: AccessOptions): Promise<HttpCredentials | undefined> => {
  const isNamed = tokenFile !== undefined || apiKeyFile !== undefined;
  // A file that is named counts, whatever the environment has.
  const of = (file: string | undefined, variable: string, option: string) =>
    isNamed && file === undefined ? undefined : readClientToken(file, { variable, option });
  const bearer = await of(tokenFile, "HARNESS_AHP_TOKEN", "--ahp-token-file");
  const apiKey = await of(apiKeyFile, "HARNESS_AHP_API_KEY", "--ahp-api-key-file");
  if (bearer !== undefined && apiKey !== undefined) {
    throw usageError(
      isNamed
        ? "--ahp-token-file and --ahp-api-key-file: give one of them"
        : "HARNESS_AHP_TOKEN and HARNESS_AHP_API_KEY are both set",
      "A harness is shown one credential",
    );
  }
  if (bearer !== undefined) return { bearer };
  return apiKey === undefined ? undefined : { apiKey };
};
