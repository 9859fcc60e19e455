// What an audit entry costs in processor time: recorded, hashed and written, all threads counted.
// Usage: node bench/audit.mjs [--rounds 7] [--entries 200000]
import { hash } from "node:crypto";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openFileAuditSink, verifyAuditFile } from "@harnesskit/audit/node";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "7" }, entries: { type: "string", default: "200000" } },
});
const rounds = Number(values.rounds);
const count = Number(values.entries);
const perTick = 1000;

const requests = Array.from(
  { length: 1000 },
  (_, index) => `3f0b9d3e-6d7c-4a6c-9a3e-${String(index).padStart(12, "0")}`,
);

/** What a runtime records of a call that has ended. */
const entryOf = (index) => ({
  action: "tool.result",
  outcome: "ok",
  agent_id: "agent-files",
  tool_id: "agent-files/read",
  call_id: `call_${index}`,
  request_id: requests[index % requests.length],
  correlation_id: "ses_1",
  duration_ms: 3,
  details: { result_bytes: 512 },
});

/** Lines through one string a tick and one write of it. */
const linesTo = (lineOf) => async (path) => {
  const file = await open(path, "a", 0o600);
  let text = "";
  return {
    record(entry) {
      text += `${lineOf(entry)}\n`;
    },
    async tick() {
      const block = text;
      text = "";
      await file.write(block);
    },
    close: () => file.close(),
  };
};

const stringify = () => {
  let seq = 0;
  return (entry) => JSON.stringify({ seq: ++seq, time: Date.now(), ...entry });
};

const stringifyAndHash = () => {
  const lineOf = stringify();
  let last = "0".repeat(64);
  return (entry) => {
    const line = lineOf(entry);
    last = hash("sha256", last + line, "hex");
    return `${line.slice(0, -1)},"hash":"${last}"}`;
  };
};

const ours = async (path) => {
  const sink = await openFileAuditSink({
    path,
    limits: { maxFileBytes: 2 ** 40, maxQueuedBytes: 2 ** 28 },
  });
  for (let index = 0; index < 20; index++) sink.addSecret(`${"s".repeat(40)}${index}`);
  return {
    record: (entry) => sink.record(entry),
    tick: () => setImmediate(),
    async close() {
      await sink.close();
      const result = await verifyAuditFile(path, { expectedHead: sink.head });
      if (!result.ok || result.entries !== count + 2 || sink.dropped > 0)
        throw new RangeError("the log is wrong");
    },
    flush: () => sink.flush(),
  };
};

const contenders = [
  { name: "JSON.stringify, no hash", open: (path) => linesTo(stringify())(path) },
  { name: "JSON.stringify, SHA-256 of each entry", open: (path) => linesTo(stringifyAndHash())(path) },
  { name: "harnesskit", open: ours },
];

/** Microseconds of processor time per entry. */
const measure = async ({ open: openLog }) => {
  const directory = await mkdtemp(join(tmpdir(), "harness-bench-"));
  try {
    const log = await openLog(join(directory, "log"));
    const begin = process.cpuUsage();
    for (let index = 0; index < count; ) {
      for (const end = Math.min(count, index + perTick); index < end; index++) log.record(entryOf(index));
      await log.tick();
    }
    await log.flush?.();
    const { user, system } = process.cpuUsage(begin);
    await log.close();
    return (user + system) / count;
  } finally {
    await rm(directory, { recursive: true });
  }
};

const figures = await inRounds(contenders, rounds, measure);
console.log(`${count} entries, median of ${rounds} rounds, Node ${process.version}\n`);
printTable(
  ["", "µs an entry", "harnesskit costs"],
  contenders.map(({ name }) => [
    name,
    median(figures.get(name)).toFixed(2),
    `${ratio(figures, "harnesskit", name).toFixed(2)}×`,
  ]),
);
