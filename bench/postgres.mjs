// What PostgreSQL costs: a turn behind a history and beside LangGraph, two workers, appends, wakes, suspended sessions at a start.
// Usage: node bench/postgres.mjs [--only growth,workers,turns,append,wake,start] [--rounds 5] [--turns 200] [--seconds 5]
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";
import { onPostgres, onSqlite } from "./postgres/conversations.mjs";
import {
  appendContenders,
  findSuspended,
  rateOfWorkers,
  wakeTimes,
  writesOfTurns,
} from "./postgres/measures.mjs";
import { startServer } from "./postgres/server.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "growth,workers,turns,append,wake,start" },
    rounds: { type: "string", default: "5" },
    turns: { type: "string", default: "200" },
    seconds: { type: "string", default: "5" },
    history: { type: "string", default: "10000" },
  },
});
const [rounds, turns, seconds, history] = ["rounds", "turns", "seconds", "history"].map((name) =>
  Number(values[name]),
);
const only = values.only.split(",");
const { url, stop } = await startServer();
const times = (figures, name, base) => `${ratio(figures, name, base).toFixed(2)}×`;

const growth = async () => {
  const rows = [];
  for (const length of [10, history]) {
    const { rows: written, bytes } = await writesOfTurns(url, { history: length, turns: 50 });
    rows.push([`${length} messages`, written.toFixed(1), `${(bytes / 1024).toFixed(1)} KiB`]);
  }
  printTable(["a turn behind", "rows written", "write-ahead log"], rows);
};

/** One worker and two, of a kind. */
const scaling = async (name, task, options) => {
  const contenders = [1, 2].map((count) => ({ name: count, count }));
  const figures = await inRounds(contenders, rounds, ({ count }) => rateOfWorkers(url, count, task, options));
  return [name, ...[1, 2].map((count) => median(figures.get(count)).toFixed(0)), times(figures, 2, 1)];
};

const workers = async () => {
  const alone = { seconds, inFlight: 1 };
  const rows = [
    await scaling("turns, one at a time", "turns", alone),
    await scaling("turns, four at a time, a model of 50 ms", "turns", { seconds, inFlight: 4, modelMs: 50 }),
    await scaling("turns, as many as possible", "turns", { seconds, inFlight: 10 }),
    await scaling("bare transactions, one at a time", "bare", alone),
    await scaling("bare transactions, as many as possible", "bare", { seconds, inFlight: 10 }),
  ];
  printTable(["a second", "one worker", "two workers", "ratio"], rows);
};

const lateTurn = ({ run }) =>
  run(async (turn) => {
    for (let index = 0; index < turns; index++) await turn();
    const taken = [];
    for (let index = 0; index < 20; index++) {
      const begin = performance.now();
      await turn();
      taken.push(performance.now() - begin);
    }
    return median(taken);
  });

const compare = async () => {
  for (const [engine, contenders] of [
    ["PostgreSQL", onPostgres(url)],
    ["SQLite", onSqlite()],
  ]) {
    const figures = await inRounds(contenders, rounds, lateTurn);
    printTable(
      [`a turn after ${turns} turns, ${engine}`, "takes", "of harnesskit's"],
      contenders.map(({ name }) => [
        name,
        `${(median(figures.get(name)) * 1000).toFixed(0)} µs`,
        times(figures, name, "harnesskit"),
      ]),
    );
    console.log();
  }
};

const append = async () => {
  const contenders = appendContenders(url, { count: 6000 });
  const figures = await inRounds(contenders, rounds, ({ run }) => run());
  printTable(
    ["one event at a time, 64 threads, 16 connections", "a second", "of the bare INSERT's"],
    contenders.map(({ name }) => [
      name,
      median(figures.get(name)).toFixed(0),
      times(figures, name, "bare INSERT"),
    ]),
  );
};

const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

const wake = async () => {
  const rows = [];
  for (const threads of [1, 200]) {
    const sorted = (await wakeTimes(url, { count: 200, threads })).sort((one, other) => one - other);
    rows.push([
      `${threads} watched`,
      ...[0.5, 0.99].map((part) => `${quantile(sorted, part).toFixed(1)} ms`),
    ]);
  }
  printTable(["an append, read in another process after", "p50", "p99"], rows);
};

const start = async () => {
  const tookMs = await findSuspended(url, 10_000);
  printTable(["a start until 10,000 suspended sessions are known"], [[`${tookMs.toFixed(0)} ms`]]);
};

console.log(`median of ${rounds} rounds, Node ${process.version}\n`);
const parts = { growth, workers, turns: compare, append, wake, start };
try {
  for (const [name, part] of Object.entries(parts)) {
    if (!only.includes(name)) continue;
    await part();
    console.log();
  }
} finally {
  await stop();
}
