import type { EventPayloadInput } from "@harnesskit/protocol/ahp";
import { type Clock, HarnessError, InvalidArgumentError } from "@harnesskit/wire";

/** The fields of a heartbeat that the agent provides. */
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
  /** Whether a heartbeat can be sent now; a late one would be useless. */
  readonly isConnected: () => boolean;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly send: (payload: EventPayloadInput<"heartbeat">) => void;
  /** Receives what a `state` threw, or an invalid state; that heartbeat is left out, and counts as lost. */
  readonly onError: (error: HarnessError) => void;
}

/** Sends a heartbeat now and in each interval. Returns a function that ends it. Throws `invalid_argument`. */
export const startHeartbeat = (options: HeartbeatOptions): (() => void) => {
  const { intervalMs, state, clock, startedAt, events, isConnected, signal, send, onError } = options;
  if (!(intervalMs > 0 && Number.isFinite(intervalMs))) {
    throw new InvalidArgumentError("the interval of a heartbeat must be a number of milliseconds above 0");
  }
  let cancel: () => void = () => {};
  let isOver = signal.aborted;
  const stop = (): void => {
    isOver = true;
    cancel();
    signal.removeEventListener("abort", stop);
  };
  signal.addEventListener("abort", stop);
  const next = (): void => {
    if (isOver) return;
    if (isConnected()) {
      try {
        const own = typeof state === "string" ? { current_state: state } : state();
        if (isOver) return;
        const uptimeMs = Math.max(0, Math.round(clock.elapsedMs() - startedAt));
        send({ total_events_processed: events(), ...own, uptime_ms: uptimeMs });
      } catch (cause) {
        const error = new HarnessError("handler_failed", "the state of a heartbeat failed", { cause });
        onError(HarnessError.isInstance(cause) ? cause : error);
      }
    }
    if (!isOver) cancel = clock.after(intervalMs, next);
  };
  next();
  return stop;
};
