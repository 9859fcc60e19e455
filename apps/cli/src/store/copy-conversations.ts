import {
  type GraphStore,
  isList,
  type SessionChanges,
  type StoredSession,
  type StoredState,
  sessionLeaseKey,
} from "@harnesskit/graph";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";
import { allOf, type CopyCount, conflict, copyEach, copyHeld, sameJson } from "./copy-kind.ts";
import type { Continuations } from "./open.ts";

/** How long a conversation is kept from others by a copy that was killed. */
const ttlMs = 5000;
/** More than any store keeps. */
const allStates = 1_000_000;
const limit = 100;

/** Whether two states of a session say the same; each store gives versions and times of its own. */
const isSameState = (one: StoredSession, other: StoredSession): boolean =>
  one.schema_version === other.schema_version && sameJson(one.state, other.state);

/** What one state of a session has changed in the one before, so that a store keeps both. */
const changesBetween = (before: StoredState, after: StoredState): SessionChanges => {
  const fields: Record<string, JsonValue> = {};
  const lists: Record<string, { keep: number; items: readonly JsonValue[] }> = {};
  for (const [name, value] of Object.entries(after)) {
    const earlier = before[name];
    if (isList(value)) {
      let keep = 0;
      if (isList(earlier))
        while (keep < Math.min(earlier.length, value.length) && sameJson(earlier[keep], value[keep])) keep++;
      lists[name] = { keep, items: value.slice(keep) as JsonValue[] };
    } else if (earlier === undefined || !sameJson(earlier, value)) fields[name] = value as JsonValue;
  }
  return { fields, lists, removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)) };
};

/** Copies a session with its history. Returns whether there was something to copy. */
const copySession = async (from: GraphStore, to: GraphStore, sessionId: string): Promise<boolean> => {
  const states = (await from.sessions.history(sessionId, allStates)).reverse();
  const last = states.at(-1);
  if (last === undefined) return false;
  const there = await to.sessions.load(sessionId);
  if (there !== null) {
    if (isSameState(there, last)) return false;
    // Behind a copy that was interrupted, an earlier state is there.
    if (!states.some((state) => isSameState(there, state))) throw conflict("the conversation", sessionId);
    await to.sessions.delete(sessionId);
  }
  let before: { readonly state: StoredState; readonly version: number } | undefined;
  for (const { state, schema_version: schemaVersion } of states) {
    const { version } = await to.sessions.save({
      sessionId,
      schemaVersion,
      state,
      baseVersion: before?.version ?? null,
      changes: changesBetween(before?.state ?? {}, state),
      expectedVersion: before?.version ?? null,
    });
    before = { state, version };
  }
  return true;
};

export const copySessions = async (from: GraphStore, to: GraphStore): Promise<CopyCount> => {
  const all = await from.sessions.list();
  // The one written first is first in TO as well.
  const ids = all.reverse().map(({ session_id: id }) => id);
  const take = (id: string) => from.leases.acquire(sessionLeaseKey(id), { ttlMs });
  return copyHeld("the conversation", ids, take, (id) => copySession(from, to, id));
};

/** What is there under the ids, without what has gone meanwhile. */
async function* loaded<T>(ids: readonly string[], load: (id: string) => Promise<T | null>) {
  for (const id of ids) {
    const found = await load(id);
    if (found !== null) yield found;
  }
}

export const copySuspensions = async (from: GraphStore, to: GraphStore): Promise<CopyCount> => {
  const ids = (await from.suspensions.list()).map(({ invocation_id: id }) => id);
  return copyEach(
    loaded(ids, (id) => from.suspensions.load(id)),
    {
      what: "the turn",
      idOf: ({ invocation_id: id }) => id,
      find: ({ invocation_id: id }) => to.suspensions.load(id),
      said: ({ revision: _, updated_at: __, ...record }) => record,
      put: ({ revision: _, updated_at: __, ...record }) =>
        to.suspensions.save({ kind: "put", record, expectedRevision: null }),
    },
  );
};

/** Copies turns that have neither ended nor paused. */
export const copyRuns = async (from: GraphStore, to: GraphStore): Promise<CopyCount> => {
  const ids = (await from.runs.list()).map(({ run_id: id }) => id);
  return copyEach(
    loaded(ids, (id) => from.runs.load(id)),
    {
      what: "the run",
      idOf: ({ run_id: id }) => id,
      find: ({ run_id: id }) => to.runs.load(id),
      put: ({ entries, ...record }) =>
        to.commit({ run: { kind: "append", runId: record.run_id, record, expectedEntries: 0, entries } }),
    },
  );
};

type Continuation = Awaited<ReturnType<Continuations["page"]>>[number];

/** Open questions of shells, with the key that signs them: an answer to FROM's question is taken by TO. */
export const copyContinuations = async (from: Continuations, to: Continuations): Promise<CopyCount> => {
  const all = (store: Continuations) =>
    allOf<Continuation, string | undefined>(undefined, async (afterId) => {
      const page = await store.page({ afterId, limit });
      return [page, page.at(-1)?.id];
    });
  const there = new Map<string, Continuation>();
  for await (const each of all(to)) there.set(each.id, each);
  try {
    return await copyEach(all(from), {
      what: "the continuation",
      idOf: ({ id }) => id,
      find: ({ id }) => there.get(id),
      put: (each) => to.restore(from.key, [each]),
    });
  } catch (cause) {
    if (!HarnessError.isInstance(cause) || cause.code !== "key_conflict") throw cause;
    throw new CliError("copy_conflict", "TO has open shell questions that were signed with another key", {
      hint: "Copy to an empty store.",
      cause,
    });
  }
};
