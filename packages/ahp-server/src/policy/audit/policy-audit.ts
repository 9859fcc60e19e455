import type { AuditLimits } from "@harnesskit/audit";
import type { AhpEvent } from "@harnesskit/protocol/ahp";
import type { AuditRecorder, EventDetails } from "../../audit-trail.ts";
import type { Explanation } from "../decide/explanation.ts";
import { maxEventLength, recordedEvent } from "./recorded-event.ts";

export interface PolicyAuditOptions {
  /** Where entries go. With `recordContent` its limits have to be `contentAuditLimits` or more. */
  readonly sink: AuditRecorder;
  /**
   * Whether entries keep the event in `details.event`, without what has the shape of a secret and at most 65,536
   * characters of it, for `backtest`. @default false
   */
  readonly recordContent?: boolean;
}

/** What `createAhpServer` takes as `audit`; its entries of events say which rule decided. */
export interface PolicyAudit extends AuditRecorder {
  /** For `createPolicyHarness`. */
  readonly onDecision: (explanation: Explanation, event: AhpEvent) => void;
}

/** The limits of an audit sink under which an entry with the content of an event is kept whole. */
export const contentAuditLimits: Readonly<Required<Pick<AuditLimits, "maxStringLength" | "maxEntryBytes">>> =
  // A character has at most six bytes in a line of the log.
  Object.freeze({ maxStringLength: maxEventLength, maxEntryBytes: 8 * maxEventLength });

/** Explanations that wait for the entry of their event; it is made as soon as the event is answered. */
const maxWaiting = 4096;

const shadowedIn = ({ shadowed }: Explanation): string | undefined =>
  shadowed.length === 0 ? undefined : shadowed.map((one) => `${one.rule}: ${one.decision}`).join(", ");

const aboutRule = (explanation: Explanation): EventDetails => {
  const { rule, source, mode, decided } = explanation;
  const details = {
    rule,
    source: source === "rule" ? undefined : source,
    shadowed: shadowedIn(explanation),
  };
  return mode === "shadow" ? { ...details, would: decided?.decision } : details;
};

const content = (event: AhpEvent): EventDetails => {
  const recorded = recordedEvent(event);
  if (!recorded) return {};
  return { event: recorded.text, ...(recorded.isCut && { event_cut: true }) };
};

/**
 * Makes the audit of a server under a policy: entries of events name the rule (`rule`, `source`), what rules in shadow
 * would have decided (`shadowed`, `would`) and, where asked for, the event itself.
 */
export const createPolicyAudit = ({ sink, recordContent = false }: PolicyAuditOptions): PolicyAudit => {
  // A weak map would cost each collection of garbage as much as it holds.
  const waiting = new Map<AhpEvent, Explanation>();
  return {
    record: (entry) => sink.record(entry),
    onDecision: (explanation, event) => {
      const [oldest] = waiting.size >= maxWaiting ? waiting.keys() : [];
      if (oldest) waiting.delete(oldest);
      waiting.set(event, explanation);
    },
    eventDetails: (event) => {
      const explanation = waiting.get(event);
      waiting.delete(event);
      const about = explanation && aboutRule(explanation);
      return recordContent ? { ...about, ...content(event) } : about;
    },
  };
};
