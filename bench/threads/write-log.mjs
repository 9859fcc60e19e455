// Writes the log of a thread that no server has made, and prints its size in bytes.
// Usage: node write-log.mjs ROOT THREAD EVENTS TEXT_LENGTH
import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes a log of `count` finished one-line turns without a server: fast enough for a gigabyte. */
const longLog = function* (threadId, count, textLength) {
  const text = "x".repeat(textLength);
  let seq = 1;
  const time = 1_700_000_000_000;
  const thread = { threadId, title: "long", directory: "/", time: { created: time, updated: time } };
  const line = (type, data) => `${JSON.stringify({ seq: seq++, time, type, data })}\n`;
  yield line("thread.created", { threadId, thread });
  for (let index = 0; seq < count; index++) {
    const turnId = `turn_${index}`;
    const itemId = `item_${index}`;
    const turn = { turnId, threadId, status: "running", time: { started: time } };
    const item = { itemId, threadId, turnId, type: "assistant_message", data: { text } };
    const ids = { threadId, turnId };
    yield line("turn.started", { ...ids, turn }) +
      line("item.started", { ...ids, itemId, type: item.type, item: { ...item, data: { text: "" } } }) +
      line("item.completed", { ...ids, itemId, type: item.type, item }) +
      line("turn.completed", { ...ids, status: "completed", turn: { ...turn, status: "completed" } });
  }
};

const [root, threadId, count, textLength] = process.argv.slice(2);
const directory = join(root, "threads", threadId);
await mkdir(directory, { recursive: true, mode: 0o700 });
const time = { created: 1, updated: 1 };
await writeFile(join(directory, "meta.json"), JSON.stringify({ threadId, title: "", directory: "/", time }));
const file = await open(join(directory, "events.jsonl"), "w");
let block = "";
for (const lines of longLog(threadId, Number(count), Number(textLength))) {
  block += lines;
  if (block.length < 4 * 1024 * 1024) continue;
  await file.write(block);
  block = "";
}
await file.write(block);
const { size } = await file.stat();
await file.close();
process.stdout.write(String(size));
