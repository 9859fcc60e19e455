import { HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { GraphError, messageOf } from "../errors.ts";
import type { StartOptions } from "../invoke-options.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import type { GraphOutcome } from "../outcome.ts";
import { SessionBinding } from "../sessions/session-binding.ts";
import { applyInitial, replaceFields } from "../state/apply.ts";
import type { Snapshot } from "../state/snapshot.ts";
import { type HeldLease, holdLease } from "../stores/held-lease.ts";
import { cancelled } from "./abort-scope.ts";
import { execute } from "./execute.ts";
import type { Host } from "./host.ts";

const urlSafe = /^[A-Za-z0-9\-._~]+$/;

const demandId = (value: string | undefined, name: string): void => {
  if (value === "") throw new InvalidArgumentError(`${name} is empty`);
};

/**
 * Takes the session for this run alone, where the graph asks for it. Rejects with `session_write_conflict`, and with
 * `invocation_cancelled` where the caller gives up meanwhile.
 */
export const holdSession = async (
  host: Host,
  sessionId: string,
  signal: AbortSignal | undefined,
): Promise<HeldLease | undefined> => {
  const { concurrency, leaseTtlMs: ttlMs, leaseWaitMs: waitMs } = host.sessions;
  if (concurrency !== "lease") return undefined;
  try {
    const waiting = { ttlMs, waitMs, ...(signal === undefined ? {} : { signal }) };
    return await holdLease(host.store.leases, `session:${sessionId}`, waiting, host.clock);
  } catch (cause) {
    if (signal?.aborted) throw cancelled(signal.reason);
    const isTaken = HarnessError.isInstance(cause) && cause.code === "lease_taken";
    throw new GraphError(
      isTaken ? "session_write_conflict" : "session_load_failed",
      `the session cannot be taken: ${messageOf(cause)}`,
      { cause },
    );
  }
};

/** The state that was loaded, over the defaults. Throws `session_load_failed` for one that the schema does not take. */
export const loadedState = (defaults: Snapshot, session: SessionBinding | undefined): Snapshot => {
  if (!session?.loaded) return defaults;
  try {
    const state = replaceFields(defaults, session.loaded);
    session.adopt(state);
    return state;
  } catch (cause) {
    throw new GraphError("session_load_failed", `the stored state does not fit: ${messageOf(cause)}`, {
      cause,
    });
  }
};

const initialState = (
  host: Host,
  session: SessionBinding | undefined,
  initial: StartOptions["initial"],
): Snapshot => {
  const loaded = session?.loaded ?? null;
  const state = loadedState(host.plan.defaults(), session);
  const supplied =
    typeof initial === "function" ? initial(loaded === null ? null : (state.view as never)) : initial;
  return applyInitial(state, supplied, new Set(Object.keys(loaded ?? {})));
};

/** Begins an invocation. */
export const start = async (
  host: Host,
  options: StartOptions,
  onEvent?: (event: NodeEvent) => void,
): Promise<GraphOutcome> => {
  const { sessionId, correlationId, invocationId, metadata = {}, leases = [] } = options;
  demandId(sessionId, "sessionId");
  demandId(invocationId, "invocationId");
  if (correlationId !== undefined && !urlSafe.test(correlationId)) {
    throw new InvalidArgumentError("correlationId is empty or has characters that need escaping in a URL");
  }
  const id = invocationId ?? host.createId();
  const isBound = sessionId !== undefined && host.keepsSessions;
  let held: HeldLease | undefined;
  try {
    held = isBound ? await holdSession(host, sessionId, options.signal) : undefined;
    const session = isBound ? await SessionBinding.load(host.store, host.sessions, sessionId) : undefined;
    return await execute({
      host,
      info: {
        invocationId: id,
        correlationId: correlationId ?? host.createId(),
        sessionId: sessionId ?? null,
        metadata,
      },
      options,
      onEvent,
      session,
      entry: initialState(host, session, options.initial),
      leases: held === undefined ? leases : [...leases, held.proof],
    });
  } catch (error) {
    GraphError.attribute(error, id);
    throw error;
  } finally {
    await held?.release();
  }
};
