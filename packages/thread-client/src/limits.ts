import { InvalidArgumentError } from "@harnesskit/wire";

/** What events that nobody has read yet may use, for each turn, each subscription and each `events()`. */
export interface BufferLimits {
  /**
   * Events that wait. Over it, neighbouring deltas of one item are merged, then deltas are dropped, then started and
   * completed items; an approval or the end of a turn only at twice the limit. @default 10000
   */
  readonly maxBufferedEvents: number;
  /** UTF-16 units of text in the deltas that wait; further deltas are dropped. @default 8388608 (8 Mi) */
  readonly maxBufferedDeltaChars: number;
}

/** What one client may use at the most. */
export interface ClientLimits extends BufferLimits {
  /** Approvals whose callbacks run at the same time; one more is rejected. @default 256 */
  readonly maxOpenApprovals: number;
}

export const defaultClientLimits: ClientLimits = {
  maxBufferedEvents: 10_000,
  maxBufferedDeltaChars: 8 * 1024 * 1024,
  maxOpenApprovals: 256,
};

/** The limit that was given, or its default. Throws `invalid_argument` for anything but a positive integer. */
export const limitOf = (name: string, given: number | undefined, byDefault: number): number => {
  const limit = given ?? byDefault;
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new InvalidArgumentError(`${name} is a positive integer`);
  return limit;
};

/** The limits of a client, with their defaults. Throws `invalid_argument`. */
export const resolveLimits = (options: Partial<ClientLimits>): ClientLimits => {
  const of = (name: keyof ClientLimits) => limitOf(name, options[name], defaultClientLimits[name]);
  return {
    maxBufferedEvents: of("maxBufferedEvents"),
    maxBufferedDeltaChars: of("maxBufferedDeltaChars"),
    maxOpenApprovals: of("maxOpenApprovals"),
  };
};
