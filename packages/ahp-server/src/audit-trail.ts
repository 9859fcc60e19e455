import type { AuditOutcome, AuditSink } from "@harnesskit/audit";
import { type AhpEvent, ahpEvents, ahpMethods } from "@harnesskit/protocol/ahp";
import type { RequestId } from "@harnesskit/protocol/envelope";
import { ProtocolError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { CheckedEvent } from "./check-event.ts";
import type { AnyDecision } from "./decider.ts";
import { auditOutcomeOf, refusalReasonOf } from "./refusal.ts";

/** Facts about an event that its entry holds besides. Without content, unless the sink wants content in the log. */
export type EventDetails = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where entries go: the whole of an audit sink, or something that only records. */
export interface AuditRecorder extends Pick<AuditSink, "record" | "isFull"> {
  /**
   * More details for the entry of an event that a handler was asked about; the same object as the handler got. What it
   * throws goes to `onError`, and the entry is recorded without. @default none
   */
  readonly eventDetails?: (event: AhpEvent) => EventDetails | undefined;
}

/** What else an entry says about its message. */
interface Place {
  readonly requestId?: RequestId | undefined;
  readonly batchIndex?: number | undefined;
  readonly durationMs?: number | undefined;
}

const toRequestId = (id: RequestId | undefined): string | undefined =>
  id === undefined || id === null || id === "" ? undefined : String(id);

/**
 * Records what a server decided and refused: types, ids, decisions, reasons and times, and what the sink itself says of
 * an event. Never of its own a payload, a context, an answer, or the words of a reason. Without a sink it does nothing.
 */
export class AuditTrail {
  readonly #sink: AuditRecorder | undefined;
  readonly #onFailure: (cause: unknown) => void;

  constructor(sink: AuditRecorder | undefined, onFailure: (cause: unknown) => void) {
    this.#sink = sink;
    this.#onFailure = onFailure;
  }

  /** True while entries cannot be kept: nothing is decided then. */
  get isFull(): boolean {
    return this.#sink?.isFull === true;
  }

  handshake(
    names: { session_id: string; agent_id: string },
    id: RequestId | undefined,
    version: string,
  ): void {
    this.#record("ahp.handshake", "ok", names, { requestId: id }, { protocol_version: version });
  }

  /** An event that was decided, or taken note of; or its handler's failure. */
  event(event: CheckedEvent, outcome: AnyDecision | ProtocolError, place: Place): void {
    if (!this.#sink) return;
    const { event_type, depth } = event;
    const isRefused = ProtocolError.isInstance(outcome);
    // A notification outside a batch is noted and not decided.
    const isDecided = !isRefused && (ahpEvents[event_type].blocking || place.batchIndex !== undefined);
    const details = {
      event_type,
      depth,
      batch_index: place.batchIndex,
      decision: isDecided ? outcome.decision : undefined,
      reason: isRefused ? refusalReasonOf(outcome) : undefined,
    };
    const more = this.#more(event);
    const all = more ? { ...details, ...more } : details;
    this.#record("ahp.event", isRefused ? auditOutcomeOf(outcome) : "ok", event, place, all);
  }

  #more(event: CheckedEvent): EventDetails | undefined {
    try {
      return this.#sink?.eventDetails?.(event as AhpEvent);
    } catch (cause) {
      this.#onFailure(cause);
      return undefined;
    }
  }

  /** A contract event, and why the state ignored it. */
  contract(event: CheckedEvent, runId: string, ignored: string | undefined): void {
    const applied = ignored === undefined;
    const details = { event_type: event.event_type, run_id: runId, applied, reason: ignored };
    this.#record("ahp.contract", applied ? "ok" : "refused", event, {}, details);
  }

  batch(id: RequestId | undefined, events: number, durationMs: number, outcome: AuditOutcome): void {
    this.#record("ahp.batch", outcome, {}, { requestId: id, durationMs }, { events });
  }

  query(
    names: { session_id: string; agent_id: string; query_type: string },
    outcome: unknown,
    place: Place,
  ): void {
    const { query_type } = names;
    const refusal = ProtocolError.isInstance(outcome) ? outcome : undefined;
    const details = { query_type, reason: refusal && refusalReasonOf(refusal) };
    this.#record("ahp.query", refusal ? auditOutcomeOf(refusal) : "ok", names, place, details);
  }

  /** A message that no handler saw. */
  refused(
    method: string | undefined,
    id: RequestId | undefined,
    params: unknown,
    refusal: ProtocolError,
  ): void {
    if (!this.#sink) return;
    this.#record(
      method !== undefined && Object.hasOwn(ahpMethods, method) ? method.replace("/", ".") : "ahp.message",
      auditOutcomeOf(refusal),
      { session_id: nameIn(params, "session_id"), agent_id: nameIn(params, "agent_id") },
      { requestId: id },
      {
        event_type: nameIn(params, "event_type"),
        query_type: nameIn(params, "query_type"),
        rpc_code: refusal.rpcCode,
        reason: refusalReasonOf(refusal),
      },
    );
  }

  #record(
    action: string,
    outcome: AuditOutcome,
    names: { readonly session_id?: string | undefined; readonly agent_id?: string | undefined },
    { requestId, durationMs }: Place,
    details: Readonly<Record<string, string | number | boolean | undefined>>,
  ): void {
    try {
      this.#sink?.record({
        action,
        outcome,
        agent_id: names.agent_id || undefined,
        session_id: names.session_id || undefined,
        request_id: toRequestId(requestId),
        duration_ms: durationMs === undefined ? undefined : Math.max(0, durationMs),
        details,
      });
    } catch (cause) {
      this.#onFailure(cause);
    }
  }
}

/** A name in a message that was refused before it was understood. For a log: nothing of it was checked. */
const nameIn = (params: unknown, name: string): string | undefined => {
  const value = isObject(params) ? params[name] : undefined;
  return typeof value === "string" ? value : undefined;
};
