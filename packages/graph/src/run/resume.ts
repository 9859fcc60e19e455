import { HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { GraphError, messageOf } from "../errors.ts";
import type { ResumeOptions } from "../invoke-options.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import type { GraphOutcome } from "../outcome.ts";
import { SessionBinding } from "../sessions/session-binding.ts";
import { type HeldLease, holdLease } from "../stores/held-lease.ts";
import type { StoredSuspension } from "../stores/suspension-store.ts";
import { migrateSuspension } from "../suspension/migrate-record.ts";
import { invalidRecord, overlay, restore } from "../suspension/restore.ts";
import { execute } from "./execute.ts";
import type { Host } from "./host.ts";
import { holdSession, loadedState } from "./start.ts";

/** Takes the invocation, so that nobody else resumes it. */
const holdInvocation = async (host: Host, invocationId: string): Promise<HeldLease> => {
  try {
    const { leaseTtlMs: ttlMs } = host.sessions;
    return await holdLease(host.store.leases, `invocation:${invocationId}`, { ttlMs }, host.clock);
  } catch (cause) {
    if (HarnessError.isInstance(cause) && cause.code === "lease_taken") {
      throw invalidRecord("being_resumed", "the invocation is being resumed already", cause);
    }
    throw new GraphError("suspension_persistence_failed", `the record cannot be taken: ${messageOf(cause)}`, {
      cause,
    });
  }
};

const loadRecord = async (host: Host, invocationId: string): Promise<StoredSuspension> => {
  let record: StoredSuspension | null;
  try {
    record = await host.store.suspensions.load(invocationId);
  } catch (cause) {
    throw new GraphError(
      "suspension_persistence_failed",
      `the record cannot be loaded: ${messageOf(cause)}`,
      { cause },
    );
  }
  if (record === null) throw invalidRecord("unknown", "no paused invocation has this id");
  if (record.status !== "suspended")
    throw invalidRecord("already_resumed", `the invocation has ${record.status}`);
  return record;
};

const proceed = async (
  host: Host,
  options: ResumeOptions,
  onEvent: ((event: NodeEvent) => void) | undefined,
  loaded: StoredSuspension,
  held: readonly HeldLease[],
): Promise<GraphOutcome> => {
  const { session_id: sessionId } = loaded;
  const isBound = sessionId !== null && host.keepsSessions;
  const session = isBound ? await SessionBinding.load(host.store, host.sessions, sessionId) : undefined;
  const record = await migrateSuspension(host.sessions, loaded, session?.stored ?? null);
  const current = session?.loaded ? loadedState(host.plan.defaults(), session) : undefined;
  const restored = restore(host, record, current);
  const cursor = overlay(restored, record, options.signalPayload);
  return execute({
    host,
    info: {
      invocationId: record.invocation_id,
      correlationId: record.correlation_id,
      sessionId,
      metadata: options.metadata ?? {},
    },
    options,
    onEvent,
    session,
    entry: cursor.state,
    leases: [...(options.leases ?? []), ...held.map(({ proof }) => proof)],
    resumed: { cursor, record, paused: restored.paused },
  });
};

/** Goes on with a paused invocation. */
export const resume = async (
  host: Host,
  options: ResumeOptions,
  onEvent?: (event: NodeEvent) => void,
): Promise<GraphOutcome> => {
  const { resumeInvocation, signalPayload } = options;
  if (typeof resumeInvocation !== "string" || resumeInvocation === "") {
    throw new InvalidArgumentError("resumeInvocation is empty");
  }
  if (signalPayload === undefined)
    throw new InvalidArgumentError("a resumed invocation needs a signalPayload");
  const held: HeldLease[] = [];
  try {
    held.push(await holdInvocation(host, resumeInvocation));
    const record = await loadRecord(host, resumeInvocation);
    if (record.session_id !== null && host.keepsSessions) {
      const session = await holdSession(host, record.session_id, options.signal);
      if (session !== undefined) held.push(session);
    }
    return await proceed(host, options, onEvent, record, held);
  } catch (error) {
    GraphError.attribute(error, resumeInvocation);
    throw error;
  } finally {
    for (const lease of held.reverse()) await lease.release();
  }
};
