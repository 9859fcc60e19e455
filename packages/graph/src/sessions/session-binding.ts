import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { GraphError, orFail, thrownMessage } from "../errors.ts";
import { commonLength, isList } from "../list.ts";
import { loadFields, replaceFields } from "../state/apply.ts";
import { deepFreeze } from "../state/check.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { demandJson, plainCopy } from "../state/stored-json.ts";
import type { GraphStore } from "../stores/graph-store.ts";
import type { ListChange, SessionWrite, StoredList, StoredSession } from "../stores/session-store.ts";
import { migrateState } from "./migrations.ts";
import type { SessionPlan } from "./session-plan.ts";

const changeOf = (list: StoredList, base: unknown): ListChange | undefined => {
  if (list === base) return undefined;
  if (!isList(base)) return { keep: 0, items: list };
  const keep = commonLength(list, base);
  const isSame = keep === list.length && keep === base.length;
  return isSame ? undefined : { keep, items: list.slice(keep) };
};

/** One session in one run: what was loaded, and how a state is written over it. */
export class SessionBinding {
  readonly sessionId: string;
  readonly plan: SessionPlan;
  /** The stored values by field, in the current version; null without a record. */
  readonly loaded: Readonly<Record<string, unknown>> | null;
  /** What the store returned, in the version that it was written in; null without a record. */
  readonly stored: StoredSession | null;
  /** The stored version as far as this run knows. */
  #version: number | null;
  /** By the names that are stored, the cells that equal what is stored; undefined where the run has none. */
  #cells: Map<string, unknown>;

  private constructor(
    sessionId: string,
    plan: SessionPlan,
    stored: StoredSession | null,
    loaded: Record<string, unknown> | null,
  ) {
    this.sessionId = sessionId;
    this.plan = plan;
    this.stored = stored;
    this.loaded = loaded;
    this.#version = stored?.version ?? null;
    this.#cells = new Map(Object.keys(stored?.state ?? {}).map((name) => [name, undefined]));
  }

  /** Loads the session, and migrates it if it has another version. Rejects with a `GraphError` for each failure. */
  static async load(store: GraphStore, plan: SessionPlan, sessionId: string): Promise<SessionBinding> {
    const loading = store.sessions.load(sessionId);
    const record = await orFail(loading, "session_load_failed", "the session cannot be loaded");
    return SessionBinding.of(plan, sessionId, record);
  }

  /** The same for a record that was loaded. */
  static async of(
    plan: SessionPlan,
    sessionId: string,
    record: StoredSession | null,
  ): Promise<SessionBinding> {
    if (record === null) return new SessionBinding(sessionId, plan, null, null);
    const { schema_version: from } = record;
    const { schemaVersion: to, migrations, fields } = plan;
    const state =
      from === to
        ? record.state
        : deepFreeze(await migrateState(migrations, plainCopy<JsonObject>(record.state), from, to));
    const kept = fields.filter(([, stored]) => Object.hasOwn(state, stored));
    const loaded = Object.fromEntries(kept.map(([field, stored]) => [field, state[stored]]));
    return new SessionBinding(sessionId, plan, record, loaded);
  }

  /** The loaded state over the defaults. Throws `session_load_failed` if the schema refuses it. */
  toState(defaults: Snapshot): Snapshot {
    if (this.loaded === null) return defaults;
    // What a migration has made is new to the schema.
    const isMigrated = this.stored?.schema_version !== this.plan.schemaVersion;
    let state: Snapshot;
    try {
      state = (isMigrated ? replaceFields : loadFields)(defaults, this.loaded);
    } catch (cause) {
      const message = `the session cannot be loaded: the stored state is not valid: ${thrownMessage(cause)}`;
      throw new GraphError("session_load_failed", message, { cause });
    }
    // What equals what is stored: not lists that were not stored as such.
    for (const [field, name] of isMigrated ? [] : this.plan.fields) {
      const [value, cell] = [this.loaded[field], state.cell(field)];
      if (value !== undefined && isList(value) === isList(cell)) this.#cells.set(name, cell);
    }
    return state;
  }

  /**
   * A state as a write over what was loaded. Values of `paused` that the state still has were not changed by this run; the values
   * of the session stay in their place. Throws `session_save_failed` for a value that is not JSON.
   */
  write(state: Snapshot, paused?: Snapshot): SessionWrite {
    const whole: Record<string, JsonValue | StoredList> = {};
    const fields: Record<string, JsonValue> = {};
    const lists: Record<string, ListChange> = {};
    for (const [field, stored] of this.plan.fields) {
      const base = this.#cells.get(stored);
      const own = state.cell(field);
      const isUnchanged = paused !== undefined && base !== undefined && own === paused.cell(field);
      const cell = isUnchanged && !isList(own) ? base : own;
      if (cell === undefined) continue;
      whole[stored] = cell as JsonValue | StoredList;
      const change = isList(cell) ? changeOf(cell as StoredList, base) : undefined;
      if (change !== undefined) lists[stored] = change;
      else if (!isList(cell) && cell !== base) fields[stored] = cell as JsonValue;
      demandJson(field, change?.items ?? fields[stored] ?? null, "session_save_failed");
    }
    const removed = [...this.#cells.keys()].filter((name) => !Object.hasOwn(whole, name));
    return {
      sessionId: this.sessionId,
      schemaVersion: this.plan.schemaVersion,
      state: Object.freeze(whole),
      baseVersion: this.#version,
      changes: { fields, lists, removed },
      expectedVersion: this.plan.concurrency === "optimistic" ? this.#version : undefined,
    };
  }

  /** What is stored under a name, as far as the run has it; undefined otherwise. After {@link toState}. */
  cellOf(stored: string): unknown {
    return this.#cells.get(stored);
  }

  /** Remembers what a write has stored. */
  wrote({ state }: SessionWrite, version: number): void {
    this.#version = version;
    this.#cells = new Map(Object.entries(state));
  }
}
