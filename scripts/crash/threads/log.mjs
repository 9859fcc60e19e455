import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { must } from "../violation.mjs";

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

/**
 * The events are numbered from 1 without a gap, and one turn runs after the other, each with at most one end. Returns what the log says at
 * its end: the `open` turn, items without an end, unanswered `questions`, and the turns whose prompts wait (`queued`).
 */
export function checkShape(threadId, events) {
  let open;
  const turns = new Set();
  const items = new Map();
  const questions = new Map();
  const queued = new Set();
  for (const [index, { seq, type, data }] of events.entries()) {
    const place = `${threadId} seq ${seq}`;
    must(seq === index + 1, `${place}: should have the number ${index + 1}`);
    must(data.threadId === threadId, `${place}: belongs to ${data.threadId}`);
    const item = items.get(data.itemId);
    switch (type) {
      case "turn.queued":
        queued.add(data.turnId);
        break;
      case "turn.dequeued":
        queued.delete(data.turnId);
        break;
      case "turn.started":
        must(open === undefined, `${place}: a turn begins while ${open} is open`);
        must(!turns.has(data.turnId), `${place}: the turn ${data.turnId} begins twice`);
        turns.add(data.turnId);
        queued.delete(data.turnId);
        open = data.turnId;
        break;
      case "turn.completed":
      case "turn.error":
        must(open === data.turnId, `${place}: ${type} of ${data.turnId}, but ${open} is open`);
        open = undefined;
        questions.clear();
        break;
      case "approval.requested":
        questions.set(data.requestId, data);
        break;
      case "approval.resolved":
        questions.delete(data.requestId);
        break;
      case "item.started":
        must(item === undefined, `${place}: the item ${data.itemId} begins twice`);
        items.set(data.itemId, data.item.data?.status ?? "open");
        break;
      case "item.updated":
        must(item === "pending", `${place}: the item ${data.itemId} is updated and was ${item}`);
        items.set(data.itemId, data.item.data.status);
        break;
      case "item.completed":
        must(item !== "done", `${place}: the item ${data.itemId} is completed twice`);
        items.set(data.itemId, "done");
    }
  }
  const openItems = [...items].filter(([, state]) => state !== "done").map(([itemId]) => itemId);
  return { open, openItems, questions, queued };
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
