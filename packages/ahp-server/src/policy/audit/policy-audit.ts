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

/** The explanations of events whose entries are not made yet. */
class Waiting {
  /** An entry is mostly made right behind its decision: this one finds its event without a look-up. */
  #event: AhpEvent | undefined;
  #explanation: Explanation | undefined;
  // A weak map would cost each collection of garbage as much as it holds.
  readonly #earlier = new Map<AhpEvent, Explanation>();

  put(event: AhpEvent, explanation: Explanation): void {
    if (this.#event && this.#explanation) this.#keep(this.#event, this.#explanation);
    this.#event = event;
    this.#explanation = explanation;
  }

  take(event: AhpEvent): Explanation | undefined {
    if (event !== this.#event) {
      const explanation = this.#earlier.get(event);
      this.#earlier.delete(event);
      return explanation;
    }
    const explanation = this.#explanation;
    this.#event = undefined;
    this.#explanation = undefined;
    return explanation;
  }

  #keep(event: AhpEvent, explanation: Explanation): void {
    const [oldest] = this.#earlier.size >= maxWaiting ? this.#earlier.keys() : [];
    if (oldest) this.#earlier.delete(oldest);
    this.#earlier.set(event, explanation);
  }
}

const shadowedIn = ({ shadowed }: Explanation): string | undefined =>
  shadowed.length === 0 ? undefined : shadowed.map((one) => `${one.rule}: ${one.decision}`).join(", ");

const aboutRule = (explanation: Explanation): EventDetails => {
  const { rule, source, mode, decided } = explanation;
  const shadowed = shadowedIn(explanation);
  return {
    ...(rule !== undefined && { rule }),
    ...(source !== "rule" && { source }),
    ...(shadowed !== undefined && { shadowed }),
    ...(mode === "shadow" && { would: decided?.decision }),
  };
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
  const waiting = new Waiting();
  // Most decisions are one that was explained before.
  let last: { readonly explanation: Explanation; readonly about: EventDetails } | undefined;
  const about = (explanation: Explanation): EventDetails => {
    if (last?.explanation !== explanation) last = { explanation, about: aboutRule(explanation) };
    return last.about;
  };
  return {
    record: (entry) => sink.record(entry),
    onDecision: (explanation, event) => waiting.put(event, explanation),
    eventDetails: (event) => {
      const explanation = waiting.take(event);
      const rule = explanation && about(explanation);
      return recordContent ? { ...rule, ...content(event) } : rule;
    },
  };
};
