import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { GraphError, messageOf } from "../errors.ts";
import { SharedList } from "../shared-list.ts";
import { isMapping } from "../state/check.ts";
import { deepFreeze, jsonProblem } from "../state/freeze.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { GraphStore } from "../stores/graph-store.ts";
import type { SessionWrite, StoredSession } from "../stores/session-store.ts";
import type { ListChange, StoredList, StoredState } from "../stores/stored-state.ts";
import { migrate } from "./migrations.ts";
import type { SessionPlan } from "./session-plan.ts";

/** What is stored of the session, as far as this run knows. */
interface Base {
  readonly version: number | null;
  /** By the names in the store; a field that had to be changed on its way here is not among them. */
  readonly cells: ReadonlyMap<string, unknown>;
  /** All names that are stored. */
  readonly names: readonly string[];
}

const nothing: Base = { version: null, cells: new Map(), names: [] };

const changeOf = (list: StoredList, base: unknown): ListChange | undefined => {
  const keep = base instanceof SharedList ? list.commonLength(base) : 0;
  const isSame = base instanceof SharedList && keep === list.length && keep === base.length;
  return isSame ? undefined : { keep, items: list.slice(keep) };
};

export const loadError = (problem: string, cause?: unknown): GraphError =>
  new GraphError("session_load_failed", `the session cannot be loaded: ${problem}`, { cause });

/** Why what a store gave is no record of a session; its state is looked at by the schema. */
const recordProblem = (record: unknown): string | undefined => {
  if (record === null || record === undefined) return undefined;
  const { version, schema_version: schema, state } = record as Readonly<Record<string, unknown>>;
  if (!Number.isFinite(version) || typeof schema !== "string") return "the record has no version";
  return isMapping(state) ? undefined : "the record has no state";
};

/** One session in one run: what was loaded of it, and how a state is written over it. */
export class SessionBinding {
  readonly sessionId: string;
  readonly plan: SessionPlan;
  /** The stored values by field, in the current version; null where there is no record. */
  readonly loaded: Readonly<Record<string, unknown>> | null;
  /** What the store gave, in the version that it was written in; null where there is no record. */
  readonly stored: StoredSession | null;
  #base: Base;
  readonly #isCurrent: boolean;

  private constructor(
    sessionId: string,
    plan: SessionPlan,
    stored: StoredSession | null,
    loaded: Record<string, unknown> | null,
    base: Base,
    isCurrent: boolean,
  ) {
    this.sessionId = sessionId;
    this.plan = plan;
    this.stored = stored;
    this.loaded = loaded;
    this.#base = base;
    this.#isCurrent = isCurrent;
  }

  /** Loads the session, and migrates it where its version is another one. Rejects with an error of its own for each failure. */
  static async load(store: GraphStore, plan: SessionPlan, sessionId: string): Promise<SessionBinding> {
    let record: StoredSession | null | undefined;
    try {
      record = await store.sessions.load(sessionId);
    } catch (cause) {
      throw loadError(messageOf(cause), cause);
    }
    return SessionBinding.of(plan, sessionId, record);
  }

  /** The same of what a store gave. */
  static async of(
    plan: SessionPlan,
    sessionId: string,
    record: StoredSession | null | undefined,
  ): Promise<SessionBinding> {
    const problem = recordProblem(record);
    if (problem !== undefined) throw loadError(problem);
    // A store may say with undefined that there is none.
    if (record === null || record === undefined)
      return new SessionBinding(sessionId, plan, null, null, nothing, true);
    const isCurrent = record.schema_version === plan.schemaVersion;
    const state = isCurrent ? record.state : await migrateRecord(plan, record);
    const loaded: Record<string, unknown> = {};
    for (const [field, stored] of plan.fields) {
      if (Object.hasOwn(state, stored)) loaded[field] = state[stored];
    }
    const base = { version: record.version, cells: new Map(), names: Object.keys(record.state) };
    return new SessionBinding(sessionId, plan, record, loaded, base, isCurrent);
  }

  /**
   * Tells which cells stand for what is stored: those of a state that was made of the loaded values. After a migration none do,
   * nor do lists that were not stored as such.
   */
  adopt(state: Snapshot): void {
    if (this.loaded === null || !this.#isCurrent) return;
    const cells = new Map<string, unknown>();
    for (const [field, stored] of this.plan.fields) {
      const cell = state.cellOf(field);
      const value = this.loaded[field];
      if (value === undefined || value instanceof SharedList !== cell instanceof SharedList) continue;
      cells.set(stored, cell);
    }
    this.#base = { ...this.#base, cells };
  }

  /** The version that is stored, as far as this run knows. */
  get version(): number | null {
    return this.#base.version;
  }

  /**
   * A state as a write over what was loaded. Values of `paused` that the state still has were not changed by this run; what the
   * session has instead stays. Throws `session_save_failed` for what is not JSON.
   */
  write(state: Snapshot, paused?: Snapshot): SessionWrite {
    const { version, cells, names } = this.#base;
    const whole: Record<string, JsonValue | StoredList> = {};
    const fields: Record<string, JsonValue> = {};
    const lists: Record<string, ListChange> = {};
    for (const [field, stored] of this.plan.fields) {
      const base = cells.get(stored);
      const cell = this.#cellToWrite(state.cellOf(field), paused?.cellOf(field), base);
      if (cell instanceof SharedList) {
        const change = changeOf(cell as StoredList, base);
        this.#demandJson(field, change?.items);
        whole[stored] = cell as StoredList;
        if (change !== undefined) lists[stored] = change;
      } else if (cell !== undefined) {
        this.#demandJson(field, cell);
        whole[stored] = cell as JsonValue;
        if (cell !== base) fields[stored] = cell as JsonValue;
      }
    }
    const removed = names.filter((name) => !Object.hasOwn(whole, name));
    return {
      sessionId: this.sessionId,
      schemaVersion: this.plan.schemaVersion,
      state: Object.freeze(whole),
      baseVersion: version,
      changes: { fields, lists, removed },
      ...(this.plan.concurrency === "optimistic" ? { expectedVersion: version } : {}),
    };
  }

  #cellToWrite(cell: unknown, paused: unknown, base: unknown): unknown {
    if (cell instanceof SharedList || paused === undefined || base === undefined) return cell;
    return cell === paused ? base : cell;
  }

  #demandJson(field: string, value: unknown): void {
    const problem = value === undefined ? undefined : jsonProblem(value, field);
    if (problem === undefined) return;
    throw new GraphError(
      "session_save_failed",
      `the session cannot be stored: ${problem}, which is no JSON`,
      {
        fields: [field],
      },
    );
  }

  /** Remembers what a write has stored. */
  wrote(write: SessionWrite, version: number): void {
    this.#base = { version, cells: new Map(Object.entries(write.state)), names: Object.keys(write.state) };
  }
}

const plainCopy = (state: StoredState): JsonObject => structuredClone(JSON.parse(JSON.stringify(state)));

const migrateRecord = async (plan: SessionPlan, record: StoredSession): Promise<StoredState> =>
  deepFreeze(
    await migrate(plan.migrations, plainCopy(record.state), record.schema_version, plan.schemaVersion),
  );
