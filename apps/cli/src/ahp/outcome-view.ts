import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";
import type { EventOutcome, Outcome } from "./outcome.ts";

const maxReasonWidth = 1000;

const eventText = ({ event_type: type, origin, decision, code }: EventOutcome): string => {
  const { decision: name, reason, ...fields } = decision;
  const why = typeof reason === "string" && reason !== "" ? `: ${oneLine(reason, maxReasonWidth)}` : "";
  const whose =
    origin === "client" && code !== undefined && why === "" ? ` (no decision of the harness: ${code})` : "";
  const lines = Object.entries(fields).map(([field, value]) => `  ${field}: ${safeJson(value)}\n`);
  return `${type} → ${oneLine(name, 40)}${whose}${why}\n${lines.join("")}`;
};

/** An outcome as people read it: safe text, with a line end. */
export const outcomeText = (outcome: Outcome): string => {
  switch (outcome.kind) {
    case "event":
      return eventText(outcome.event);
    case "batch":
      return outcome.events.map(eventText).join("");
    case "notification": {
      const { event_type: type, lost } = outcome;
      return `${type} → ${lost === undefined ? "sent" : `lost: ${oneLine(lost, maxReasonWidth)}`}\n`;
    }
    case "query": {
      const { answer, reason, alternatives } = outcome.result;
      const more = [
        ...(reason === undefined ? [] : [`  reason: ${oneLine(reason, maxReasonWidth)}\n`]),
        ...(alternatives === undefined ? [] : [`  alternatives: ${safeJson(alternatives)}\n`]),
      ];
      return `${safeJson(answer)}\n${more.join("")}`;
    }
    case "unanswered":
      return `no answer (${outcome.code}): ${oneLine(outcome.message, maxReasonWidth)}\n`;
  }
};

const toDocument = (outcome: Outcome): unknown => {
  switch (outcome.kind) {
    case "event":
      return outcome.event;
    case "batch":
      return { decisions: outcome.events };
    case "notification": {
      const { event_type, lost } = outcome;
      return { event_type, sent: lost === undefined, ...(lost === undefined ? {} : { reason: lost }) };
    }
    case "query":
      return outcome.result;
    case "unanswered":
      return { error: { code: outcome.code, message: outcome.message } };
  }
};

/** An outcome as one line of JSON. */
export const outcomeJson = (outcome: Outcome): string => `${safeJson(toDocument(outcome))}\n`;
