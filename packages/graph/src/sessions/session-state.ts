import type { SuspensionSummary } from "@harnesskit/protocol/chat";
import { checkNumber, InvalidArgumentError } from "@harnesskit/wire";
import { orFail } from "../errors.ts";
import type { Host } from "../run/host.ts";
import type { Fields, StateOf } from "../state/schema.ts";
import type { GraphStore } from "../stores/graph-store.ts";
import type { StoredSession } from "../stores/session-store.ts";
import { SessionBinding } from "./session-binding.ts";

/** A state of a session that was saved: at the end of a run, at a pause, or by `saveSession`. */
export interface SavedState<F extends Fields = Fields> {
  /** Grows with every save. */
  readonly version: number;
  /** The version of the schema that it was saved in. */
  readonly schema_version: string;
  /** RFC 3339, UTC. */
  readonly saved_at: string;
  /** As a run would load it; null where it cannot be migrated to what the graph declares now. */
  readonly state: StateOf<F> | null;
}

/** What is known of a session. */
export interface GraphSessionState<F extends Fields = Fields> {
  readonly session_id: string;
  /** `suspended`: at least one invocation waits for a signal. A run in progress is not visible before it saves. */
  readonly status: "idle" | "suspended";
  /** What waits, the one suspended first at the head. */
  readonly waiting: readonly Pick<
    SuspensionSummary,
    "invocation_id" | "descriptor" | "node_name" | "namespace" | "suspended_at"
  >[];
  /** As the next run would load it; null where no state was saved. */
  readonly state: StateOf<F> | null;
  /** Of the saved state; null without one. */
  readonly version: number | null;
  /** The states that were saved and that the store still has, the current one first. */
  readonly history: readonly SavedState<F>[];
}

/** Options of `getState`. */
export interface SessionStateOptions {
  /** How many states of the history to read; 0: none. @default 20 */
  readonly historyLimit?: number | undefined;
}

/** How often it looks again when the session was written meanwhile. */
const maxReads = 5;

const toSaved = async ({ plan, sessions }: Host, record: StoredSession): Promise<SavedState> => {
  const { version, schema_version, updated_at: saved_at } = record;
  const facts = { version, schema_version, saved_at };
  try {
    const binding = await SessionBinding.of(sessions, record.session_id, record);
    return { ...facts, state: binding.toState(plan.defaults()).view as StateOf<Fields> };
  } catch {
    return { ...facts, state: null };
  }
};

/** The session, what waits in it, and its history, of one moment: a pause and its session are stored in one write. */
const readTogether = async ({ sessions, suspensions }: GraphStore, sessionId: string, limit: number) => {
  let before = await sessions.load(sessionId);
  for (let reads = 0; ; reads++) {
    const waiting = await suspensions.list({ sessionId, status: "suspended" });
    const record = await sessions.load(sessionId);
    if (record?.version === before?.version || reads >= maxReads) {
      if (record === null || limit === 0) return { record, waiting, kept: [] };
      // What was saved since the session was read is not of that moment.
      const saved = await sessions.history(sessionId, limit);
      const earlier = saved.filter(({ version }) => version < record.version);
      return { record, waiting, kept: [record, ...earlier].slice(0, limit) };
    }
    before = record;
  }
};

/** What is known of a session; null for one that is unknown. Rejects with `session_load_failed` and the errors of migrations. */
export const readSessionState = async (
  host: Host,
  sessionId: string,
  { historyLimit = 20 }: SessionStateOptions,
): Promise<GraphSessionState | null> => {
  if (typeof sessionId !== "string" || sessionId === "") throw new InvalidArgumentError("sessionId is empty");
  if (!host.keepsSessions) throw new InvalidArgumentError("getState needs a store: compile({ store })");
  checkNumber("historyLimit", historyLimit, { min: 0 });
  const reading = readTogether(host.store, sessionId, historyLimit);
  const read = await orFail(reading, "session_load_failed", "the session cannot be loaded");
  const { record, waiting, kept } = read;
  if (record === null && waiting.length === 0) return null;
  const binding = await SessionBinding.of(host.sessions, sessionId, record);
  const state = record === null ? null : (binding.toState(host.plan.defaults()).view as StateOf<Fields>);
  return {
    session_id: sessionId,
    status: waiting.length > 0 ? "suspended" : "idle",
    waiting: waiting.map(({ invocation_id, descriptor, node_name, namespace, suspended_at }) => ({
      invocation_id,
      descriptor,
      node_name,
      namespace,
      suspended_at,
    })),
    state,
    version: record?.version ?? null,
    history: await Promise.all(kept.map((saved) => toSaved(host, saved))),
  };
};
