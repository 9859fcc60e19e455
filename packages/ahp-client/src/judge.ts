import {
  type AhpEventType,
  ahpEvents,
  type BlockingEventType,
  type DecisionFor,
} from "@harnesskit/protocol/ahp";
import { callSafely, InvalidArgumentError } from "@harnesskit/wire";
import type * as z from "zod";
import { AhpFailure, type FailureCode, firstIssue } from "./errors.ts";

/** What the harness decided, as it came. */
export interface HarnessVerdict<D> {
  readonly origin: "harness";
  readonly decision: D;
}

/** What this client decided, because the harness did not. */
export interface ClientVerdict<D> {
  readonly origin: "client";
  /** The refusing decision of the event; with `failedOpen` the one that the caller configured. */
  readonly decision: D;
  /** Which failure it was, for programs. */
  readonly code: FailureCode;
  /** The same for people; also the `reason` of a refusing decision. */
  readonly reason: string;
  /** True when `failOpen` of this event type decided instead of refusing. */
  readonly failedOpen: boolean;
  readonly error: AhpFailure;
}

/** A decision, with who made it. `decision` is always one of the event's own, so that `verdict.decision` is enough to act on. */
export type Verdict<D> = HarnessVerdict<D> | ClientVerdict<D>;

/** The decisions that are not `block`. */
const refusals: { readonly [T in BlockingEventType]?: string } = {
  idle: "defer",
  rate_limit: "skip",
  confirmation: "reject",
};

/** The safe decision where the harness does not decide: `block`, for idle `defer`, rate_limit `skip`, confirmation `reject`. */
export const refusingDecision = <T extends BlockingEventType>(eventType: T, reason: string): DecisionFor<T> =>
  ({ decision: refusals[eventType] ?? "block", reason }) as DecisionFor<T>;

/** What decides in place of an absent harness, by event type. */
export type FailOpenDecisions = { readonly [T in BlockingEventType]?: DecisionFor<T> };

/** Called each time that an event was decided without its harness. */
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

export interface FailOpenOptions {
  /** What decides when no harness is there, by event type. Needs `onFailOpen`. @default nothing: the refusing decision */
  readonly failOpen?: FailOpenDecisions | undefined;
  /** Receives each event that `failOpen` decided. What it throws is ignored. */
  readonly onFailOpen?: OnFailOpen | undefined;
}

/** Makes a verdict of what became of an event: what the harness decided, else what is safe. */
export class Judge {
  /** What decides when no harness is there. */
  readonly #failOpen = new Map<BlockingEventType, unknown>();
  readonly #onFailOpen: OnFailOpen | undefined;

  /** Throws `invalid_argument` for a decision that does not fit its event's type, and for decisions without a callback. */
  constructor({ failOpen = {}, onFailOpen }: FailOpenOptions) {
    this.#onFailOpen = onFailOpen;
    for (const [name, decision] of Object.entries(failOpen)) {
      if (decision === undefined) continue;
      if (!isBlocking(name)) throw new InvalidArgumentError(`failOpen: ${name} is not a blocking event`);
      const parsed = ahpEvents[name].decision.safeParse(decision);
      if (!parsed.success) throw new InvalidArgumentError(`failOpen.${name} is not a decision of ${name}`);
      this.#failOpen.set(name, parsed.data);
    }
    if (this.#failOpen.size > 0 && !onFailOpen) {
      throw new InvalidArgumentError("failOpen needs onFailOpen, so that it does not go unnoticed");
    }
  }

  /** `outcome` is the result as it came, or the failure. An event of a batch has a generic decision, whatever its type. */
  verdict<D>(eventType: AhpEventType, outcome: unknown): Verdict<D> {
    if (AhpFailure.isInstance(outcome)) return this.#refused(eventType, outcome);
    const parsed = (ahpEvents[eventType].decision as z.ZodType).safeParse(outcome);
    if (parsed.success) return { origin: "harness", decision: parsed.data as D };
    const { error: cause } = parsed;
    const text = `the answer is not a valid decision of ${eventType}: ${firstIssue(cause)}`;
    return this.#refused(eventType, new AhpFailure("invalid_decision", text, { cause }));
  }

  #refused<D>(eventType: AhpEventType, error: AhpFailure): Verdict<D> {
    const { code } = error;
    const blocking = eventType as BlockingEventType;
    const reason = `The harness gave no decision (${code}): ${error.message}`;
    const opened = absences.has(code) ? structuredClone(this.#failOpen.get(blocking)) : undefined;
    const decision = (opened ?? refusingDecision(blocking, reason)) as D;
    const failedOpen = opened !== undefined;
    const verdict = { origin: "client", decision, code, reason, failedOpen, error } as const;
    if (failedOpen) callSafely(() => this.#onFailOpen?.({ eventType: blocking, verdict }));
    return verdict;
  }
}
