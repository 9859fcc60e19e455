import type { JsonObject } from "@harnesskit/protocol/envelope";
import { migrate } from "../sessions/migrations.ts";
import type { SessionPlan } from "../sessions/session-plan.ts";
import type { StoredFrame, StoredSuspension } from "../stores/suspension-store.ts";

const swap = (pairs: readonly (readonly [string, string])[], state: JsonObject): JsonObject => {
  const names = new Map(pairs);
  return Object.fromEntries(Object.entries(state).map(([name, value]) => [names.get(name) ?? name, value]));
};

/**
 * A record of another version of the session's fields in this one: what the outermost graph has is migrated as a session is.
 * Rejects with the errors of migrations.
 */
export const migrateSuspension = async (
  plan: SessionPlan,
  record: StoredSuspension,
): Promise<StoredSuspension> => {
  const [outermost, ...inner] = record.frames;
  if (record.schema_version === plan.schemaVersion || outermost === undefined) return record;
  const stored = swap(plan.fields, JSON.parse(JSON.stringify(outermost.state)) as JsonObject);
  const migrated = await migrate(plan.migrations, stored, record.schema_version, plan.schemaVersion);
  const state = swap(
    plan.fields.map(([field, name]) => [name, field]),
    migrated,
  );
  const frame: StoredFrame = { ...outermost, state };
  return { ...record, schema_version: plan.schemaVersion, frames: [frame, ...inner] };
};
