import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { makeDirectory, systemErrorCode } from "@harnesskit/node-kit";
import { displayText, TransportError } from "@harnesskit/wire";
import { InsecureDirectoryError } from "./errors.ts";

/** Which directory it was; tells when another one stands at its path. */
export interface DirectoryIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Whether others can write to it or pass through it. That they can list the names is no harm. */
const openToOthers = 0o033n;

const judge = (found: BigIntStats): string | undefined => {
  const user = process.geteuid?.();
  if (!found.isDirectory()) return "is no directory: choose another path";
  if (user !== undefined && found.uid !== BigInt(user)) {
    return `belongs to user ${found.uid} and this process runs as user ${user}: choose a directory of its own`;
  }
  if ((found.mode & openToOthers) === 0n) return undefined;
  const mode = (found.mode & 0o777n).toString(8).padStart(4, "0");
  return `can be entered or written by other users (mode ${mode}): chmod it to 0700 or choose another`;
};

const inspect = async (directory: string): Promise<BigIntStats> => {
  const found = await stat(directory, { bigint: true });
  const reason = judge(found);
  if (reason !== undefined) throw new InsecureDirectoryError(directory, reason);
  return found;
};

const unusable = (directory: string, cause: unknown): TransportError => {
  const code = systemErrorCode(cause) ?? "unknown";
  const shown = displayText(directory, { maxLength: 300 });
  return new TransportError(`the socket's directory ${shown} cannot be used (${code}): choose another`, {
    cause,
  });
};

/**
 * Makes the directory, with mode 0700, or checks that an existing one belongs to this user and lets nobody else in.
 * Throws `insecure_directory`, and `transport_failed` when it cannot be made.
 */
export const openPrivateDirectory = async (directory: string): Promise<DirectoryIdentity> => {
  try {
    await makeDirectory(directory);
    return await inspect(directory);
  } catch (cause) {
    if (cause instanceof InsecureDirectoryError) throw cause;
    throw unusable(directory, cause);
  }
};

/** Throws `insecure_directory` unless it is still the same directory, and still private. */
export const recheckDirectory = async (directory: string, was: DirectoryIdentity): Promise<void> => {
  const found = await inspect(directory);
  if (found.dev === was.dev && found.ino === was.ino) return;
  throw new InsecureDirectoryError(
    directory,
    "was exchanged while the socket was made: choose one that nobody else can move",
  );
};
