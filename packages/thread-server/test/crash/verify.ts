import { type Event, EventSchema, type Grant, type Item, ThreadSchema } from "@harnesskit/protocol/threads";
import { expect } from "vitest";
import type { DiskImage } from "../../../../test-kit/model-disk.ts";
import { ofType } from "../support/raw-client.ts";
import { type Evidence, evidenceOf, Life, storeRoot } from "./life.ts";

const root = storeRoot.slice(1);

/** The events of a log as it lies on the disk, up to the first line that is none. */
const eventsOnDisk = (image: DiskImage, threadId: string): Event[] => {
  const lines = (image.get(`${root}/threads/${threadId}/events.jsonl`)?.toString("utf8") ?? "").split("\n");
  lines.pop();
  const events: Event[] = [];
  for (const line of lines) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      break;
    }
    if (!EventSchema.safeParse(value).success) break;
    // A number that does not rise is one that was written before.
    if ((value as Event).seq > (events.at(-1)?.seq ?? 0)) events.push(value as Event);
  }
  return events;
};

/** Events that are flushed before anybody is told of them. */
const isFlushed = (event: Event): boolean => {
  if (event.type === "item.delta") return false;
  if (event.type !== "item.started" && event.type !== "item.updated") return true;
  return isRunning(event.data.item);
};

/** What was told is in the log at its number; what was not flushed may be missing behind the last that was. */
const checkTold = (told: readonly Event[], log: readonly Event[], wholeLogSurvives: boolean): void => {
  const lastFlushed = Math.max(0, ...told.filter(isFlushed).map(({ seq }) => seq));
  const streamed = new Map<string, string>();
  for (const event of told) {
    const there = log[event.seq - 1];
    if (!there && !wholeLogSurvives && event.seq > lastFlushed) continue;
    if (event.type !== "item.delta") {
      expect(there, `event ${event.seq} as it was told`).toEqual(event);
      continue;
    }
    // Neighbouring deltas may be told as one: what counts is what was said up to here.
    const { itemId } = event.data;
    streamed.set(itemId, (streamed.get(itemId) ?? "") + event.data.delta);
    const written = ofType(log.slice(0, event.seq), "item.delta").filter(
      ({ data }) => data.itemId === itemId,
    );
    expect(written.map(({ data }) => data.delta).join(""), `what was streamed up to ${event.seq}`).toBe(
      streamed.get(itemId),
    );
  }
};

/** Each turn has one end, the last one at most excepted, and then it waits for a human. Returns the turn that waits. */
export const checkTurns = (log: readonly Event[]): string | undefined => {
  const started = ofType(log, "turn.started").map(({ data }) => data.turnId);
  expect(new Set(started).size, "turns with the same id").toBe(started.length);
  let open: string | undefined;
  for (const event of log) {
    if (event.type === "turn.started") {
      expect(open, `the turn before ${event.data.turnId} has no end`).toBeUndefined();
      open = event.data.turnId;
    } else if (event.type === "turn.completed" || event.type === "turn.error") {
      expect(event.data.turnId, "an end of a turn that is not running").toBe(open);
      open = undefined;
    }
  }
  const items = new Map<string, Event["type"]>();
  for (const event of log) {
    const { type, data } = event;
    if (
      type !== "item.started" &&
      type !== "item.updated" &&
      type !== "item.delta" &&
      type !== "item.completed"
    )
      continue;
    expect(items.get(data.itemId), `${type} of item ${data.itemId} at ${event.seq}`).toBe(
      type === "item.started" ? undefined : "item.started",
    );
    if (type === "item.updated") expect(isRunning(data.item), `the update at ${event.seq}`).toBe(true);
    if (type === "item.started" || type === "item.completed") items.set(data.itemId, type);
  }
  if (open === undefined) {
    expect(
      [...items.values()].filter((type) => type === "item.started"),
      "items without an end",
    ).toEqual([]);
  }
  return open;
};

const isRunning = ({ type, data }: Item): boolean => type === "tool_exec" && data?.status === "running";

/** The approvals of a log that were begun and not ended. */
const openApprovals = (log: readonly Event[]) => {
  const ended = new Set(ofType(log, "item.completed").map(({ data }) => data.itemId));
  return ofType(log, "item.started").flatMap(({ data: { item, itemId } }) =>
    item.type === "approval" && item.data && !ended.has(itemId) ? [item.data] : [],
  );
};

const commandOf = (input: unknown): string => String((input as { command?: unknown }).command);

/** Nothing of what a crash can leave in a thread's directory is there, and what is there can be read. */
const checkFiles = (image: DiskImage): void => {
  for (const [path, content] of image) {
    if (!path.startsWith(`${root}/threads/`)) continue;
    const [, , threadId = "", name, ...rest] = path.split("/");
    expect(threadId, "a thread's directory").toMatch(/^ses_/);
    if (name === undefined || (name === "artifacts" && rest.length <= 1)) continue;
    expect(["events.jsonl", "meta.json"], path).toContain(name);
    if (name === "events.jsonl") {
      const lines = (content?.toString("utf8") ?? "").split("\n");
      expect(lines.pop(), "what follows the last line").toBe("");
      expect(eventsOnDisk(image, threadId).length, "events of the log").toBe(lines.length);
    }
    if (name === "meta.json") {
      expect(ThreadSchema.parse(JSON.parse(content?.toString("utf8") ?? "")).threadId).toBe(threadId);
    }
  }
};

export interface Crash {
  /** What the disk kept. */
  readonly image: DiskImage;
  /** What had been seen by then. */
  readonly evidence: Evidence;
  /** True when all that was written is still there. */
  readonly wholeLogSurvives: boolean;
  /** Letters and digits: tells the ids of the next life from those of earlier ones. */
  readonly nextLife: string;
}

/** Starts the next server on what a crash left and proves that nothing that was answered or told is lost or done twice. */
export const verifyRestart = async (crash: Crash): Promise<Life> => {
  const { image, evidence, wholeLogSurvives } = crash;
  const life = new Life(crash.nextLife, { image });
  const { client } = life;
  const replied = (method: string) =>
    evidence.replies.filter((each) => each.method === method && each.reply?.result);
  const sent = (method: string) => evidence.replies.filter((each) => each.method === method);

  // A cancel names its thread: it is for the turn that was started last.
  const cancelled = new Set<string>();
  const latest = new Map<unknown, string>();
  for (const { method, params, reply } of evidence.replies) {
    if (method === "turn.start" && reply?.result) latest.set(params.threadId, reply.result.turnId);
    if (method === "turn.cancel" && reply?.result) cancelled.add(latest.get(params.threadId) ?? "");
  }
  const deletes = new Set(sent("thread.delete").map(({ params }) => params.threadId));
  const deleted = new Set(replied("thread.delete").map(({ params }) => params.threadId));
  const threads: string[] = (await client.call("thread.list")).result.threads.map(
    ({ threadId }: { threadId: string }) => threadId,
  );
  for (const { reply } of replied("thread.create")) {
    const { threadId } = reply?.result.thread ?? {};
    if (deleted.has(threadId)) expect(threads, "a deleted thread").not.toContain(threadId);
    else if (!deletes.has(threadId)) expect(threads, "a thread that was created").toContain(threadId);
  }
  for (const threadId of deleted) {
    expect(
      (await client.call("thread.get", { threadId })).error?.code,
      "thread.get of a deleted thread",
    ).toBe(-32001);
  }

  const grants = async (): Promise<Grant[]> => (await client.call("grant.list")).result.grants;
  const granted = await grants();
  for (const grant of granted) {
    expect(commandOf(grant.input), "what an always covers").toMatch(/^always/);
    expect(threads, "the thread of a grant").toContain(grant.threadId);
  }

  for (const threadId of threads) {
    const before = eventsOnDisk(image, threadId);
    expect(
      before.map(({ seq }) => seq),
      "the numbers on the disk",
    ).toEqual(before.map((_, index) => index + 1));
    checkTold(
      evidence.events.filter(({ data }) => data.threadId === threadId),
      before,
      wholeLogSurvives,
    );
    const log = await client.events(threadId);
    expect(log.slice(0, before.length), "the log goes on from what was there").toEqual(before);
    expect(
      log.map(({ seq }) => seq),
      "the numbers of the log",
    ).toEqual(log.map((_, index) => index + 1));
    expect(log[0]?.type, "the first event").toBe("thread.created");

    const waiting = checkTurns(log);
    const asked = ofType(before, "approval.requested");
    const ended = new Set(ofType(before, "item.completed").map(({ data }) => data.itemId));
    // A call that was closed, with its question still open, belongs to a turn that was being ended.
    for (const { data } of ofType(before, "item.started")) {
      if (data.item.type === "approval" && ended.has(data.item.data?.toolItemId ?? ""))
        ended.add(data.itemId);
    }
    const open = openApprovals(log);
    if (waiting !== undefined) expect(open.length, "questions of a turn that goes on").toBeGreaterThan(0);
    for (const { data } of asked) {
      const isOver =
        ended.has(data.itemId) ||
        ofType(before, "turn.completed").some((end) => end.data.turnId === data.turnId);
      if (isOver) continue;
      expect(waiting, `the turn that asked ${data.requestId}`).toBe(data.turnId);
      expect(cancelled, "turns whose cancel was answered").not.toContain(data.turnId);
    }

    // A tool that was started is in the log, with its end or without a known one, and is not started again.
    for (const command of evidence.runs) {
      const calls = ofType(log, "item.completed").flatMap(({ data: { item } }) =>
        item.type === "tool_exec" && item.data && commandOf(item.data.input) === command ? [item.data] : [],
      );
      const mine = ofType(log, "item.started").some(
        ({ data: { item } }) => item.type === "tool_exec" && commandOf(item.data?.input) === command,
      );
      if (!mine) continue;
      expect(calls.length, `ends of ${command}`).toBeGreaterThan(0);
      const endedBefore = ofType(before, "item.completed").some(
        ({ data: { item } }) => item.type === "tool_exec" && commandOf(item.data?.input) === command,
      );
      if (!endedBefore) expect(calls.at(-1)?.status, `the end of ${command}`).toBe("unknown");
    }
  }
  const everywhere = (await Promise.all(threads.map((threadId) => client.events(threadId)))).flat();
  if (deletes.size === 0) {
    for (const command of evidence.runs) {
      const started = ofType(everywhere, "item.started").some(
        ({ data: { item } }) => item.type === "tool_exec" && commandOf(item.data?.input) === command,
      );
      expect(started, `${command} ran, and the log does not know of it`).toBe(true);
    }
  }

  for (const { params, reply } of sent("approval.respond")) {
    const given = ofType(everywhere, "item.completed").find(
      ({ data: { item } }) => item.type === "approval" && item.data?.requestId === params.requestId,
    );
    if (deletes.size > 0 && !given) continue;
    if (reply?.result) {
      expect(given?.data.item.data, `the answer to ${params.requestId}`).toMatchObject({
        decision: params.decision,
      });
      if (params.decision === "always") {
        expect(
          granted.map(({ requestId }) => requestId),
          "the grants",
        ).toContain(params.requestId);
      }
    }
    const again = await client.call("approval.respond", params);
    if (reply?.result) expect(again.result, "an answer that is given again").toEqual({ ok: true });
    else if (again.error) expect(again.error.code).toBe(-32004);
  }

  // What waits goes on: another client answers, and the turn comes to its end.
  for (const threadId of threads) {
    const log = await client.events(threadId);
    const turnId = checkTurns(log);
    if (turnId === undefined) continue;
    const open = openApprovals(log);
    for (const { requestId, metadata } of open) {
      expect((await life.answer(requestId, commandOf(metadata.input))).result).toEqual({ ok: true });
    }
    const end = await life.drive(turnId, new Set(open.map(({ requestId }) => requestId)));
    expect(end.params.status, "the end of a turn that waited").toBe("completed");
  }

  for (const { params, reply } of replied("thread.create")) {
    if (!deleted.has(reply?.result.thread.threadId)) continue;
    const again = await client.call("thread.create", params);
    expect(again.error, "the request of a deleted thread").toMatchObject({
      code: -32001,
      data: { reason: "thread_deleted" },
    });
  }
  for (const { params, reply } of sent("thread.create")) {
    if (deletes.size > 0) break;
    const again = await client.call("thread.create", params);
    const threadId = again.result.thread.threadId;
    if (reply?.result)
      expect(threadId, "the thread of a repeated request").toBe(reply.result.thread.threadId);
  }
  if (deletes.size === 0 && sent("thread.create").length > 0) {
    const made: unknown[] = (await client.call("thread.list")).result.threads;
    expect(made.length, "threads after all were asked for again").toBe(
      new Set(sent("thread.create").map(({ params }) => params.clientRequestId)).size,
    );
  }
  for (const { params, reply } of sent("turn.start")) {
    const threadId = String(params.threadId);
    if (!threads.includes(threadId)) continue;
    const started = ofType(await client.events(threadId), "turn.started");
    const known = started.find(({ data }) => data.turn.clientRequestId === params.clientRequestId);
    if (reply?.result)
      expect(known?.data.turnId, "a turn whose start was answered").toBe(reply.result.turnId);
    const again = await client.call("turn.start", params);
    if (known) {
      expect(again.result, "a repeated start").toEqual({ turnId: known.data.turnId });
      const after = ofType(await client.events(threadId), "turn.started");
      expect(after.length, "turns after a repeated start").toBe(started.length);
    } else {
      expect((await life.drive(again.result.turnId)).params.status, "a turn that starts late").toBe(
        "completed",
      );
    }
  }

  const kept = await grants();
  for (const grant of granted) {
    const steps = [{ tool: grant.tool, command: commandOf(grant.input) }];
    const { result } = await life.start(grant.threadId, `${crash.nextLife} holds ${grant.grantId}`, steps);
    const asked = client.all("approval.requested").length;
    await life.client.turnEnd(result.turnId);
    expect(client.all("approval.requested").length, "questions about what is allowed always").toBe(asked);
    expect(kept.map(({ grantId }) => grantId)).toContain(grant.grantId);
  }
  for (const threadId of threads) {
    const { result } = await life.start(threadId, `${crash.nextLife} says hello`, [{ say: ["hello"] }]);
    expect((await life.drive(result.turnId)).params.status).toBe("completed");
    const log = await client.events(threadId);
    expect(checkTurns(log)).toBeUndefined();
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  }
  const now = evidenceOf(life, Number.POSITIVE_INFINITY);
  const allRuns = [...evidence.runs, ...now.runs].filter((command) => !command.startsWith("always"));
  expect(allRuns.length, `tools that ran twice: ${allRuns}`).toBe(new Set(allRuns).size);
  expect(
    allRuns.filter((command) => command.startsWith("reject")),
    "tools that were refused",
  ).toEqual([]);

  await life.server.close();
  checkFiles(life.fileSystem.disk.survivors("written"));
  return life;
};
