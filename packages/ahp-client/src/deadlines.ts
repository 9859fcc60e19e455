import { type BlockingEventType, defaultAhpLimits, type HarnessConfig } from "@harnesskit/protocol/ahp";
import { InvalidArgumentError } from "@harnesskit/wire";
import { usable } from "./harness-limits.ts";

/** What may wait for how long: the calls, and the blocking events by what they hold up. */
export type CallClass =
  | "handshake"
  /** pre_action, pre_prompt */
  | "gate"
  /** intent_detection, context_perception, memory_recall, planning, reasoning */
  | "context"
  /** idle, rate_limit */
  | "pacing"
  /** confirmation, which may wait for a person */
  | "confirmation"
  | "query"
  | "batch"
  /** A notification over an exchange, until the harness has taken it */
  | "notification";

export const callClassOf: Readonly<Record<BlockingEventType, CallClass>> = {
  pre_action: "gate",
  pre_prompt: "gate",
  intent_detection: "context",
  context_perception: "context",
  memory_recall: "context",
  planning: "context",
  reasoning: "context",
  idle: "pacing",
  rate_limit: "pacing",
  confirmation: "confirmation",
};

export interface DeadlineOptions {
  /** How long any call waits, in milliseconds. @default the harness's `timeout_ms`, else 10000 */
  readonly requestTimeoutMs?: number | undefined;
  /** How long calls of a class wait, in milliseconds. @default `requestTimeoutMs` */
  readonly deadlines?: Readonly<Partial<Record<CallClass, number>>> | undefined;
}

/** How long each call waits for its answer, connecting included. */
export class Deadlines {
  readonly #given = new Map<string, number>();
  readonly #ofAll: number | undefined;
  readonly #maxTimeoutMs: number;

  /** Throws `invalid_argument` for an invalid time. */
  constructor({ requestTimeoutMs, deadlines = {} }: DeadlineOptions, maxTimeoutMs: number) {
    this.#maxTimeoutMs = maxTimeoutMs;
    this.#ofAll = requestTimeoutMs === undefined ? undefined : checkedTimeout(requestTimeoutMs);
    for (const [name, timeoutMs] of Object.entries(deadlines)) {
      if (timeoutMs !== undefined) this.#given.set(name, checkedTimeout(timeoutMs));
    }
  }

  /**
   * What the caller configured, no longer than the harness takes for a request, since no answer comes after that;
   * without configuration what the harness takes. `ownMs` is what one call asks for. Throws `invalid_argument` for one
   * that is not a valid time.
   */
  of(name: CallClass, config: HarnessConfig | undefined, ownMs?: number): number {
    const given = ownMs === undefined ? (this.#given.get(name) ?? this.#ofAll) : checkedTimeout(ownMs);
    const advertised = usable(config?.timeout_ms);
    if (given === undefined) {
      return Math.min(Math.max(1, advertised ?? defaultAhpLimits.timeout_ms), this.#maxTimeoutMs);
    }
    return advertised === undefined ? given : Math.min(given, Math.max(1, advertised));
  }
}

/** Throws `invalid_argument` for an invalid time. */
export const checkedTimeout = (timeoutMs: number): number => {
  if (Number.isFinite(timeoutMs) && timeoutMs > 0) return timeoutMs;
  const found = typeof timeoutMs === "number" ? String(timeoutMs) : `a ${typeof timeoutMs}`;
  throw new InvalidArgumentError(`a deadline must be a number of milliseconds above 0, got ${found}`);
};
