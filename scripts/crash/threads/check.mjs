import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { must } from "../violation.mjs";

const count = (counts, key) => {
  if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
};

/** However often a request was sent, it began one thing. */
export const checkRequests = (logs) => {
  const [titles, starts, queued] = [new Map(), new Map(), new Map()];
  for (const { type, data } of [...logs.values()].flat()) {
    if (type === "thread.created") count(titles, data.thread.title);
    if (type === "turn.started") count(starts, data.turn.clientRequestId);
    if (type === "turn.queued") count(queued, data.queued.clientRequestId);
  }
  for (const [title, times] of titles) must(times === 1, `the thread ${title} was made ${times} times`);
  for (const [name, times] of starts) must(times === 1, `the turn of ${name} was begun ${times} times`);
  for (const [name, times] of queued) {
    const begun = starts.get(name) ?? 0;
    must(
      times === 1 && begun === 1,
      `the prompt of ${name} was queued ${times} times and begun ${begun} times`,
    );
  }
};

const mayHaveRun = ["succeeded", "failed", "cancelled", "unknown"];

/**
 * Each action, by the word that it writes, ran as often as the logs say: once where it succeeded, never twice, not at all where it was
 * refused. Returns how many `actions` ran, and of how many the end is `unknown`.
 */
export const checkActions = async (cwd, logs, words) => {
  const text = await readFile(join(cwd, "actions.txt"), "utf8").catch(() => "");
  const ran = new Map();
  for (const line of text.split("\n").filter(Boolean)) count(ran, line);
  const statuses = new Map(words.map((word) => [word, []]));
  for (const { type, data } of [...logs.values()].flat()) {
    const item = type === "item.completed" && data.item.type === "tool_exec" ? data.item.data : undefined;
    const word = /echo (w[0-9a-f]+) >>/.exec(String(item?.input.command ?? ""))?.[1];
    statuses.get(word)?.push(item.status);
  }
  const figures = { actions: 0, unknown: 0 };
  for (const [word, said] of statuses) {
    const times = ran.get(word) ?? 0;
    const least = said.includes("succeeded") ? 1 : 0;
    const most = said.some((status) => mayHaveRun.includes(status)) ? 1 : 0;
    const isRight = times >= least && times <= most;
    must(isRight, `the action ${word} ran ${times} times, and the log says ${said.join(", ") || "nothing"}`);
    figures.actions += times;
    if (said.includes("unknown")) figures.unknown += 1;
  }
  return figures;
};

/** No lock and no temporary file is left in a thread's way. A socket may lie there: the next server takes it over. */
export const checkFiles = async (cwd) => {
  const names = await readdir(join(cwd, ".harness"), { recursive: true });
  const left = names.filter((name) => /(^|\/)lock\.json$|\.stale$|^threads\/.*\.tmp_/.test(name));
  must(left.length === 0, `files are left over: ${left.join(", ")}`);
};
