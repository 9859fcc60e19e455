import {
  ahpEvents,
  type BlockingEventType,
  defaultAhpLimits,
  type HarnessConfig,
} from "@harnesskit/protocol/ahp";
import { checkNumber, InvalidArgumentError } from "@harnesskit/wire";

/** What waits for an answer: the blocking events, and the two methods beside. */
export type CallName = BlockingEventType | "query" | "batch";

/** A notification waits only over an exchange, until the harness has taken it. */
type Waiting = CallName | "handshake" | "notification";

export interface DeadlineOptions {
  /** How long any call waits, in milliseconds. @default the harness's `timeout_ms`, else 10000 */
  readonly requestTimeoutMs?: number | undefined;
  /** How long some calls wait, in milliseconds. @default `requestTimeoutMs` */
  readonly deadlines?: { readonly [Name in Waiting]?: number | undefined } | undefined;
}

/** The longest deadline that a harness's `timeout_ms` can cause. */
const longestMs = 600_000;

/** What the harness allows: what it advertised, else what the protocol says. A negative limit says nothing that could be kept to. */
export const limitOf = (config: HarnessConfig | undefined, name: keyof typeof defaultAhpLimits): number =>
  advertised(config, name) ?? defaultAhpLimits[name];

const advertised = (config: HarnessConfig | undefined, name: keyof typeof defaultAhpLimits) => {
  const limit = config?.[name];
  return limit === undefined || limit < 0 ? undefined : limit;
};

export const checkTimeout = (name: string, timeoutMs: number): number =>
  checkNumber(name, timeoutMs, { min: 0, allowFraction: true });

const waits = (name: string): boolean =>
  ["query", "batch", "handshake", "notification"].includes(name) ||
  (Object.hasOwn(ahpEvents, name) && ahpEvents[name as keyof typeof ahpEvents].blocking);

/** How long each call waits for its answer, connecting included. */
export class Deadlines {
  readonly #given: { readonly [Name in Waiting]?: number | undefined };
  readonly #ofAll: number | undefined;

  /** Throws `invalid_argument` for an invalid time. */
  constructor({ requestTimeoutMs, deadlines = {} }: DeadlineOptions) {
    const unknown = Object.keys(deadlines).find((name) => !waits(name));
    if (unknown !== undefined) throw new InvalidArgumentError(`deadlines: "${unknown}" waits for no answer`);
    for (const [name, timeoutMs] of Object.entries({ requestTimeoutMs, ...deadlines })) {
      if (timeoutMs !== undefined) checkTimeout(name, timeoutMs);
    }
    this.#given = { ...deadlines };
    this.#ofAll = requestTimeoutMs;
  }

  /**
   * What the caller configured, no longer than the harness takes for a request, since no answer comes after that;
   * without configuration what the harness takes. `ownMs` is what one call asks for. Throws `invalid_argument` for one
   * that is not a valid time.
   */
  of(name: Waiting, config: HarnessConfig | undefined, ownMs?: number): number {
    const given = ownMs === undefined ? (this.#given[name] ?? this.#ofAll) : checkTimeout("timeoutMs", ownMs);
    const takenMs = advertised(config, "timeout_ms");
    if (given !== undefined) return takenMs === undefined ? given : Math.min(given, Math.max(1, takenMs));
    return Math.min(Math.max(1, takenMs ?? defaultAhpLimits.timeout_ms), longestMs);
  }
}
