import { type AhpFailure, refusingDecision, type Verdict } from "@harnesskit/ahp-client";
import { ahpEvents, type BlockingEventType, type QueryResult } from "@harnesskit/protocol/ahp";
import { ExitCode } from "../exit-code.ts";
import type { DraftEvent, Message } from "./read-message.ts";

/** A decision of any event's type. */
export interface AnyDecision {
  readonly decision: string;
  readonly [field: string]: unknown;
}

/** What became of one event. */
export interface EventOutcome {
  readonly event_type: string;
  /** `client` where the harness gave no decision, and this is the refusing one. */
  readonly origin: "harness" | "client";
  readonly decision: AnyDecision;
  /** Which failure it was, of the client. */
  readonly code?: string;
}

export type Outcome =
  | { readonly kind: "event"; readonly event: EventOutcome }
  | { readonly kind: "batch"; readonly events: readonly EventOutcome[] }
  | { readonly kind: "notification"; readonly event_type: string; readonly lost?: string }
  | { readonly kind: "query"; readonly result: QueryResult }
  | { readonly kind: "unanswered"; readonly code: string; readonly message: string };

/** Decisions after which the agent goes on, if not always as it had planned. */
const goOn: ReadonlySet<string> = new Set(["allow", "modify", "approve", "retry", "queue"]);

/** Whether the agent goes on after a decision. */
export const goesOn = (decision: string): boolean => goOn.has(decision);

/** How the command ends. */
export const exitCodeOf = (outcome: Outcome): ExitCode => {
  switch (outcome.kind) {
    case "event":
      return exitCodeOfEvent(outcome.event);
    case "batch":
      return outcome.events.map(exitCodeOfEvent).reduce((a, b) => (a > b ? a : b), ExitCode.done);
    case "notification":
      return outcome.lost === undefined ? ExitCode.done : ExitCode.unavailable;
    case "query":
      return ExitCode.done;
    case "unanswered":
      return ExitCode.unavailable;
  }
};

const exitCodeOfEvent = ({ origin, decision }: EventOutcome): ExitCode => {
  if (origin === "client") return ExitCode.unavailable;
  return goesOn(decision.decision) ? ExitCode.done : ExitCode.refused;
};

export const toEventOutcome = (eventType: string, verdict: Verdict<object>): EventOutcome => {
  const event = { event_type: eventType, origin: verdict.origin, decision: verdict.decision as AnyDecision };
  return verdict.origin === "client" ? { ...event, code: verdict.code } : event;
};

/** What it comes to where there is not even a handshake. */
export const withoutHarness = (message: Message, { code, message: why }: AhpFailure): Outcome => {
  const refuse = ({ event_type: type }: DraftEvent): EventOutcome => ({
    event_type: type,
    origin: "client",
    decision: refusingDecision(type as BlockingEventType, `The harness gave no decision (${code}): ${why}`),
    code,
  });
  if (message.kind === "batch") return { kind: "batch", events: message.events.map(refuse) };
  if (message.kind === "query") return { kind: "unanswered", code, message: why };
  const { event_type: type } = message.event;
  if (ahpEvents[type].blocking) return { kind: "event", event: refuse(message.event) };
  return { kind: "notification", event_type: type, lost: `${code}: ${why}` };
};
