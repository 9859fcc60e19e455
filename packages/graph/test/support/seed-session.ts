import type { JsonObject } from "@harnesskit/protocol/envelope";
import { freezeJson } from "@harnesskit/wire/json";
import type { GraphStore } from "../../src/stores/graph-store.ts";
import type { StoredSession } from "../../src/stores/session-store.ts";

/** A session as a test wants to find it. */
export interface SessionSeed {
  readonly sessionId: string;
  /** The stored fields, as JSON. A field that is left out has its default when the session is loaded. */
  readonly state: JsonObject;
  /** The version of the schema that the fields are in. @default the empty string: no version */
  readonly schemaVersion?: string;
}

/**
 * Puts a session into a store as if earlier runs had left it there, in place of one with its id; returns the record. Rejects
 * with a `StoreError`, and with a `TypeError` for a state that is not JSON.
 */
export const seedSession = async (
  { sessions }: Pick<GraphStore, "sessions">,
  { sessionId, state, schemaVersion = "" }: SessionSeed,
): Promise<StoredSession> => {
  const fields = freezeJson(JSON.parse(JSON.stringify(state)) as JsonObject);
  const changes = { fields, lists: {}, removed: [] };
  await sessions.save({ sessionId, schemaVersion, state: fields, baseVersion: null, changes });
  return (await sessions.load(sessionId)) as StoredSession;
};
