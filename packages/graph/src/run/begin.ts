import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { canonicalJson } from "@harnesskit/wire/json";
import { ambiguousError, resolveAmbiguous } from "../durability/ambiguous.ts";
import { Journal, type JournalOptions } from "../durability/journal.ts";
import { entryOf, invalidRun, toRunRecord } from "../durability/run-record.ts";
import { GraphError, type GraphErrorCode, hasCode, orFail, thrownMessage } from "../errors.ts";
import type { RecoverOptions, ResumeOptions, StartOptions } from "../invoke-options.ts";
import { SessionBinding } from "../sessions/session-binding.ts";
import { applyInitial } from "../state/apply.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { plainCopy } from "../state/stored-json.ts";
import { invocationLeaseKey, sessionLeaseKey } from "../stores/lease-store.ts";
import type { StoredRun } from "../stores/run-store.ts";
import { invalidRecord, type Resumption, restore } from "../suspension/restore.ts";
import { cancelledBy } from "./abort-scope.ts";
import type { InvocationInfo } from "./context.ts";
import type { Call } from "./invocation.ts";

/** What an invocation begins with. */
export interface Beginning {
  readonly info: InvocationInfo;
  readonly session: SessionBinding | undefined;
  readonly entry: Snapshot;
  readonly resumed?: Resumption | undefined;
  /** With `durability: "node"`. */
  readonly journal?: Journal | undefined;
  /** Why the run does not go on: a node may have done its work and the caller does not know, or the caller gives it up. */
  readonly obstacle?: Error | undefined;
}

const urlSafe = /^[A-Za-z0-9\-._~]+$/;

/** Loads a session, under its lease if the graph asks for one. */
const openSession = async (
  { host, options: { signal }, leases }: Call,
  sessionId: string | null,
): Promise<SessionBinding | undefined> => {
  const { keepsSessions, sessions, store } = host;
  if (sessionId === null || !keepsSessions) return undefined;
  if (sessions.concurrency === "lease") {
    await leases.take(sessionLeaseKey(sessionId), { waitMs: sessions.leaseWaitMs, signal }, (cause) => {
      if (signal?.aborted) return cancelledBy(signal.reason);
      const code = hasCode(cause, "lease_taken") ? "session_write_conflict" : "session_load_failed";
      return new GraphError(code, `the session cannot be taken: ${thrownMessage(cause)}`, { cause });
    });
  }
  return SessionBinding.load(store, sessions, sessionId);
};

/** Takes the lease of a paused invocation, or of a run whose progress is recorded. */
const takeInvocation = (
  { id, leases }: Call,
  code: GraphErrorCode,
  isTaken: (cause: unknown) => GraphError,
): Promise<void> =>
  leases.take(invocationLeaseKey(id), {}, (cause) =>
    hasCode(cause, "lease_taken")
      ? isTaken(cause)
      : new GraphError(code, `the invocation cannot be taken: ${thrownMessage(cause)}`, { cause }),
  );

const takeRun = (call: Call): Promise<void> =>
  takeInvocation(call, "run_persistence_failed", (cause) =>
    invalidRun("running", "another process runs this invocation", cause),
  );

const loadRun = ({ host: { store }, id }: Call): Promise<StoredRun | null> =>
  orFail(store.runs.load(id), "run_persistence_failed", "the run cannot be loaded");

const openJournal = (
  { host: { store, clock }, leases }: Call,
  run: Omit<JournalOptions, "clock" | "write">,
): Journal =>
  new Journal({ ...run, clock, write: (append) => store.commit({ run: append, leases: leases.proofs }) });

/** A run that an earlier process began. */
const goOn = (
  call: Call,
  stored: StoredRun,
  resolve: RecoverOptions["resolve"] = {},
): Pick<Beginning, "journal" | "obstacle"> => {
  const { resolved, open } = resolveAmbiguous(stored, resolve);
  const obstacle = open.length === 0 ? undefined : ambiguousError(stored.run_id, open);
  return {
    journal: openJournal(call, { runId: stored.run_id, stored, resolved }),
    obstacle: call.options.giveUp ?? obstacle,
  };
};

/** The journal of a run that begins here. */
const beginJournal = (
  call: Call,
  info: InvocationInfo,
  entry: Snapshot,
  session: SessionBinding | undefined,
  signal_payload: JsonObject | null,
): Journal => {
  const { correlationId: correlation_id, sessionId: session_id } = info;
  const facts = { run_id: call.id, correlation_id, session_id, signal_payload };
  return openJournal(call, { runId: call.id, record: toRunRecord(call.host, facts, entry, session) });
};

const start = async (call: Call, options: StartOptions): Promise<Beginning> => {
  const { host, id } = call;
  const { sessionId, correlationId, initial, metadata = {} } = options;
  if (sessionId === "") throw new InvalidArgumentError("sessionId is empty");
  if (id === "") throw new InvalidArgumentError("invocationId is empty");
  if (correlationId !== undefined && !urlSafe.test(correlationId)) {
    throw new InvalidArgumentError("correlationId is empty or has characters that need escaping in a URL");
  }
  const isRecorded = host.durability === "node";
  if (isRecorded) await takeRun(call);
  const session = await openSession(call, sessionId ?? null);
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
  const journal = isRecorded ? beginJournal(call, info, entry, session, null) : undefined;
  return { info, session, entry, journal };
};

/** Goes on with a run that an earlier process began. */
const recover = async (call: Call, options: RecoverOptions): Promise<Beginning> => {
  const { host, id } = call;
  await takeRun(call);
  const stored = await loadRun(call);
  if (stored === null)
    throw invalidRun("unknown", `no run ${JSON.stringify(id)} is open: it has ended, or never began`);
  if (stored.signal_payload !== null)
    return resume(call, { ...options, signalPayload: stored.signal_payload }, options.resolve);
  const { correlation_id: correlationId, session_id: sessionId } = stored;
  const session = await openSession(call, sessionId);
  const defaults = host.plan.defaults();
  let entry = defaults;
  // What is given up needs no state, which the graph may not know any more.
  if (options.giveUp === undefined) {
    session?.toState(defaults);
    entry = entryOf(host, stored, session);
  }
  const { metadata = {} } = options;
  const info = { invocationId: host.createId("inv"), correlationId, sessionId, metadata };
  return { info, session, entry, ...goOn(call, stored, options.resolve) };
};

const resume = async (
  call: Call,
  { signalPayload, metadata = {} }: ResumeOptions,
  resolve?: RecoverOptions["resolve"],
): Promise<Beginning> => {
  const { host, id } = call;
  await takeInvocation(call, "suspension_persistence_failed", (cause) =>
    invalidRecord("being_resumed", "the invocation is being resumed already", cause),
  );
  const loading = host.store.suspensions.load(id);
  const record = await orFail(loading, "suspension_persistence_failed", "the record cannot be loaded");
  if (record === null) throw invalidRecord("unknown", "no paused invocation has this id");
  if (record.status !== "suspended")
    throw invalidRecord("already_resumed", `the invocation has ${record.status}`);
  const { correlation_id: correlationId, session_id: sessionId } = record;
  const session = await openSession(call, sessionId);
  const isRecorded = host.durability === "node";
  const stored = isRecorded ? await loadRun(call) : null;
  if (stored !== null && canonicalJson(signalPayload) !== canonicalJson(stored.signal_payload)) {
    const message = `${id} was resumed with another payload, and nodes have run with it: repeat it, or give the run up with store.runs.delete`;
    throw invalidRun("other_payload", message);
  }
  const resumed = await restore(host, record, session, signalPayload, stored);
  const info = { invocationId: id, correlationId, sessionId, metadata };
  const begun = { info, session, entry: resumed.cursor.state, resumed };
  if (stored !== null) return { ...begun, ...goOn(call, stored, resolve) };
  if (!isRecorded) return begun;
  const payload = plainCopy<JsonObject>(signalPayload);
  return { ...begun, journal: beginJournal(call, info, begun.entry, session, payload) };
};

/** Takes the leases and the state of what the options name: a new invocation, a paused one, or one of an earlier process. */
export const begin = async (call: Call): Promise<Beginning> => {
  const { host, id, options } = call;
  if (options.resumeInvocation === undefined) {
    if (options.signalPayload === undefined) return start(call, options as StartOptions);
    throw new InvalidArgumentError(
      "a signalPayload resumes an invocation: pass the invocation_id of the paused outcome as resumeInvocation",
    );
  }
  if (typeof id !== "string" || id === "") throw new InvalidArgumentError("resumeInvocation is empty");
  if (options.signalPayload !== undefined) return resume(call, options as ResumeOptions);
  if (host.durability === "node") return recover(call, options as RecoverOptions);
  throw new InvalidArgumentError('a resumed invocation needs a signalPayload, or durability "node"');
};
