// The thread server on its files, side by side with the bare file system.
// Usage: node bench/threads.mjs [--rounds 5] [--gigabytes 1]
import { execFile } from "node:child_process";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { median, printTable } from "./lib/rounds.mjs";
import { inTempDir, serve } from "./threads/setting.mjs";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, gigabytes: { type: "string", default: "1" } },
});
const rounds = Number(values.rounds);
const rows = [];

const timed = async (work) => {
  const begin = performance.now();
  const result = await work();
  return { ms: performance.now() - begin, result };
};

/** Writes a log for a thread that no server has made, in another process, so that what it takes is not measured here. */
const writeLog = async (root, threadId, count, textLength) => {
  const script = fileURLToPath(new URL("./threads/write-log.mjs", import.meta.url));
  const args = [script, root, threadId, String(count), String(textLength)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
};

/** Appending and telling, against a bare `write` of each of the same lines. */
const appendAndNotify = async () => {
  const items = 5000;
  const runner = {
    async run(turn) {
      const done = [];
      for (let index = 0; index < items; index++) {
        const message = turn.message();
        message.append("a delta of some forty characters or so.");
        done.push(message.complete());
        if (index % 64 === 63) await Promise.all(done.splice(0));
      }
      await Promise.all(done);
    },
  };
  const ratios = [];
  for (let round = 0; round < rounds; round++) {
    await inTempDir(async (root) => {
      const { server, heard, turn, create } = serve(root, runner, { flush: "never" });
      const threadId = await create();
      const ours = await timed(() => turn(threadId));
      await server.close();
      const lines = (await readFile(join(root, "threads", threadId, "events.jsonl"), "utf8")).split(
        /(?<=\n)/,
      );
      if (heard.count < lines.length) throw new RangeError(`heard ${heard.count} of ${lines.length}`);
      const file = await open(join(root, "bare"), "w");
      const bare = await timed(async () => {
        for (const line of lines) await file.write(line);
      });
      await file.close();
      ratios.push(bare.ms / ours.ms);
    });
  }
  rows.push([
    "append + notify, against a bare write of each line",
    `${median(ratios).toFixed(2)}×`,
    "≥ 0.50×",
  ]);
};

/** The start of a turn in a thread of 100,000 events, against one in an empty thread. */
const turnStart = async () => {
  const ratios = [];
  await inTempDir(async (root) => {
    await writeLog(root, "ses_long", 100_000, 100);
    const { server, peer, turn, create } = serve(root, { run: async () => {} });
    const empty = await create();
    const start = async (threadId) => {
      const input = [{ type: "text", text: "go" }];
      const { ms } = await timed(() => peer.request("turn.start", { threadId, input }));
      await peer.request("turn.cancel", { threadId }).catch(() => {});
      return ms;
    };
    for (const threadId of ["ses_long", empty]) await turn(threadId);
    for (let round = 0; round < rounds; round++) {
      const times = { long: [], empty: [] };
      for (let index = 0; index < 40; index++) {
        for (const [name, threadId] of [
          ["long", "ses_long"],
          ["empty", empty],
        ]) {
          const ms = await start(threadId).catch(() => undefined);
          if (ms !== undefined) times[name].push(ms);
          await new Promise((resolve) => setImmediate(resolve));
          await turn(threadId).catch(() => {});
        }
      }
      ratios.push(median(times.long) / median(times.empty));
    }
    await server.close();
  });
  rows.push([
    "turn start in a thread of 100,000 events, against an empty one",
    `${median(ratios).toFixed(2)}×`,
    "≤ 1.2×",
  ]);
};

/** A page from the end of a large log, against one of a small log. */
const pageOfLongLog = async () => {
  await inTempDir(async (root) => {
    const bytes = Number(values.gigabytes) * 1024 ** 3;
    const large = await writeLog(root, "ses_large", Math.round(bytes / 1400), 4600);
    await writeLog(root, "ses_small", 1000, 4600);
    const { server, peer } = serve(root, { run: async () => {} });
    const lastSeq = async (threadId) => (await peer.request("thread.get", { threadId, limit: 1 })).lastSeq;
    const page = async (threadId, afterSeq) => {
      const { ms, result } = await timed(() =>
        peer.request("thread.get", { threadId, afterSeq, limit: 100 }),
      );
      if (result.events.length !== 100) throw new RangeError(`${result.events.length} events`);
      return ms;
    };
    const ends = { ses_large: await lastSeq("ses_large"), ses_small: await lastSeq("ses_small") };
    const ratios = [];
    for (let round = 0; round < rounds * 5; round++) {
      const at = Math.floor((ends.ses_large - 200) * ((round * 0.37) % 1));
      ratios.push((await page("ses_large", at)) / (await page("ses_small", 500)));
    }
    const memory = Math.round(process.memoryUsage.rss() / 1024 ** 2);
    await server.close();
    const size = (large / 1024 ** 3).toFixed(2);
    rows.push([
      `a page of 100 events of ${size} GB, against one of a small log`,
      `${median(ratios).toFixed(2)}×`,
      "independent",
    ]);
    rows.push(["memory of the process then", `${memory} MB`, "≤ 150 MB"]);
  });
};

/** The list of 10,000 threads whose logs cannot be read at all: none of them is looked at. */
const listThreads = async () => {
  await inTempDir(async (root) => {
    for (let index = 0; index < 10_000; index++) {
      const threadId = `ses_${index}`;
      const directory = join(root, "threads", threadId);
      await mkdir(join(directory, "events.jsonl"), { recursive: true });
      const time = { created: index, updated: index };
      await writeFile(
        join(directory, "meta.json"),
        JSON.stringify({ threadId, title: "t", directory: "/", time }),
      );
    }
    const { server, peer } = serve(root, { run: async () => {} });
    const { ms, result } = await timed(() => peer.request("thread.list", {}));
    if (result.threads.length !== 10_000) throw new RangeError(`${result.threads.length} threads`);
    await server.close();
    rows.push([
      "thread.list of 10,000 threads, their logs unreadable",
      `${Math.round(ms)} ms`,
      "reads no log",
    ]);
  });
};

await pageOfLongLog();
await appendAndNotify();
await turnStart();
await listThreads();
console.log(`median of ${rounds} rounds, Node ${process.version}\n`);
printTable(["", "measured", "wanted"], rows);
