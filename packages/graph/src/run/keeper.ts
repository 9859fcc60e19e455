import type { JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError } from "@harnesskit/wire";
import { GraphError, type GraphErrorCode, messageOf } from "../errors.ts";
import type { GraphOutcome, InvocationEnd } from "../outcome.ts";
import type { SessionBinding } from "../sessions/session-binding.ts";
import { jsonProblem } from "../state/freeze.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { StoreBatch } from "../stores/graph-store.ts";
import type { SessionWrite } from "../stores/session-store.ts";
import type { SuspensionPatch, SuspensionWrite } from "../stores/suspension-store.ts";
import { toRecord } from "../suspension/record.ts";
import type { Execution } from "./execute.ts";
import type { Invocation } from "./invocation.ts";
import type { Pause } from "./pause.ts";

const isConflict = (cause: unknown): boolean =>
  HarnessError.isInstance(cause) && ["session_write_conflict", "lease_lost"].includes(cause.code);

const saveError = (cause: unknown, code: GraphErrorCode, state: Snapshot): GraphError => {
  if (GraphError.isInstance(cause)) return cause;
  const [category, what] = isConflict(cause)
    ? (["session_write_conflict", "somebody else has written the session"] as const)
    : ([code, "what was to be kept cannot be stored"] as const);
  return new GraphError(category, `${what}: ${messageOf(cause)}`, { cause, recoverableState: state.view });
};

/** Writes what an invocation keeps: its session, its pause, and how it ended. */
export class Keeper {
  readonly #execution: Execution;
  readonly #session: SessionBinding | undefined;
  #saving: Promise<unknown> = Promise.resolve();

  constructor(execution: Execution) {
    this.#execution = execution;
    this.#session = execution.session;
  }

  #write(state: Snapshot): SessionWrite | undefined {
    const { resumed } = this.#execution;
    return this.#session?.write(
      state,
      resumed?.record.is_session_saved === true ? resumed.paused : undefined,
    );
  }

  async #commit(session: SessionWrite | undefined, suspension: SuspensionWrite | undefined): Promise<void> {
    const batch: StoreBatch = {
      ...(session === undefined ? {} : { session }),
      ...(suspension === undefined ? {} : { suspension }),
      leases: this.#execution.leases,
    };
    const receipt = await this.#execution.host.store.commit(batch);
    if (session !== undefined && receipt.session !== undefined) {
      this.#session?.wrote(session, receipt.session.version);
    }
  }

  /** Saves the session now; false where there is none. One save begins when the one before it is done. */
  async saveSession(state: Snapshot): Promise<boolean> {
    if (this.#session === undefined) return false;
    const save = this.#saving.then(async () => {
      try {
        await this.#commit(this.#write(state), undefined);
      } catch (cause) {
        throw saveError(cause, "session_save_failed", state);
      }
    });
    this.#saving = save.catch(() => {});
    await save;
    return true;
  }

  #settle(end: InvocationEnd): JsonValue | undefined {
    const result = this.#execution.options.settle?.(end);
    const problem = result === undefined ? undefined : jsonProblem(result, "result");
    if (problem === undefined) return result;
    throw new GraphError("suspension_persistence_failed", `settle gave what is no JSON: ${problem}`);
  }

  #end(status: "completed" | "errored", end: InvocationEnd): SuspensionPatch | undefined {
    const { resumed } = this.#execution;
    if (resumed === undefined) return undefined;
    const result = this.#settle(end);
    return {
      kind: "patch",
      invocationId: resumed.record.invocation_id,
      status,
      expectedRevision: resumed.record.revision,
      ...(result === undefined ? { result: null } : { result, isDelivered: false }),
    };
  }

  /** Keeps the session and the end of a resumed run, in one write. */
  async complete(state: Snapshot, outcome: GraphOutcome): Promise<void> {
    const isSaved = this.#session?.plan.autoSave === true;
    await this.#saving;
    try {
      const session = isSaved ? this.#write(state) : undefined;
      const suspension = this.#end("completed", outcome);
      if (session !== undefined || suspension !== undefined) await this.#commit(session, suspension);
    } catch (cause) {
      throw saveError(cause, isSaved ? "session_save_failed" : "suspension_persistence_failed", state);
    }
  }

  /** Keeps that a resumed run failed. Where that cannot be kept, it stays suspended; the error of the run is what counts. */
  async fail(error: unknown): Promise<void> {
    try {
      const suspension = this.#end("errored", { outcome: "errored", error });
      if (suspension !== undefined) await this.#commit(undefined, suspension);
    } catch {
      // It may be resumed again.
    }
  }

  /** Keeps a pause and the session, in one write. Rejects with `suspension_persistence_failed`. */
  async suspend(pause: Pause, state: Snapshot, invocation: Invocation, outcome: GraphOutcome): Promise<void> {
    const { host, info, options, resumed } = this.#execution;
    const isSessionSaved = this.#session?.plan.autoSave === true;
    await this.#saving;
    try {
      const time = new Date(host.clock.now()).toISOString();
      const kept = toRecord(pause, { info, invocation, plan: host.sessions, isSessionSaved, time });
      const result = this.#settle(outcome) ?? resumed?.record.result ?? null;
      await this.#commit(isSessionSaved ? this.#write(state) : undefined, {
        kind: "put",
        record: { ...kept, signal: null, result },
        expectedRevision: resumed?.record.revision ?? null,
        isSignalUnique: options.isSignalUnique ?? false,
      });
    } catch (cause) {
      if (GraphError.isInstance(cause) && cause.code === "suspension_persistence_failed") throw cause;
      throw new GraphError("suspension_persistence_failed", `the pause cannot be kept: ${messageOf(cause)}`, {
        cause,
        namespace: pause.namespace,
        recoverableState: state.view,
      });
    }
  }
}
