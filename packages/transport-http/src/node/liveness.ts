import type { Clock } from "@harnesskit/wire";

export interface LivenessOptions {
  readonly clock: Clock;
  /** How often the other side is asked for a sign of life. */
  readonly pingIntervalMs: number;
  /** How long it may take for one. */
  readonly pongTimeoutMs: number;
}

export interface LivenessSubject {
  /** Asks for a sign of life. */
  ping(): void;
  /** How much has ever arrived, in bytes: a long message on its way is a sign of life too. */
  bytesRead(): number;
  /** Nothing is being read, so that no sign of life can be seen. */
  isPaused(): boolean;
  /** No sign came in time. */
  dead(): void;
}

/** Asks the other side again and again whether it is there. Gives what stops it. */
export const watchLiveness = (options: LivenessOptions, subject: LivenessSubject): (() => void) => {
  const { clock, pingIntervalMs, pongTimeoutMs } = options;
  let cancelTimer = () => {};
  const waitToAsk = () => {
    cancelTimer = clock.after(pingIntervalMs, ask);
  };
  const ask = () => {
    if (subject.isPaused()) {
      waitToAsk();
      return;
    }
    const before = subject.bytesRead();
    subject.ping();
    cancelTimer = clock.after(pongTimeoutMs, () => {
      if (subject.isPaused() || subject.bytesRead() !== before) waitToAsk();
      else subject.dead();
    });
  };
  waitToAsk();
  return () => cancelTimer();
};
