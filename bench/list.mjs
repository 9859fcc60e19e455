// A page of the threads of a thread server: of many threads, beside one of few.
// Usage: node bench/list.mjs [--rounds 7] [--threads 10000] [--few 100] [--limit 50]
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inRounds, inTempDir, latency, micros, optionsFrom, printTable, times } from "./lib/rounds.mjs";
import { serve } from "./lib/thread-server.mjs";

const {
  rounds,
  threads: many,
  few,
  limit,
} = optionsFrom({ rounds: 7, threads: 10_000, few: 100, limit: 50 });

/** Threads whose logs cannot be read at all: a list that looked at one would fail. */
const writeThreads = async (root, count) => {
  for (let index = 0; index < count; index++) {
    const threadId = `ses_${index}`;
    const directory = join(root, "threads", threadId);
    await mkdir(join(directory, "events.jsonl"), { recursive: true });
    const thread = { threadId, title: "t", directory: "/", time: { created: index, updated: index } };
    await writeFile(join(directory, "meta.json"), JSON.stringify(thread));
  }
};

await inTempDir(async (directory) => {
  const contenders = [];
  for (const count of [few, many]) {
    const root = join(directory, String(count));
    await writeThreads(root, count);
    const { server, peer } = serve(root, { run: async () => {} });
    const page = async () => {
      const { threads } = await peer.request("thread.list", { limit });
      if (threads.length !== limit) throw new RangeError(`a page of ${threads.length} threads`);
    };
    // The first page makes the index of a directory that has none.
    await page();
    contenders.push({ name: `${count} threads`, page, server });
  }
  const figures = await inRounds(contenders, rounds, ({ page }) => latency(page, { count: 100 }));
  const base = contenders[0].name;
  printTable(
    [`a page of ${limit} of`, "takes", `of one of ${base}`, "wanted"],
    contenders.map(({ name }) => [
      name,
      micros(figures, name),
      times(figures, name, base),
      name === base ? "" : "≤ 2×",
    ]),
    `median of ${rounds} rounds`,
  );
  for (const { server } of contenders) await server.close();
});
