import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { toTable } from "../../scripts/lib/marked-table.mjs";
import { withTempDir } from "../../scripts/lib/temp.mjs";

/** What the machine did beside, before this process measured. */
const load = loadavg()[0].toFixed(1);

/** The options of the command line, each with its default, a number or a string: `--in-flight 64` is `inFlight`. */
export const optionsFrom = (defaults) => {
  const flagOf = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const names = Object.keys(defaults);
  const options = Object.fromEntries(names.map((name) => [flagOf(name), { type: "string" }]));
  const { values } = parseArgs({ options });
  const read = (name) => {
    const given = values[flagOf(name)] ?? defaults[name];
    return typeof defaults[name] === "number" ? Number(given) : given;
  };
  return Object.fromEntries(names.map((name) => [name, read(name)]));
};

/** Runs the work in a directory of its own, which is gone afterwards. */
export const inTempDir = (work) => withTempDir(join(tmpdir(), "harness-bench-"), work);

/** Keeps `inFlight` calls under way, each in its lane, until `count` are answered. Returns calls per second. */
export const throughput = async (call, { count, inFlight }) => {
  let started = 0;
  const lane = async (number) => {
    while (started < count) {
      started++;
      await call(number);
    }
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: inFlight }, (_, number) => lane(number)));
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

/** Cells of a table: a figure per second, its median, and its ratio to another contender's. */
export const perSecond = (figures, name) => Math.round(median(figures.get(name))).toLocaleString("en");
export const micros = (figures, name) => `${median(figures.get(name)).toFixed(0)} µs`;
export const times = (figures, name, base) => `${ratio(figures, name, base).toFixed(2)}×`;

/** Prints rows of strings as a table in Markdown, under `lead`, a sentence on how they were measured, and the machine. */
export const printTable = (header, rows, lead) => {
  if (lead !== undefined) {
    console.log(
      `${lead}, Node ${process.version}, ${availableParallelism()} cores, a load of ${load} before:\n`,
    );
  }
  console.log(toTable(header, rows));
};

/** Says that figures are void, and fails, where the limit is too near to vscode-jsonrpc. */
export const demandLimit = (figures) => {
  if (ratio(figures, "limit", "vscode-jsonrpc") >= 2) return;
  console.log("\nVoid: the limit is under twice vscode-jsonrpc, so it was badly written or badly measured.");
  process.exitCode = 1;
};
