import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { must } from "./violation.mjs";

/** The events of every log below `.harness`, by thread: what is on the disk, whoever runs. A torn last line is left out. */
export async function readLogs(cwd) {
  const root = join(cwd, ".harness", "threads");
  const logs = new Map();
  for (const name of (await readdir(root).catch(() => [])).sort()) {
    const text = await readFile(join(root, name, "events.jsonl"), "utf8").catch(() => "");
    const lines = text.split("\n").slice(0, -1);
    logs.set(
      name,
      lines.map((line) => JSON.parse(line)),
    );
  }
  return logs;
}

/** The events are numbered from 1 without a gap, and one turn runs after the other, each with at most one end. */
export function checkShape(threadId, events) {
  let open;
  const turns = new Set();
  const items = new Map();
  for (const [index, { seq, type, data }] of events.entries()) {
    const place = `${threadId} seq ${seq}`;
    must(seq === index + 1, `${place}: should have the number ${index + 1}`);
    must(data.threadId === threadId, `${place}: belongs to ${data.threadId}`);
    if (type === "turn.started") {
      must(open === undefined, `${place}: a turn begins while ${open} is open`);
      must(!turns.has(data.turnId), `${place}: the turn ${data.turnId} begins twice`);
      turns.add(data.turnId);
      open = data.turnId;
    }
    if (type === "turn.completed" || type === "turn.error") {
      must(open === data.turnId, `${place}: ${type} of ${data.turnId}, but ${open} is open`);
      open = undefined;
    }
    if (type === "item.started") {
      must(!items.has(data.itemId), `${place}: the item ${data.itemId} begins twice`);
      items.set(data.itemId, data.item.data?.status ?? "open");
    }
    if (type === "item.updated") {
      const before = items.get(data.itemId);
      must(before === "pending", `${place}: the item ${data.itemId} is updated and was ${before}`);
      items.set(data.itemId, data.item.data.status);
    }
    if (type === "item.completed") {
      must(items.get(data.itemId) !== "done", `${place}: the item ${data.itemId} is completed twice`);
      items.set(data.itemId, "done");
    }
  }
  return { open, openItems: [...items].filter(([, state]) => state !== "done").map(([itemId]) => itemId) };
}

/** Why a turn has not ended: the unanswered questions of the log. */
export function questionsIn(events) {
  const waiting = new Map();
  for (const { type, data } of events) {
    if (type === "approval.requested") waiting.set(data.requestId, data);
    if (type === "approval.resolved") waiting.delete(data.requestId);
    if (type === "turn.completed" || type === "turn.error") waiting.clear();
  }
  return [...waiting.values()];
}

/** The turns whose prompts wait at the end of the log. */
export function queuedIn(events) {
  const waiting = new Set();
  for (const { type, data } of events) {
    if (type === "turn.queued") waiting.add(data.turnId);
    if (type === "turn.started" || type === "turn.dequeued") waiting.delete(data.turnId);
  }
  return waiting;
}

/** All of `earlier` stands at the beginning of `later`, word for word. */
export function checkKept(threadId, earlier, later) {
  must(later !== undefined || earlier.length === 0, `${threadId}: its log is gone`);
  for (const [index, event] of earlier.entries()) {
    must(
      JSON.stringify(event) === JSON.stringify(later[index]),
      `${threadId} seq ${event.seq}: the log was changed: ${JSON.stringify(event)} became ${JSON.stringify(later[index])}`,
    );
  }
}
