import type { FileHandle } from "node:fs/promises";
import { isMissing, openOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
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

/** Opens the file, whose name may be a link: mounted secrets are. Undefined if it does not exist. */
const openFile = async (file: string, option: string): Promise<FileHandle | undefined> => {
  try {
    return await openOwnFile(fromHere(file), { followLinks: true, maxBytes: maxTokenFileBytes });
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    const why = UnsafeFileError.isInstance(cause) ? cause.problem : (systemErrorCode(cause) ?? "unknown");
    throw unreadableToken(file, `(${why})`, cause, option);
  }
};

const readToken = async (
  file: string,
  option = "--token-file",
): Promise<{ readonly token: string; readonly mode: number } | undefined> => {
  const handle = await openFile(file, option);
  if (!handle) return undefined;
  try {
    const { mode } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxTokenFileBytes), 0);
    const token = buffer.toString("utf8", 0, bytesRead).trim();
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw usageError(`${option}: ${file} holds no token`, "A token is visible ASCII characters");
    }
    return { token, mode };
  } finally {
    await handle.close();
  }
};

/**
 * The token that a server asks for; undefined where the file is missing, which is where one is made then. Throws a usage
 * error for a file that other users can read, and for a token that is easily guessed.
 */
export const readServerToken = async (file: string): Promise<string | undefined> => {
  const found = await readToken(file);
  if (!found) return undefined;
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
    throw usageError(`--token-file: ${file} is open to other users`, "chmod it to 0600");
  }
  if (found.token.length < minServerTokenLength) {
    throw usageError(
      `--token-file: the token has less than ${minServerTokenLength} characters`,
      "Remove the file, and one is made",
    );
  }
  return found.token;
};

/** The token that a client shows: of the file, else of the environment's variable, else none. */
export const readClientToken = async (
  file: string | undefined,
  {
    variable = "HARNESS_AHP_TOKEN",
    env = io().env,
    option = "--token-file",
  }: { variable?: string; env?: NodeJS.ProcessEnv; option?: string } = {},
): Promise<string | undefined> => {
  if (file === undefined) return env[variable]?.trim() || undefined;
  const found = await readToken(file, option);
  if (!found) throw unreadableToken(file, "(it is not there)", undefined, option);
  return found.token;
};

/** What a client shows to a harness over HTTP or WebSocket. */
export interface HarnessAccess {
  readonly credentials?: HttpCredentials;
  readonly inQuery?: boolean;
}

export interface AccessOptions {
  readonly tokenFile?: string | undefined;
  readonly apiKeyFile?: string | undefined;
  readonly credentialsInQuery?: boolean | undefined;
}

/**
 * The credentials that a client shows: a token or an API key, of a file or else of HARNESS_AHP_TOKEN or HARNESS_AHP_API_KEY;
 * none where neither is given. Throws a usage error for two of them, and for files that cannot be read.
 */
export const readAccess = async (
  { tokenFile, apiKeyFile, credentialsInQuery = false }: AccessOptions,
  env: NodeJS.ProcessEnv = io().env,
): Promise<HarnessAccess> => {
  const isNamed = tokenFile !== undefined || apiKeyFile !== undefined;
  // A file that is named counts, whatever the environment has.
  const of = (file: string | undefined, variable: string, option: string) =>
    isNamed && file === undefined ? undefined : readClientToken(file, { variable, env, option });
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
  const credentials = bearer !== undefined ? { bearer } : apiKey !== undefined ? { apiKey } : undefined;
  if (credentials !== undefined) return { credentials, inQuery: credentialsInQuery };
  if (!credentialsInQuery) return {};
  throw usageError(
    "--ahp-credentials-in-query: there is no credential",
    "Name it: --ahp-token-file FILE or --ahp-api-key-file FILE",
  );
};
