import type { CrashPoint } from "./crash-points.ts";
import type { Life } from "./life.ts";
import { verifyRestart } from "./verify.ts";

/** How long a restart may take before it counts as one that hangs. */
const restartTimeoutMs = 10_000;

/** What was looked at, for the documentation. */
export class Figures {
  readonly #counts = new Map<string, number>();

  add(what: string, count = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  print(title: string): void {
    const counts = [...this.#counts].map(([what, count]) => `${count} ${what}`).join(", ");
    process.stdout.write(`${title}: ${counts}\n`);
  }
}

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

/** Restarts on what each crash left. Returns what was wrong, each with its crash, and the lives that followed. */
export const judge = async (
  points: readonly CrashPoint[],
  nextLife: string,
): Promise<{ broken: string[]; lives: Map<CrashPoint, Life> }> => {
  const broken: string[] = [];
  const lives = new Map<CrashPoint, Life>();
  await several(points, async (point) => {
    try {
      lives.set(point, await inTime(verifyRestart({ ...point, nextLife }), "the restart"));
    } catch (error) {
      broken.push(`${(error as Error).message.slice(0, 300)} (${point.label})`);
    }
  });
  return { broken, lives };
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
