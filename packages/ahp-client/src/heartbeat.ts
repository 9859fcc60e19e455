import type { EventPayloadInput } from "@harnesskit/protocol/ahp";
import { type Clock, InvalidArgumentError } from "@harnesskit/wire";

/** What an agent says of itself in a heartbeat. */
export type HeartbeatState = Omit<EventPayloadInput<"heartbeat">, "uptime_ms" | "total_events_processed"> & {
  /** @default the events that the client has sent */
  readonly total_events_processed?: number;
};

export interface HeartbeatOptions {
  readonly intervalMs: number;
  readonly state: string | (() => HeartbeatState);
  readonly clock: Clock;
  readonly startedAt: number;
  readonly events: () => number;
  /** Whether a beat can be sent now: one that waits says nothing when it comes. */
  readonly isConnected: () => boolean;
  readonly send: (payload: EventPayloadInput<"heartbeat">) => void;
  /** Told of a `state` that threw, or told what is none; that beat is left out, and counts as lost. */
  readonly onError: (cause: unknown) => void;
}

/** Sends a heartbeat now and in each interval. Returns what ends it. Throws `invalid_argument`. */
export const beat = (options: HeartbeatOptions): (() => void) => {
  const { intervalMs, state, clock, startedAt, events, isConnected, send, onError } = options;
  if (!(intervalMs > 0 && Number.isFinite(intervalMs))) {
    throw new InvalidArgumentError("the interval of a heartbeat is a number of milliseconds above 0");
  }
  let cancel: () => void = () => {};
  let isOver = false;
  const next = (): void => {
    if (isOver) return;
    if (isConnected()) {
      try {
        const own = typeof state === "string" ? { current_state: state } : state();
        if (isOver) return;
        const uptimeMs = Math.max(0, Math.round(clock.now() - startedAt));
        send({ total_events_processed: events(), ...own, uptime_ms: uptimeMs });
      } catch (cause) {
        onError(cause);
      }
    }
    if (!isOver) cancel = clock.after(intervalMs, next);
  };
  next();
  return () => {
    isOver = true;
    cancel();
  };
};
