import { HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { errorCategory, GraphError, type GraphErrorCode, thrownMessage } from "../errors.ts";
import type { InvokeOptions, ResumeOptions, StartOptions } from "../invoke-options.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import type { CompletedOutcome, GraphOutcome, SuspendedOutcome } from "../outcome.ts";
import { SessionBinding } from "../sessions/session-binding.ts";
import { applyInitial } from "../state/apply.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { type HeldLease, holdLease, type LeaseOptions } from "../stores/lease-store.ts";
import type { StoredSuspension } from "../stores/suspension-store.ts";
import { invalidRecord, restore } from "../suspension/restore.ts";
import { AbortScope, cancelledBy, follow } from "./abort-scope.ts";
import { runIn } from "./ambient.ts";
import { attachedNow, type Beginning, type Host, Invocation } from "./invocation.ts";
import { Pause } from "./pause.ts";
import { runGraph } from "./run-graph.ts";

const urlSafe = /^[A-Za-z0-9\-._~]+$/;

/** The leases that an invocation takes. */
class Leases {
  readonly held: HeldLease[] = [];
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Takes a lease; rejects with what `refuse` makes of the store's error. */
  async take(
    key: string,
    options: Omit<LeaseOptions, "ttlMs">,
    refuse: (cause: unknown, isTaken: boolean) => GraphError,
  ): Promise<void> {
    const { store, sessions, clock } = this.#host;
    try {
      this.held.push(await holdLease(store.leases, key, { ttlMs: sessions.leaseTtlMs, ...options }, clock));
    } catch (cause) {
      throw refuse(cause, HarnessError.isInstance(cause) && cause.code === "lease_taken");
    }
  }

  async release(): Promise<void> {
    for (const lease of this.held.reverse()) await lease.release();
  }
}

/** Loads a session, under its lease if the graph asks for one. */
const openSession = async (
  { keepsSessions, sessions, store }: Host,
  sessionId: string | null,
  leases: Leases,
  signal: AbortSignal | undefined,
): Promise<SessionBinding | undefined> => {
  if (sessionId === null || !keepsSessions) return undefined;
  if (sessions.concurrency === "lease") {
    const options = { waitMs: sessions.leaseWaitMs, ...(signal === undefined ? {} : { signal }) };
    await leases.take(`session:${sessionId}`, options, (cause, isTaken) => {
      if (signal?.aborted) return cancelledBy(signal.reason);
      const code: GraphErrorCode = isTaken ? "session_write_conflict" : "session_load_failed";
      return new GraphError(code, `the session cannot be taken: ${thrownMessage(cause)}`, { cause });
    });
  }
  return SessionBinding.load(store, sessions, sessionId);
};

const demandId = (value: string | undefined, name: string): void => {
  if (value === "") throw new InvalidArgumentError(`${name} is empty`);
};

const start = async (host: Host, id: string, options: StartOptions, leases: Leases): Promise<Beginning> => {
  const { sessionId, correlationId, initial, metadata = {} } = options;
  demandId(sessionId, "sessionId");
  demandId(id, "invocationId");
  if (correlationId !== undefined && !urlSafe.test(correlationId)) {
    throw new InvalidArgumentError("correlationId is empty or has characters that need escaping in a URL");
  }
  const session = await openSession(host, sessionId ?? null, leases, options.signal);
  const loaded = session?.loaded ?? null;
  const defaults = host.plan.defaults();
  const state = session?.toState(defaults) ?? defaults;
  const supplied =
    typeof initial === "function" ? initial(loaded === null ? null : (state.view as never)) : initial;
  return {
    info: {
      invocationId: id,
      correlationId: correlationId ?? host.createId("cor"),
      sessionId: sessionId ?? null,
      metadata,
    },
    session,
    entry: applyInitial(state, supplied, new Set(Object.keys(loaded ?? {}))),
  };
};

const loadRecord = async (host: Host, invocationId: string): Promise<StoredSuspension> => {
  const record = await host.store.suspensions.load(invocationId).catch((cause: unknown) => {
    const message = `the record cannot be loaded: ${thrownMessage(cause)}`;
    throw new GraphError("suspension_persistence_failed", message, { cause });
  });
  if (record === null) throw invalidRecord("unknown", "no paused invocation has this id");
  if (record.status === "suspended") return record;
  throw invalidRecord("already_resumed", `the invocation has ${record.status}`);
};

const resume = async (host: Host, id: string, options: ResumeOptions, leases: Leases): Promise<Beginning> => {
  const { signalPayload, metadata = {} } = options;
  if (typeof id !== "string" || id === "") throw new InvalidArgumentError("resumeInvocation is empty");
  if (signalPayload === undefined)
    throw new InvalidArgumentError("a resumed invocation needs a signalPayload");
  await leases.take(`invocation:${id}`, {}, (cause, isTaken) => {
    if (isTaken) return invalidRecord("being_resumed", "the invocation is being resumed already", cause);
    const message = `the record cannot be taken: ${thrownMessage(cause)}`;
    return new GraphError("suspension_persistence_failed", message, { cause });
  });
  const record = await loadRecord(host, id);
  const { correlation_id: correlationId, session_id: sessionId } = record;
  const session = await openSession(host, sessionId, leases, options.signal);
  const resumed = await restore(host, record, session, signalPayload);
  const info = { invocationId: id, correlationId, sessionId, metadata };
  return { info, session, entry: resumed.cursor.state, resumed };
};

/** Runs an invocation to its end or its pause, and stores what is to be stored. */
const run = async (invocation: Invocation, abort: AbortScope): Promise<GraphOutcome> => {
  const { host, info, begun } = invocation;
  const facts = {
    invocation_id: info.invocationId,
    correlation_id: info.correlationId,
    session_id: info.sessionId,
    entry_state: begun.entry.view,
  };
  let final: Snapshot;
  try {
    const frame = {
      invocation,
      plan: host.plan,
      namespace: [],
      parents: [],
      attached: invocation.attachedTo(host.plan),
      fanOutIndexes: [],
      branchNames: [],
      canSuspend: true,
      abort,
    };
    final = await runGraph(frame, begun.entry, begun.resumed?.cursor);
  } catch (error) {
    if (error instanceof Pause) return suspend(invocation, facts, error);
    // A cancelled run may be resumed again; one that failed may not.
    if (errorCategory(error) !== "invocation_cancelled") await invocation.fail(error);
    throw error;
  }
  const outcome = { ...facts, outcome: "completed", state: final.view } as CompletedOutcome<never>;
  await invocation.complete(final, outcome);
  return outcome;
};

const suspend = async (
  invocation: Invocation,
  facts: Pick<SuspendedOutcome<object>, "invocation_id" | "correlation_id" | "session_id" | "entry_state">,
  pause: Pause,
): Promise<GraphOutcome> => {
  const state = pause.frames.at(-1)?.state as Snapshot;
  const outcome = {
    ...facts,
    outcome: "suspended",
    state: state.view,
    descriptor: pause.descriptor,
    node_name: pause.namespace[0] as string,
    namespace: pause.namespace,
  } as SuspendedOutcome<never>;
  try {
    await invocation.pause(pause, state, outcome);
  } catch (error) {
    pause.report(error as GraphError);
    throw error;
  }
  pause.report();
  return outcome;
};

/** Starts an invocation, or resumes one: takes its leases, loads its session, runs its graph. */
export const invoke = async (
  host: Host,
  options: InvokeOptions,
  onEvent?: (event: NodeEvent) => void,
): Promise<GraphOutcome> => {
  const isResumed = options.resumeInvocation !== undefined;
  const id = isResumed ? options.resumeInvocation : (options.invocationId ?? host.createId("inv"));
  const attached = attachedNow(host.plan);
  const leases = new Leases(host);
  const abort = new AbortScope();
  try {
    const begun = isResumed
      ? await resume(host, id, options, leases)
      : await start(host, id, options, leases);
    const proofs = [...(options.leases ?? []), ...leases.held.map(({ proof }) => proof)];
    const invocation = new Invocation(host, begun, { options, leases: proofs, onEvent, attached });
    const unfollow = follow(options.signal, (reason) => abort.abort(cancelledBy(reason)));
    try {
      return await runIn(invocation, () => run(invocation, abort));
    } finally {
      unfollow();
      invocation.end();
    }
  } catch (error) {
    GraphError.attribute(error, id);
    throw error;
  } finally {
    await leases.release();
  }
};
