import type { JsonObject } from "@harnesskit/protocol/envelope";
import { HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { canonicalJson } from "@harnesskit/wire/json";
import { activeTrace, readTraceContext, traced } from "@harnesskit/wire/trace";
import type { Durability } from "../compile-options.ts";
import { ambiguousError, resolveAmbiguous } from "../durability/ambiguous.ts";
import { demandDurability } from "../durability/demand-durability.ts";
import { entryOf, invalidRun, toRunRecord } from "../durability/run-record.ts";
import { errorCategory, GraphError, type GraphErrorCode, thrownMessage } from "../errors.ts";
import type { InvokeOptions, RecoverOptions, ResumeOptions, StartOptions } from "../invoke-options.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import type { CompletedOutcome, GraphOutcome, SuspendedOutcome } from "../outcome.ts";
import { SessionBinding } from "../sessions/session-binding.ts";
import { applyInitial } from "../state/apply.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { plainCopy } from "../state/stored-json.ts";
import {
  type HeldLease,
  holdLease,
  invocationLeaseKey,
  type LeaseOptions,
  type LeaseProof,
  sessionLeaseKey,
} from "../stores/lease-store.ts";
import type { StoredRun } from "../stores/run-store.ts";
import type { StoredSuspension } from "../stores/suspension-store.ts";
import { invalidRecord, restore } from "../suspension/restore.ts";
import { AbortScope, cancelledBy, follow } from "./abort-scope.ts";
import { runIn } from "./ambient.ts";
import type { Beginning, BegunRun, Host } from "./beginning.ts";
import { attachedNow, Invocation } from "./invocation.ts";
import { Pause } from "./pause.ts";
import { runGraph } from "./run-graph.ts";

const urlSafe = /^[A-Za-z0-9\-._~]+$/;

/** The leases that an invocation takes. */
class Leases {
  readonly held: HeldLease[] = [];
  readonly #host: Host;
  readonly #given: readonly LeaseProof[];

  /** @param given those that the caller holds */
  constructor(host: Host, given: readonly LeaseProof[]) {
    this.#host = host;
    this.#given = given;
  }

  /** Takes a lease; rejects with what `refuse` makes of the store's error. */
  async take(
    key: string,
    options: Omit<LeaseOptions, "ttlMs">,
    refuse: (cause: unknown, isTaken: boolean) => GraphError,
  ): Promise<void> {
    const { store, sessions, clock } = this.#host;
    try {
      if (this.#given.some((proof) => proof.key === key)) return;
      if (this.held.some(({ proof }) => proof.key === key)) return;
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
    await leases.take(sessionLeaseKey(sessionId), options, (cause, isTaken) => {
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

/** Takes the lease of a run whose progress is recorded. */
const takeRun = (id: string, leases: Leases): Promise<void> =>
  leases.take(invocationLeaseKey(id), {}, (cause, isTaken) => {
    if (isTaken) return invalidRun("running", "another process runs this invocation", cause);
    const message = `the run cannot be taken: ${thrownMessage(cause)}`;
    return new GraphError("run_persistence_failed", message, { cause });
  });

const start = async (host: Host, id: string, options: StartOptions, leases: Leases): Promise<Beginning> => {
  const { sessionId, correlationId, initial, metadata = {} } = options;
  demandId(sessionId, "sessionId");
  demandId(id, "invocationId");
  if (correlationId !== undefined && !urlSafe.test(correlationId)) {
    throw new InvalidArgumentError("correlationId is empty or has characters that need escaping in a URL");
  }
  const isRecorded = durabilityOf(host, options) === "node";
  if (isRecorded) await takeRun(id, leases);
  const session = await openSession(host, sessionId ?? null, leases, options.signal);
  const loaded = session?.loaded ?? null;
  const defaults = host.plan.defaults();
  const state = session?.toState(defaults) ?? defaults;
  const supplied =
    typeof initial === "function" ? initial(loaded === null ? null : (state.view as never)) : initial;
  const info = {
    invocationId: id,
    correlationId: correlationId ?? host.createId("cor"),
    sessionId: sessionId ?? null,
    metadata,
  };
  const entry = applyInitial(state, supplied, new Set(Object.keys(loaded ?? {})));
  if (!isRecorded) return { info, session, entry };
  const record = toRunRecord(host, { runId: id, ...info, signalPayload: null }, entry, session);
  return { info, session, entry, run: { runId: id, record } };
};

const durabilityOf = ({ durability, keepsSessions }: Host, options: InvokeOptions): Durability =>
  options.durability === undefined ? durability : demandDurability(options.durability, keepsSessions);

const loadRun = async ({ store }: Host, runId: string): Promise<StoredRun | null> =>
  store.runs.load(runId).catch((cause: unknown) => {
    const message = `the run cannot be loaded: ${thrownMessage(cause)}`;
    throw new GraphError("run_persistence_failed", message, { cause });
  });

/** A run with what is known of it. */
const begunBefore = (
  stored: StoredRun,
  { giveUp }: InvokeOptions,
  resolve: RecoverOptions["resolve"] = {},
): BegunRun => {
  const { resolved, open } = resolveAmbiguous(stored, resolve);
  const obstacle = giveUp ?? (open.length === 0 ? undefined : ambiguousError(stored.run_id, open));
  return { runId: stored.run_id, stored, resolved, ...(obstacle === undefined ? {} : { obstacle }) };
};

/** Goes on with a run that an earlier process began. */
const recover = async (
  host: Host,
  id: string,
  options: RecoverOptions,
  leases: Leases,
): Promise<Beginning> => {
  await takeRun(id, leases);
  const stored = await loadRun(host, id);
  if (stored === null)
    throw invalidRun("unknown", `no run ${JSON.stringify(id)} is open: it has ended, or never began`);
  if (stored.signal_payload !== null) {
    return resume(host, id, { ...options, signalPayload: stored.signal_payload }, leases, options.resolve);
  }
  const { correlation_id: correlationId, session_id: sessionId } = stored;
  const session = await openSession(host, sessionId, leases, options.signal);
  // What is given up needs no state, which the graph may not know any more.
  if (options.giveUp === undefined) session?.toState(host.plan.defaults());
  const entry = options.giveUp === undefined ? entryOf(host, stored, session) : host.plan.defaults();
  const run = begunBefore(stored, options, options.resolve);
  const info = {
    invocationId: host.createId("inv"),
    correlationId,
    sessionId,
    metadata: options.metadata ?? {},
  };
  return { info, session, entry, run };
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

const resume = async (
  host: Host,
  id: string,
  options: ResumeOptions,
  leases: Leases,
  resolve?: RecoverOptions["resolve"],
): Promise<Beginning> => {
  const { signalPayload, metadata = {} } = options;
  await leases.take(invocationLeaseKey(id), {}, (cause, isTaken) => {
    if (isTaken) return invalidRecord("being_resumed", "the invocation is being resumed already", cause);
    const message = `the record cannot be taken: ${thrownMessage(cause)}`;
    return new GraphError("suspension_persistence_failed", message, { cause });
  });
  const record = await loadRecord(host, id);
  const { correlation_id: correlationId, session_id: sessionId } = record;
  const session = await openSession(host, sessionId, leases, options.signal);
  const isRecorded = durabilityOf(host, options) === "node";
  const stored = isRecorded ? await loadRun(host, id) : null;
  if (stored !== null) checkPayload(stored, signalPayload);
  const resumed = await restore(host, record, session, signalPayload, stored ?? undefined);
  const info = { invocationId: id, correlationId, sessionId, metadata };
  const entry = resumed.cursor.state;
  if (!isRecorded) return { info, session, entry, resumed };
  if (stored !== null) {
    return { info, session, entry, resumed, run: begunBefore(stored, options, resolve) };
  }
  const facts = { runId: id, ...info, signalPayload: plainCopy<JsonObject>(signalPayload) };
  return {
    info,
    session,
    entry,
    resumed,
    run: { runId: id, record: toRunRecord(host, facts, entry, session) },
  };
};

/** Throws `run_record_invalid` for another payload than that with which the recorded nodes have run. */
const checkPayload = ({ signal_payload: recorded, run_id: id }: StoredRun, payload: unknown): void => {
  if (canonicalJson(payload) === canonicalJson(recorded)) return;
  const message = `${id} was resumed with another payload, and nodes have run with it: repeat it, or give the run up with store.runs.delete`;
  throw invalidRun("other_payload", message);
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
      path: "",
      parents: [],
      attached: invocation.attachedTo(host.plan),
      fanOutIndexes: [],
      branchNames: [],
      canSuspend: true,
      abort,
    };
    if (begun.run?.obstacle !== undefined) throw begun.run.obstacle;
    final = await runGraph(frame, begun.entry, begun.resumed?.cursor);
  } catch (error) {
    if (error instanceof Pause) return suspend(invocation, facts, error);
    await invocation.giveUp(error);
    throw error;
  }
  const outcome = { ...facts, outcome: "completed", state: final.view } as CompletedOutcome<never>;
  await invocation.complete(final, outcome);
  return outcome;
};

/** Runs an invocation as an operation. That of a resumed one goes on with the trace of the pause, and says who resumed it. */
const tracedRun = (invocation: Invocation, abort: AbortScope): Promise<GraphOutcome> => {
  const { host, info, begun } = invocation;
  const { invocationId, correlationId, sessionId } = info;
  return traced(
    "invocation",
    () => ({ invocationId, correlationId, sessionId, entryNode: host.plan.entry.name }),
    async (operation) => {
      const outcome = await runIn(invocation, () => run(invocation, abort)).catch((error: unknown) => {
        operation?.set({ category: errorCategory(error) ?? undefined });
        throw error;
      });
      operation?.set({ outcome: outcome.outcome });
      return outcome;
    },
    () => {
      const paused = readTraceContext(begun.resumed?.record.trace);
      const parent = activeTrace() ?? paused;
      return { parent, links: [paused] };
    },
  );
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

const begin = async (host: Host, id: string, options: InvokeOptions, leases: Leases): Promise<Beginning> => {
  if (options.resumeInvocation === undefined) return start(host, id, options as StartOptions, leases);
  if (typeof id !== "string" || id === "") throw new InvalidArgumentError("resumeInvocation is empty");
  if (options.signalPayload !== undefined) return resume(host, id, options as ResumeOptions, leases);
  if (durabilityOf(host, options) === "node") return recover(host, id, options as RecoverOptions, leases);
  throw new InvalidArgumentError('a resumed invocation needs a signalPayload, or durability "node"');
};

/** Starts an invocation, resumes one, or goes on with one of an earlier process: takes its leases, loads its session, runs its graph. */
export const invoke = async (
  host: Host,
  options: InvokeOptions,
  onEvent?: (event: NodeEvent) => void,
): Promise<GraphOutcome> => {
  const { resumeInvocation } = options;
  const id = resumeInvocation ?? options.invocationId ?? host.createId("inv");
  const attached = attachedNow(host.plan);
  const leases = new Leases(host, options.leases ?? []);
  const abort = new AbortScope();
  try {
    const begun = await begin(host, id, options, leases);
    const proofs = [...(options.leases ?? []), ...leases.held.map(({ proof }) => proof)];
    const invocation = new Invocation(host, begun, { options, leases: proofs, onEvent, attached });
    const unfollow = follow(options.signal, (reason) => abort.abort(cancelledBy(reason)));
    try {
      return await tracedRun(invocation, abort);
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
