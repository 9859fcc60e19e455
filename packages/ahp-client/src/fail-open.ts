import { ahpEvents, type BlockingEventType, type DecisionFor } from "@harnesskit/protocol/ahp";
import { InvalidArgumentError, quietly } from "@harnesskit/wire";
import type { AhpFailure, FailureCode } from "./errors.ts";
import type { ClientVerdict } from "./verdict.ts";

/** What decides in place of an absent harness, by event type. */
export type FailOpenDecisions = { readonly [T in BlockingEventType]?: DecisionFor<T> };

/** Told each time that an event was decided without its harness. */
export type OnFailOpen = (opened: {
  readonly eventType: BlockingEventType;
  readonly verdict: ClientVerdict<unknown>;
}) => void;

/**
 * The failures that mean that no harness is there to decide. A harness that answers, be it with an error, with nonsense or that it handles no such event,
 * has not agreed; neither has one whose limits forbid the call, or a caller who gave up.
 */
const absences: ReadonlySet<FailureCode> = new Set(["unreachable", "connection_lost", "timeout"]);

const isBlocking = (name: string): name is BlockingEventType =>
  Object.hasOwn(ahpEvents, name) && ahpEvents[name as BlockingEventType].blocking;

/** The decisions that a caller configured for the absence of the harness. */
export class FailOpen {
  readonly #decisions = new Map<BlockingEventType, unknown>();
  readonly #onFailOpen: OnFailOpen | undefined;

  /** Throws `invalid_argument` for what is no decision of its event's type, and for decisions without a callback. */
  constructor(decisions: FailOpenDecisions = {}, onFailOpen: OnFailOpen | undefined) {
    this.#onFailOpen = onFailOpen;
    for (const [name, decision] of Object.entries(decisions)) {
      if (decision === undefined) continue;
      if (!isBlocking(name)) throw new InvalidArgumentError(`failOpen: ${name} is no blocking event`);
      const parsed = ahpEvents[name].decision.safeParse(decision);
      if (!parsed.success) throw new InvalidArgumentError(`failOpen.${name} is no decision of ${name}`);
      this.#decisions.set(name, structuredClone(parsed.data));
    }
    if (this.#decisions.size > 0 && !onFailOpen) {
      throw new InvalidArgumentError("failOpen needs onFailOpen: somebody has to hear of it");
    }
  }

  /** The configured decision, where this failure means that the harness is absent; a copy. */
  decisionFor(eventType: BlockingEventType, { code }: AhpFailure): unknown {
    const decision = absences.has(code) ? this.#decisions.get(eventType) : undefined;
    return decision === undefined ? undefined : structuredClone(decision);
  }

  tell(opened: Parameters<OnFailOpen>[0]): void {
    quietly(() => this.#onFailOpen?.(opened));
  }
}
