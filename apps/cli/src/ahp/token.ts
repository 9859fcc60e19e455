import type { FileHandle } from "node:fs/promises";
import { isMissing, openOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { CliError, usageError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";

const maxTokenFileBytes = 4096;
const minServerTokenLength = 16;

const unreadable = (file: string, why: string, cause?: unknown, option = "--token-file"): CliError =>
  new CliError("token_unreadable", `${option}: ${oneLine(file)} cannot be read ${why}`.trimEnd(), {
    exitCode: ExitCode.usage,
    hint: "Name a file with the token and nothing else in it",
    cause,
  });

/** Opens the file, whose name may be a link: mounted secrets are. Undefined where there is none. */
const openFile = async (file: string, option: string): Promise<FileHandle | undefined> => {
  try {
    return await openOwnFile(file, { followLinks: true, maxBytes: maxTokenFileBytes });
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    const why = UnsafeFileError.isInstance(cause) ? cause.problem : (systemErrorCode(cause) ?? "unknown");
    throw unreadable(file, `(${why})`, cause, option);
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
      throw usageError(`${option}: ${oneLine(file)} holds no token`, "A token is visible ASCII characters");
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
    throw usageError(`--token-file: ${oneLine(file)} is open to other users`, "chmod it to 0600");
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
    env = process.env,
    option = "--token-file",
  }: { variable?: string; env?: NodeJS.ProcessEnv; option?: string } = {},
): Promise<string | undefined> => {
  if (file === undefined) return env[variable]?.trim() || undefined;
  const found = await readToken(file, option);
  if (!found) throw unreadable(file, "(it is not there)", undefined, option);
  return found.token;
};
