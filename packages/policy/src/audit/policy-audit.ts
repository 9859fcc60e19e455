import type { AuditEntryLimits, AuditSink } from "@harnesskit/audit";
import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { BoundedMap } from "@harnesskit/wire";
import type { Explanation } from "../decide/explanation.ts";
import { checkPolicyAuditOptions } from "../option-names.ts";
import { maxEventLength, recordedEvent } from "./recorded-event.ts";

export interface PolicyAuditOptions {
  /** Where entries go. With `recordContent` its limits must be at least `contentAuditLimits`. */
  readonly sink: Pick<AuditSink, "record" | "isFull">;
  /**
   * Whether entries keep the event in `details.event` for `backtest`: without secrets, and at most 65,536 characters.
   * @default false
   */
  readonly recordContent?: boolean | undefined;
}

/** Facts in the entry of an event, in addition to the server's own. */
type EventDetails = Readonly<Record<string, string | number | boolean | undefined>>;

/** What `createAhpServer` takes as `audit`; its entries of events name the rule that decided. */
export interface PolicyAudit extends Pick<AuditSink, "record" | "isFull"> {
  /** More details for the entry of an event; the same object as `onDecision` got. */
  readonly eventDetails: (event: AhpEvent) => EventDetails | undefined;
  /** For `createPolicyHarness`. */
  readonly onDecision: (explanation: Explanation, event: AhpEvent) => void;
}

/** The limits of an audit sink under which an entry with the content of an event is kept whole. */
export const contentAuditLimits: Readonly<Pick<AuditEntryLimits, "maxStringLength" | "maxEntryBytes">> =
  // A character has at most six bytes in a line of the log.
  Object.freeze({ maxStringLength: maxEventLength, maxEntryBytes: 8 * maxEventLength });

/** Explanations whose entry is not made yet; it is made as soon as the event is answered. */
const maxPending = 4096;

const ruleDetails = ({ rule, source, mode, decided, shadowed }: Explanation): EventDetails => ({
  rule,
  source: source === "rule" ? undefined : source,
  shadowed:
    shadowed.length > 0 ? shadowed.map((one) => `${one.rule}: ${one.decision}`).join(", ") : undefined,
  would: mode === "shadow" ? decided?.decision : undefined,
});

const contentDetails = (event: AhpEvent): EventDetails => {
  const recorded = recordedEvent(event);
  return recorded ? { event: recorded.text, event_cut: recorded.isCut || undefined } : {};
};

/**
 * Makes the audit of a server under a policy: entries of events name the rule (`rule`, `source`), the decisions of rules
 * in shadow (`shadowed`, `would`) and, with `recordContent`, the event itself. Throws `invalid_argument` for invalid options.
 */
export const createPolicyAudit = (options: PolicyAuditOptions): PolicyAudit => {
  const { sink, recordContent = false } = checkPolicyAuditOptions(options);
  const pending = new BoundedMap<AhpEvent, Explanation>({ maxSize: maxPending });
  return {
    record: (entry) => sink.record(entry),
    get isFull() {
      return sink.isFull;
    },
    onDecision: (explanation, event) => pending.set(event, explanation),
    eventDetails: (event) => {
      const explanation = pending.get(event);
      pending.delete(event);
      const rule = explanation && ruleDetails(explanation);
      return recordContent ? { ...rule, ...contentDetails(event) } : rule;
    },
  };
};
