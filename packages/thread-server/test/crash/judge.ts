import type { CrashPoint } from "./crash-points.ts";
import { verifyRestart } from "./verify.ts";

/** How long a restart may take before it counts as one that hangs. */
const restartTimeoutMs = 10_000;

/** The outcome, or a rejection when there is none in time. */
export const inTime = async <T>(work: Promise<T>, what: string): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} does not come to an end`)), restartTimeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Does the work for each, a few at a time: much of it is waiting. */
export const several = async <T>(all: Iterable<T>, work: (each: T) => Promise<void>): Promise<void> => {
  const left = all[Symbol.iterator]();
  const lane = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: 6 }, lane));
};

/** Restarts on what each crash left. Returns what was wrong, each with its crash. */
export const judge = async (points: readonly CrashPoint[]): Promise<string[]> => {
  const broken: string[] = [];
  await several(points, async (point) => {
    try {
      await inTime(verifyRestart({ ...point, nextLife: "B" }), "the restart");
    } catch (error) {
      broken.push(`${(error as Error).message.slice(0, 300)} (${point.label})`);
    }
  });
  return broken;
};

/** Numbers below 1, the same ones for the same seed. */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
