import { randomBytes } from "node:crypto";
import { lstat, mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import {
  makeDirectory,
  privatePathProblem,
  readOwnFile,
  systemErrorCode,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { displayText, HarnessError } from "@harnesskit/wire";

/** The token cannot be kept where only this user reads it. */
export class InsecureTokenFileError extends HarnessError {
  static override readonly brand = "InsecureTokenFileError";
  constructor(
    readonly path: string,
    reason: string,
    options?: { cause?: unknown },
  ) {
    super("insecure_token_file", `${displayText(path, { maxLength: 300 })} ${reason}`, options);
  }
}

/** A token that was made, and where it lies. */
export interface TokenFile {
  readonly token: string;
  readonly path: string;
  /** Removes it, if it still holds this token. Never rejects. */
  remove(): Promise<void>;
}

/** Others may not write to the directory of a secret, nor pass through it. */
const checkDirectory = async (directory: string): Promise<void> => {
  const problem = privatePathProblem(await lstat(directory), { kind: "directory", othersMay: "nothing" });
  if (problem !== undefined) throw new InsecureTokenFileError(directory, problem);
};

const isOurs = async (path: string, token: string): Promise<boolean> => {
  try {
    return (await readOwnFile(path, { maxBytes: 4096 })).toString() === `${token}\n`;
  } catch {
    return false;
  }
};

/** Where private directories are made: a runtime directory that is empty or relative counts as none (XDG). */
const baseDirectory = (): string => {
  const runtime = process.env.XDG_RUNTIME_DIR ?? "";
  return isAbsolute(runtime) ? runtime : tmpdir();
};

const makePlace = async (
  wanted: string | undefined,
): Promise<{ path: string; ownDirectory: string | undefined }> => {
  if (wanted === undefined) {
    const directory = await mkdtemp(join(baseDirectory(), "harness-http-"));
    return { path: join(directory, "token"), ownDirectory: directory };
  }
  const path = resolve(wanted);
  await makeDirectory(dirname(path));
  await checkDirectory(dirname(path));
  return { path, ownDirectory: undefined };
};

/**
 * Makes a token of 256 random bits and writes it, with mode 0600, to this file, or to one in a new private directory.
 * A file that is there is replaced. Throws `insecure_token_file`.
 */
export const writeTokenFile = async (wanted?: string): Promise<TokenFile> => {
  const token = randomBytes(32).toString("base64url");
  try {
    const { path, ownDirectory } = await makePlace(wanted);
    await writeFileAtomic(path, `${token}\n`);
    const remove = async () => {
      try {
        if (await isOurs(path, token)) await rm(path, { force: true });
        if (ownDirectory !== undefined) await rmdir(ownDirectory);
      } catch {
        // What is left of it opens nothing any more.
      }
    };
    return { token, path, remove };
  } catch (cause) {
    if (cause instanceof InsecureTokenFileError) throw cause;
    const code = systemErrorCode(cause) ?? "unknown";
    throw new InsecureTokenFileError(
      wanted ?? tmpdir(),
      `cannot hold the token (${code}): choose another path`,
      {
        cause,
      },
    );
  }
};
