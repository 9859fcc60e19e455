import { availableParallelism, loadavg } from "node:os";
import { performance } from "node:perf_hooks";
import { toTable } from "../../scripts/lib/marked-table.mjs";

/** What the machine did beside, before this process measured. */
const load = loadavg()[0].toFixed(1);

/** Keeps `inFlight` calls under way until `count` are answered. Returns calls per second. */
export const throughput = async (call, { count, inFlight }) => {
  let started = 0;
  const one = async () => {
    while (started < count) {
      started++;
      await call();
    }
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: inFlight }, one));
  return (count / (performance.now() - begin)) * 1000;
};

/** Calls one after the other. Returns the median latency in microseconds. */
export const latency = async (call, { count }) => {
  const times = [];
  for (let index = 0; index < count; index++) {
    const begin = performance.now();
    await call();
    times.push(performance.now() - begin);
  }
  return median(times) * 1000;
};

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/**
 * Measures the contenders in turn, round after round, so that a machine that gets slower gets slower for all. Each
 * round begins with another one. Returns for each the figures of all rounds.
 */
export const inRounds = async (contenders, rounds, measure) => {
  const figures = new Map(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let index = 0; index < contenders.length; index++) {
      const contender = contenders[(round + index) % contenders.length];
      figures.get(contender.name).push(await measure(contender));
    }
  }
  return figures;
};

/** Adds what `inRounds` has returned for contenders in new processes to what it had returned for others. */
export const addFigures = (all, figures) => {
  for (const [name, more] of figures) all.set(name, [...(all.get(name) ?? []), ...more]);
};

/** The median of the ratios to another contender, round by round. */
export const ratio = (figures, name, base) =>
  median(figures.get(name).map((figure, round) => figure / figures.get(base)[round]));

/** Prints rows of strings as a table in Markdown, under `lead`, a sentence on how they were measured, and the machine. */
export const printTable = (header, rows, lead) => {
  if (lead !== undefined) {
    console.log(
      `${lead}, Node ${process.version}, ${availableParallelism()} cores, a load of ${load} before:\n`,
    );
  }
  console.log(toTable(header, rows));
};
