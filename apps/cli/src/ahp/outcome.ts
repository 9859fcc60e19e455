import { type AhpFailure, refusingDecision, type Verdict } from "@harnesskit/ahp-client";
import { ahpEvents, type BlockingEventType, type QueryResult } from "@harnesskit/protocol/ahp";
import { ExitCode } from "../cli-error.ts";
import { oneLine, safeJson } from "../terminal/text.ts";
import type { DraftEvent, Message } from "./read-message.ts";

/** What became of a message: how the command ends, and what it prints. */
export interface Outcome {
  readonly exitCode: ExitCode;
  /** Safe text with a line end. */
  readonly text: string;
  /** The same for `--json`. */
  readonly document: unknown;
}

const goOn: ReadonlySet<string> = new Set(["allow", "modify", "approve", "retry", "queue"]);

/** Whether the agent goes on after a decision. */
export const goesOn = (decision: string): boolean => goOn.has(decision);

const maxReasonWidth = 1000;

/** @param code why the harness gave no decision. @default it is the harness's own */
const decided = (type: string, decision: object, code?: string): Outcome => {
  const { decision: name, reason, ...fields } = decision as { decision: string; reason?: unknown };
  const why = typeof reason === "string" && reason !== "" ? `: ${oneLine(reason, maxReasonWidth)}` : "";
  const whose = code !== undefined && why === "" ? ` (no decision of the harness: ${code})` : "";
  const lines = Object.entries(fields).map(([field, value]) => `  ${field}: ${safeJson(value)}\n`);
  const exitCode = goesOn(name) ? ExitCode.done : ExitCode.refused;
  return {
    exitCode: code === undefined ? exitCode : ExitCode.unavailable,
    text: `${type} → ${oneLine(name, 40)}${whose}${why}\n${lines.join("")}`,
    document: {
      event_type: type,
      origin: code === undefined ? "harness" : "client",
      decision,
      code,
    },
  };
};

export const eventOutcome = (type: string, verdict: Verdict<object>): Outcome =>
  decided(type, verdict.decision, verdict.origin === "client" ? verdict.code : undefined);

export const batchOutcome = (events: readonly Outcome[]): Outcome => ({
  exitCode: events.reduce<ExitCode>(
    (most, { exitCode }) => (exitCode > most ? exitCode : most),
    ExitCode.done,
  ),
  text: events.map(({ text }) => text).join(""),
  document: { decisions: events.map(({ document }) => document) },
});

/** @param lost why it did not arrive. @default it was sent */
export const notificationOutcome = (type: string, lost?: string): Outcome => ({
  exitCode: lost === undefined ? ExitCode.done : ExitCode.unavailable,
  text: `${type} → ${lost === undefined ? "sent" : `lost: ${oneLine(lost, maxReasonWidth)}`}\n`,
  document: { event_type: type, sent: lost === undefined, reason: lost },
});

export const queryOutcome = (result: QueryResult): Outcome => {
  const { answer, reason, alternatives } = result;
  const why = reason === undefined ? "" : `  reason: ${oneLine(reason, maxReasonWidth)}\n`;
  const others = alternatives === undefined ? "" : `  alternatives: ${safeJson(alternatives)}\n`;
  return { exitCode: ExitCode.done, text: `${safeJson(answer)}\n${why}${others}`, document: result };
};

/** What it comes to where there is not even a handshake. */
export const withoutHarness = (message: Message, { code, message: why }: AhpFailure): Outcome => {
  const reason = `The harness gave no decision (${code}): ${why}`;
  const refuse = ({ event_type: type }: DraftEvent): Outcome =>
    decided(type, refusingDecision(type as BlockingEventType, reason), code);
  if (message.kind === "batch") return batchOutcome(message.events.map(refuse));
  if (message.kind === "query") {
    return {
      exitCode: ExitCode.unavailable,
      text: `no answer (${code}): ${oneLine(why, maxReasonWidth)}\n`,
      document: { error: { code, message: why } },
    };
  }
  const { event_type: type } = message.event;
  return ahpEvents[type].blocking ? refuse(message.event) : notificationOutcome(type, `${code}: ${why}`);
};
