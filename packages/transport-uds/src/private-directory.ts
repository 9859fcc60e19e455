import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { makeDirectory, privatePathProblem, systemErrorCode } from "@harnesskit/node-kit";
import { displayText, TransportError } from "@harnesskit/wire";
import { InsecureDirectoryError } from "./errors.ts";

/** Identifies a directory, to notice when another one stands at its path. */
export type DirectoryIdentity = Pick<BigIntStats, "dev" | "ino">;

const inspect = async (directory: string): Promise<DirectoryIdentity> => {
  const found = await stat(directory, { bigint: true });
  const problem = privatePathProblem(found, { kind: "directory", othersMay: "nothing" });
  if (problem !== undefined) throw new InsecureDirectoryError(directory, problem);
  return found;
};

/**
 * Makes the directory, with mode 0700, or checks that an existing one belongs to this user and is closed to others.
 * Throws `insecure_directory`, and `transport_failed` when it cannot be made.
 */
export const openPrivateDirectory = async (directory: string): Promise<DirectoryIdentity> => {
  try {
    await makeDirectory(directory);
    return await inspect(directory);
  } catch (cause) {
    if (cause instanceof InsecureDirectoryError) throw cause;
    const shown = displayText(directory, { maxLength: 300 });
    const message = `the socket's directory ${shown} cannot be used (${systemErrorCode(cause) ?? "unknown"}): choose another`;
    throw new TransportError(message, { cause });
  }
};

/** Throws `insecure_directory` unless it is still the same directory, and still private. */
export const recheckDirectory = async (directory: string, was: DirectoryIdentity): Promise<void> => {
  const found = await inspect(directory);
  if (found.dev === was.dev && found.ino === was.ino) return;
  throw new InsecureDirectoryError(
    directory,
    "was replaced while the socket was made: choose one that no other user can move",
  );
};
