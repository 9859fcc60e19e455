import { userInfo } from "node:os";
import { join } from "node:path";
import { isRfc3339 } from "@harnesskit/protocol/envelope";
import { type Caller, CallerSchema } from "@harnesskit/protocol/runtime";
import { HarnessError } from "@harnesskit/wire";
import { isoTime } from "@harnesskit/wire/time";
import { unavailableError, usageError } from "../cli-error.ts";
import { readAgeMs } from "../commands/options.ts";
import { fromHere, io } from "../io.ts";
import { stateDirectory } from "../workspace-directory.ts";

/** The file of the grants: the one that was named, or that of this user. */
export const grantsFile = (named?: string): string =>
  named === undefined ? join(stateDirectory("core"), "grants.json") : fromHere(named);

/** Who gives a command, for the record. */
export const thisUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};

/** Reads `human:ada`. Throws a usage error. */
export const toParty = (option: string, text: string): Caller => {
  const colon = text.indexOf(":");
  const { data } = CallerSchema.safeParse({ type: text.slice(0, colon), id: text.slice(colon + 1) });
  if (colon > 0 && data) return data;
  throw usageError(
    `${option} must be TYPE:ID, got ${JSON.stringify(text)}`,
    "TYPE is human, agent or system, as in human:ada",
  );
};

/** Reads a time to come, `2027-01-31T12:00:00Z`, or the time from now until it: `30d`, `12h`, `90m`. Throws a usage error. */
export const toUntil = (option: string, text: string): string => {
  const now = io().clock.now();
  const time = isRfc3339(text) ? Date.parse(text) : now + (readAgeMs(text) ?? Number.NaN);
  if (time > now) return isoTime(time);
  throw usageError(
    `${option} must be a time to come, got ${JSON.stringify(text)}`,
    "Write it as 2027-01-31T12:00:00Z, 30d, 12h or 90m",
  );
};

/** Works with a store; what it rejects is the end of a command. */
export const withFile = async <T>(work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    throw toFileFailure(cause);
  }
};

const toFileFailure = (cause: unknown): unknown => {
  if (!HarnessError.isInstance(cause)) return cause;
  if (cause.code === "invalid_argument") return usageError(cause.message);
  return unavailableError(cause.code, cause.message, { cause });
};
