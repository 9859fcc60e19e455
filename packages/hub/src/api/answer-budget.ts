import type { Clock } from "@harnesskit/wire";

const windowMs = 60_000;

/** How many answers may come in a minute, of all clients together, so that reconnecting gains nothing. */
export class AnswerBudget {
  readonly #clock: Clock;
  readonly #perMinute: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#tokens = perMinute;
    this.#filledAtMs = clock.elapsedMs();
  }

  /** 0 for an answer that may count; else how long to wait, in milliseconds. */
  take(): number {
    const nowMs = this.#clock.elapsedMs();
    const gained = (Math.max(0, nowMs - this.#filledAtMs) / windowMs) * this.#perMinute;
    this.#tokens = Math.min(this.#perMinute, this.#tokens + gained);
    this.#filledAtMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens--;
      return 0;
    }
    return Math.ceil(((1 - this.#tokens) / this.#perMinute) * windowMs);
  }
}
