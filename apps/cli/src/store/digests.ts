import {
  isList,
  type SessionChanges,
  type StoredRun,
  type StoredSession,
  type StoredState,
  type StoredSuspension,
} from "@harnesskit/graph";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { canonicalJson, digest } from "@harnesskit/wire";

const plain = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

/** The digest of what a session says, without what each store adds: versions and times. */
export const sessionDigest = ({ schema_version, state }: StoredSession): Promise<string> =>
  digest(plain({ schema_version, state }));

export const suspensionDigest = ({
  revision: _,
  updated_at: __,
  ...record
}: StoredSuspension): Promise<string> => digest(plain(record));

export const runDigest = (run: StoredRun): Promise<string> => digest(plain(run));

const isSame = (one: unknown, other: unknown): boolean =>
  one !== undefined && other !== undefined && canonicalJson(plain(one)) === canonicalJson(plain(other));

const commonLength = (one: readonly unknown[], other: readonly unknown[]): number => {
  let length = 0;
  while (length < Math.min(one.length, other.length) && isSame(one[length], other[length])) length++;
  return length;
};

/** What one state of a session has changed in the one before, so that a store keeps both. */
export const changesBetween = (before: StoredState, after: StoredState): SessionChanges => {
  const fields: Record<string, JsonValue> = {};
  const lists: Record<string, { keep: number; items: readonly JsonValue[] }> = {};
  for (const [name, value] of Object.entries(after)) {
    const earlier = before[name];
    if (isList(value)) {
      const keep = isList(earlier) ? commonLength(earlier, value) : 0;
      lists[name] = { keep, items: value.slice(keep) as JsonValue[] };
    } else if (!isSame(earlier, value)) fields[name] = value as JsonValue;
  }
  return { fields, lists, removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)) };
};
