import {
  type AhpEventType,
  ahpEvents,
  type BlockingEventType,
  quickSafeParse,
} from "@harnesskit/protocol/ahp";
import type * as z from "zod";
import { AhpFailure, type FailureCode } from "./errors.ts";
import { FailOpen, type FailOpenDecisions, type OnFailOpen } from "./fail-open.ts";
import { problemOf } from "./problem.ts";
import { refusingDecision, type Verdict } from "./verdict.ts";

export interface JudgeOptions {
  readonly failOpen: FailOpenDecisions | undefined;
  readonly onFailOpen: OnFailOpen | undefined;
}

/** Makes a verdict of what became of an event: what the harness decided, else what is safe. Counts them. */
export class Judge {
  readonly #failOpen: FailOpen;
  readonly #ofClient: Partial<Record<FailureCode, number>> = {};
  #ofHarness = 0;
  #failedOpen = 0;

  /** Throws `invalid_argument`. */
  constructor({ failOpen, onFailOpen }: JudgeOptions) {
    this.#failOpen = new FailOpen(failOpen, onFailOpen);
  }

  get counts() {
    return {
      harnessVerdicts: this.#ofHarness,
      clientVerdicts: { ...this.#ofClient },
      failedOpen: this.#failedOpen,
    };
  }

  /** `outcome` is the result as it came, or the failure. An event of a batch has a generic decision, whatever its type. */
  verdict<D>(eventType: AhpEventType, outcome: unknown): Verdict<D> {
    if (AhpFailure.isInstance(outcome)) return this.#refused(eventType, outcome);
    const parsed = quickSafeParse<z.ZodSafeParseResult<unknown>>(ahpEvents[eventType].decision, outcome);
    if (parsed.success) {
      this.#ofHarness++;
      return { origin: "harness", decision: parsed.data as D };
    }
    const { error: cause } = parsed;
    const text = `the answer is not a valid decision of ${eventType}: ${problemOf(cause)}`;
    return this.#refused(eventType, new AhpFailure("invalid_decision", text, { cause }));
  }

  #refused<D>(eventType: AhpEventType, error: AhpFailure): Verdict<D> {
    const { code } = error;
    this.#ofClient[code] = (this.#ofClient[code] ?? 0) + 1;
    const blocking = eventType as BlockingEventType;
    const reason = `The harness gave no decision (${code}): ${error.message}`;
    const opened = this.#failOpen.decisionFor(blocking, error);
    const decision = (opened ?? refusingDecision(blocking, reason)) as D;
    const failedOpen = opened !== undefined;
    const verdict = { origin: "client", decision, code, reason, failedOpen, error } as const;
    if (failedOpen) {
      this.#failedOpen++;
      this.#failOpen.tell({ eventType: blocking, verdict });
    }
    return verdict;
  }
}
