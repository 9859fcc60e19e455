// What PostgreSQL costs: a turn behind a history and beside LangGraph, and two workers. The last table
// has all that is wanted of it.
// Usage: node bench/postgres.mjs [--only growth,workers,turns] [--rounds 5] [--turns 200] [--seconds 5]
import { openPostgres } from "../scripts/lib/postgres.mjs";
import { inRounds, latency, median, micros, optionsFrom, printTable, ratio, times } from "./lib/rounds.mjs";
import { onPostgres, onSqlite } from "./postgres/conversations.mjs";
import { rateOfWorkers, writesOfTurns } from "./postgres/measures.mjs";

const { only, rounds, turns, seconds, history } = optionsFrom({
  only: "growth,workers,turns",
  rounds: 5,
  turns: 200,
  seconds: 5,
  history: 10_000,
});
const { url, end } = await openPostgres({ isSynced: true });

const summary = [];
/** Notes a figure for the last table: `holds` says whether it is what is wanted. */
const note = (what, measured, wanted, holds) => summary.push([what, measured, wanted, holds ? "yes" : "no"]);
/** Notes a ratio that must be at least this. */
const noteAtLeast = (what, value, least) => note(what, `${value.toFixed(2)}×`, `≥ ${least}×`, value >= least);

const growth = async () => {
  const [rows, all] = [[], []];
  for (const length of [10, history]) {
    const { rows: written, bytes } = await writesOfTurns(url, { history: length, turns: 50 });
    rows.push([`${length} messages`, written.toFixed(1), `${(bytes / 1024).toFixed(1)} KiB`]);
    all.push({ written, bytes });
  }
  printTable(["a turn behind", "rows written", "write-ahead log"], rows);
  const [few, many] = all;
  const text = rows.map(([, written, bytes]) => `${written} rows, ${bytes}`).join("; ");
  const isSame = Math.round(few.written) === Math.round(many.written) && many.bytes < 1.2 * few.bytes;
  note(`a turn behind 10 messages; behind ${history}`, text, "the same", isSame);
};

/** One worker and two, whose model takes its time. */
const workers = async () => {
  const [one, two] = ["one worker", "two workers"];
  const contenders = [one, two].map((name, index) => ({ name, count: index + 1 }));
  const options = { seconds, inFlight: 4, modelMs: 50 };
  const figures = await inRounds(contenders, rounds, ({ count }) => rateOfWorkers(url, count, options));
  const what = "turns with a model of 50 ms, four at a time";
  const rates = [one, two].map((name) => median(figures.get(name)).toFixed(0));
  printTable(["a second", one, two, "ratio"], [[what, ...rates, times(figures, two, one)]]);
  noteAtLeast(`two workers, of one: ${what}`, ratio(figures, two, one), 1.7);
};

const lateTurn = ({ run }) =>
  run(async (turn) => {
    for (let index = 0; index < turns; index++) await turn();
    return latency(turn, { count: 20 });
  });

const compare = async () => {
  for (const [engine, contenders, least] of [
    ["PostgreSQL", onPostgres(url), 3],
    ["SQLite", onSqlite(), 5],
  ]) {
    const figures = await inRounds(contenders, rounds, lateTurn);
    printTable(
      [`a turn after ${turns} turns, ${engine}`, "takes", "of harnesskit's"],
      contenders.map(({ name }) => [name, micros(figures, name), times(figures, name, "harnesskit")]),
    );
    console.log();
    const theirs = contenders[1].name;
    noteAtLeast(
      `${theirs}, a turn after ${turns} turns, of ours`,
      ratio(figures, theirs, "harnesskit"),
      least,
    );
  }
};

const parts = { growth, workers, turns: compare };
try {
  for (const [name, part] of Object.entries(parts)) {
    if (!only.split(",").includes(name)) continue;
    await part();
    console.log();
  }
  printTable(["", "measured", "wanted", "holds"], summary, `median of ${rounds} rounds`);
} finally {
  await end();
}
