import type { AhpEvent, BlockingEventType, HandshakeResult } from "@harnesskit/protocol/ahp";
import type { SendOptions } from "./calls.ts";
import type { AhpFailure } from "./errors.ts";
import { checkEvent } from "./harness-rules.ts";
import type { Judge } from "./judge.ts";
import type { Verdict } from "./verdict.ts";

/** How one blocking event is sent, and what its answer comes to: a verdict, whatever happens. */
export class Question implements SendOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly #event: AhpEvent;
  readonly #eventType: BlockingEventType;
  readonly #judge: Judge;

  constructor(
    event: AhpEvent,
    eventType: BlockingEventType,
    judge: Judge,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ) {
    this.#event = event;
    this.#eventType = eventType;
    this.#judge = judge;
    this.timeoutMs = timeoutMs;
    this.signal = signal;
  }

  get events(): readonly AhpEvent[] {
    return [this.#event];
  }

  check(harness: HandshakeResult): void {
    checkEvent(this.#event, harness);
  }

  answered(result: unknown): Verdict<unknown> {
    return this.#judge.verdict(this.#eventType, result);
  }

  failed(failure: AhpFailure): Verdict<unknown> {
    return this.#judge.verdict(this.#eventType, failure);
  }
}
