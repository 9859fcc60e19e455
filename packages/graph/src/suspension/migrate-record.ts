import type { JsonObject } from "@harnesskit/protocol/envelope";
import { migrate } from "../sessions/migrations.ts";
import type { SessionPlan } from "../sessions/session-plan.ts";
import { SharedList } from "../shared-list.ts";
import type { StoredSession } from "../stores/session-store.ts";
import type { StoredFrame, StoredSuspension } from "../stores/suspension-store.ts";

const swap = (pairs: readonly (readonly [string, string])[], state: JsonObject): JsonObject => {
  const names = new Map(pairs);
  return Object.fromEntries(Object.entries(state).map(([name, value]) => [names.get(name) ?? name, value]));
};

const plainCopy = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

/**
 * The lists that a frame leaves to its session, as they were at the pause. Of a session that has another version meanwhile, they
 * are empty: it has them in that version, and what becomes of these is not used.
 */
const listsOf = ({ session_lists: places }: StoredFrame, session: StoredSession | undefined): JsonObject =>
  Object.fromEntries(
    Object.values(places).map(({ session_field: name, length }) => {
      const list = session?.state[name];
      return [name, list instanceof SharedList || Array.isArray(list) ? list.slice(0, length) : []];
    }),
  );

/**
 * A record of another version of the session's fields in this one: what the outermost graph has is migrated as a session is,
 * with the lists that the session keeps for it. Rejects with the errors of migrations.
 */
export const migrateSuspension = async (
  plan: SessionPlan,
  record: StoredSuspension,
  session: StoredSession | null,
): Promise<StoredSuspension> => {
  const { schema_version: from } = record;
  const [outermost, ...inner] = record.frames;
  if (from === plan.schemaVersion || outermost === undefined) return record;
  // One that has lost its session is refused for that.
  if (record.is_session_saved && session === null) return record;
  const lists = listsOf(outermost, session?.schema_version === from ? session : undefined);
  const stored = { ...swap(plan.fields, plainCopy(outermost.state)), ...plainCopy(lists) };
  const migrated = await migrate(plan.migrations, stored, from, plan.schemaVersion);
  const state = swap(
    plan.fields.map(([field, name]) => [name, field]),
    migrated,
  );
  const frame: StoredFrame = { ...outermost, state };
  return { ...record, schema_version: plan.schemaVersion, frames: [frame, ...inner] };
};
