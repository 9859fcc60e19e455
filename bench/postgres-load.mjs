// What one database carries: turns, events, approvals and listeners a second, and the bytes that each leaves.
// Usage: node bench/postgres-load.mjs [--seconds 10] [--workers 2] [--listeners 10000]
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { openPostgresStore, postgresSchemaStats } from "@harnesskit/store-postgres";
import { printTable } from "./lib/rounds.mjs";
import { appendRate, rateOfWorkers, wakeTimes } from "./postgres/measures.mjs";
import { startServer, withSchema } from "./postgres/server.mjs";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    workers: { type: "string", default: "2" },
    listeners: { type: "string", default: "10000" },
  },
});
const [seconds, workers, listeners] = ["seconds", "workers", "listeners"].map((name) => Number(values[name]));
const { url, stop } = await startServer();
const rows = [];
const add = (what, perSecond, note = "") => rows.push([what, perSecond.toFixed(0), note]);

/** Bytes on the disk for each of `count` things that `work` stores, with indexes. */
const bytesOf = (count, work) =>
  withSchema(url, async (place) => {
    const store = await openPostgresStore(place);
    const before = (await postgresSchemaStats(place)).bytes;
    await work(store, count);
    const after = (await postgresSchemaStats(place)).bytes;
    await store.close();
    return `${Math.round((after - before) / count)} bytes`;
  });

const approve = async (store, count) => {
  for (let number = 0; number < count; number++) {
    const { record } = await store.approvals.ask({
      origin: { agent: "a", session: `s${number}`, callId: `c${number}` },
      subject: { tool: "bash", input: { command: `npm test ${number}` } },
      rule: { id: "shell", reason: "it runs a command" },
    });
    const { id, digest } = record;
    await store.approvals.apply(id, { type: "answer", decision: "reject", by: "ada", digest });
  }
};

const converse = async (store, count) => {
  const { ourConversation } = await import("./chat/contenders.mjs");
  const { turn, close } = ourConversation(store.graph);
  for (let number = 0; number < count; number++) await turn("s");
  await close();
};

const appendEvents = async (store, count) => {
  const { eventOf } = await import("./postgres/measures.mjs");
  await store.threads.create({
    threadId: "ses_1",
    title: "",
    directory: "/",
    time: { created: 1, updated: 1 },
  });
  await store.threads.lease("ses_1");
  for (let seq = 1; seq <= count; seq += 100) {
    const events = Array.from({ length: 100 }, (_, more) => eventOf("ses_1", seq + more));
    await store.threads.append("ses_1", events, { flush: true });
  }
};

try {
  const many = { seconds, inFlight: 10 };
  add(
    `turns, ${workers} workers`,
    await rateOfWorkers(url, workers, "turns", many),
    await bytesOf(2000, converse),
  );
  for (const events of [1, 20]) {
    const rate = await appendRate(url, { count: 10_000, events, threads: 64 });
    add(
      `events, ${events} an append, one server`,
      rate,
      events === 1 ? await bytesOf(20_000, appendEvents) : "",
    );
  }
  for (const count of [1, workers]) {
    const rate = await rateOfWorkers(url, count, "approvals", many);
    const note = count === 1 ? await bytesOf(1000, approve) : "";
    add(`approvals, asked, answered, claimed and reported, ${count} workers`, rate, note);
  }
  printTable(["one database", "a second", "keeps of each"], rows);
  console.log();
  const begin = performance.now();
  const sorted = (await wakeTimes(url, { count: 100, threads: listeners, everyMs: 20 })).sort(
    (a, b) => a - b,
  );
  printTable(
    [`an append, read by one of ${listeners} listeners of another process, after`, "p50", "p99"],
    [["", ...[50, 98].map((index) => `${sorted[index].toFixed(1)} ms`)]],
  );
  console.log(`\n${((performance.now() - begin) / 1000).toFixed(0)} s for the listeners`);
} finally {
  await stop();
}
