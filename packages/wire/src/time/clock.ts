/** Time as a dependency, so that a test needs no sleep. */
export interface Clock {
  /** Milliseconds since the epoch, for what is shown or stored. May be set at any time, forward or back. */
  now(): number;
  /** Whole milliseconds since some moment, for waits and durations. Setting the system's clock does not change it. */
  elapsedMs(): number;
  /**
   * Calls `callback` once after `delayMs`, never before. Returns what takes it back. A waiting timer does not keep the process alive,
   * unless `holdsProcess`: for what a caller awaits although nothing else may be open.
   */
  after(delayMs: number, callback: () => void, holdsProcess?: boolean): () => void;
}

/** The longest delay of one of the platform's timers. */
export const maxTimerMs = 2 ** 31 - 1;

/** The real time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsedMs: () => Math.floor(performance.now()),
  after(delayMs, callback, holdsProcess = false) {
    let leftMs = delayMs;
    let timer: unknown;
    const start = (): void => {
      const partMs = Math.min(leftMs, maxTimerMs);
      leftMs -= partMs;
      timer = setTimeout(leftMs > 0 ? start : callback, partMs);
      // A number in browsers.
      if (!holdsProcess) (timer as { unref?(): void }).unref?.();
    };
    start();
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>);
  },
};

let lastTime = { ms: 0, text: new Date(0).toISOString() };

/** The time as RFC 3339 in UTC. The last one is kept: what happens in one millisecond asks for it many times. */
export const isoTime = (ms: number): string => {
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(ms).toISOString() };
  return lastTime.text;
};

/** Randomness as a dependency: makes a new id that starts with `prefix` and an underscore. */
export type CreateId = (prefix: string) => string;

/** Ids with 128 random bits: `ses_1f0c…` (32 hex digits). */
export const randomId: CreateId = (prefix) => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  let hex = "";
  for (const byte of bytes) hex += byte.toString(16).padStart(2, "0");
  return `${prefix}_${hex}`;
};

/** A random UUID of version 4, also in pages without a secure origin: these have no `crypto.randomUUID`. */
export const randomUuid = (): string => {
  const hex = randomId("").slice(1);
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
};
