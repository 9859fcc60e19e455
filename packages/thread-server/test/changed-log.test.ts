import { appendFile, readdir, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createDeferred } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import type { ThreadStore, TurnRunner } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { heldRunner } from "./support/held-runner.ts";
import { overriding } from "./support/overriding.ts";
import { RawClient } from "./support/raw-client.ts";
import { ownDirectory, serve } from "./support/serve.ts";
import { callingRunner, sayingRunner } from "./support/tools.ts";

const setUp = async (runner: TurnRunner) => {
  const root = await ownDirectory();
  const clock = createManualClock();
  const served = serve({ root, runner, clock });
  const threadId = await served.client.createThread();
  const directory = join(root, "threads", threadId);
  return { ...served, threadId, directory, log: join(directory, "events.jsonl"), clock };
};

const changed = {
  code: -32603,
  message: expect.stringContaining("changed from outside"),
  data: { reason: "store_failed", detail: "log_changed" },
};

/** What can be done to a log beneath its server. */
const changes: readonly [string, (log: string) => Promise<void>][] = [
  ["deleted", (log) => rm(log)],
  ["emptied", (log) => truncate(log, 0)],
  ["cut off", (log) => truncate(log, 40)],
  ["appended to", (log) => appendFile(log, '{"seq":9007199254740991}\n')],
  [
    "replaced by a copy",
    async (log) => {
      await writeFile(`${log}.bak`, await readFile(log));
      await rename(`${log}.bak`, log);
    },
  ],
  [
    "moved behind a link",
    async (log) => {
      await rename(log, `${log}.moved`);
      await symlink(`${log}.moved`, log);
    },
  ],
  ["gone with its directory", (log) => rm(join(log, ".."), { recursive: true })],
];

describe("a log that is changed beneath its server", () => {
  it.each(changes)(
    "lets no approved tool run when it was %s, and tells of no end that it has not",
    async (_how, change) => {
      const { client, threadId, log, tool } = await setUp(callingRunner({ tool: "bash", input: {} }));
      await client.startTurn(threadId);
      const { requestId } = (await client.notification("approval.requested")).params;
      await change(log);
      const { error } = await client.answer(requestId);
      expect(error).toMatchObject(changed);
      await client.closed;
      const ends = ["turn.error", "turn.completed", "approval.resolved"];
      expect(client.told.filter(({ type }) => ends.includes(type))).toEqual([]);
      expect(tool.runs).toEqual([]);
    },
  );

  it("is found though deltas were written on at the old place", async () => {
    const going = createDeferred<void>();
    const setup = await setUp({
      async run(turn) {
        const message = turn.message();
        message.append("before");
        await going.promise;
        message.append("after");
        while (!client.told.some(({ data }) => data.delta === "after")) await new Promise(setImmediate);
        await message.complete();
      },
    });
    const { client, threadId, log } = setup;
    await client.startTurn(threadId);
    await client.notification("item.delta");
    await truncate(log, 0);
    going.resolve();
    await client.closed;
    expect(client.all("turn.error")).toEqual([]);
  });

  it("is given back, and read anew by the next start", async () => {
    const { client, threadId, log, directory } = await setUp(sayingRunner("x"));
    const kept = await readFile(log);
    await client.runTurn(threadId);
    await writeFile(log, kept);
    expect((await client.startTurn(threadId)).error).toMatchObject(changed);
    await expect.poll(() => readdir(directory)).not.toContain("lock.json");
    expect((await client.runTurn(threadId)).params.status).toBe("completed");
    const events = await client.events(threadId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(1);
  });

  it("is told to a reader who finds fewer events than there were", async () => {
    const { client, threadId, log } = await setUp(sayingRunner("x"));
    await client.runTurn(threadId);
    const { lastSeq } = (await client.call("thread.subscribe", { threadId })).result;
    const [first = ""] = (await readFile(log, "utf8")).split(/(?<=\n)/);
    await writeFile(log, first);
    // As far as it goes it can be read, and not further.
    const page = await client.call("thread.get", { threadId, limit: 1 });
    expect(page.result).toMatchObject({ events: [{ seq: 1 }], lastSeq });
    expect((await client.call("thread.get", { threadId })).error).toMatchObject(changed);
    expect((await client.call("thread.get", { threadId })).result).toMatchObject({ lastSeq: 1 });
  });

  it("ends the connection of a client that is to be told more than it holds", async () => {
    const { server, threadId, log, errors } = await setUp(sayingRunner("x"));
    await truncate(log, 0);
    const late = RawClient.connect(server);
    await late.call("thread.subscribe", { threadId, afterSeq: 0 });
    await late.closed;
    expect(errors).toMatchObject([{ name: "ThreadStoreError", code: "store_failed", detail: "log_changed" }]);
  });
});

describe("a subscription that names the time of the event heard last", () => {
  it("goes on behind that event", async () => {
    const { client, server, threadId, clock } = await setUp(sayingRunner("x"));
    await clock.advance(5);
    const { result } = await client.startTurn(threadId);
    await client.turnEnd(result.turnId);
    const events = await client.events(threadId);
    const [, heard, ...rest] = events;
    const next = RawClient.connect(server);
    const place = { threadId, afterSeq: heard?.seq, afterTime: heard?.time };
    expect((await next.call("thread.subscribe", place)).result).toMatchObject({
      lastSeq: events.length,
      lastTime: events.at(-1)?.time,
    });
    await next.turnEnd(result.turnId);
    expect(next.told.at(-1)?.data).toEqual(rest.at(-1)?.data);
  });

  it("loses nothing of what comes while the log is read for that event", async () => {
    const held = heldRunner();
    const store = createMemoryThreadStore();
    const [reading, read] = [createDeferred<void>(), createDeferred<void>()];
    let isHeld = false;
    const events: ThreadStore["events"] = async function* (...given) {
      if (isHeld) {
        reading.resolve();
        await read.promise;
      }
      yield* store.events(...given);
    };
    const { client, server } = serve({ runner: held.runner, store: overriding(store, { events }) });
    const threadId = await client.createThread();
    const { result } = await client.startTurn(threadId);
    const { params } = await client.notification("turn.started");
    const next = RawClient.connect(server);
    await next.call("thread.unsubscribe", { threadId });
    isHeld = true;
    const place = { threadId, afterSeq: params.seq, afterTime: params.time };
    const subscribed = next.call("thread.subscribe", place);
    await reading.promise;
    held.finish(result.turnId);
    const { params: end } = await client.turnEnd(result.turnId);
    read.resolve();
    expect((await subscribed).result).toMatchObject({ lastSeq: end.seq, lastTime: end.time });
    await next.turnEnd(result.turnId);
    const seqs = next.received.flatMap((message) => message.params?.seq ?? []);
    expect(seqs).toEqual(Array.from({ length: end.seq - params.seq }, (_, at) => params.seq + 1 + at));
  });

  it.each([
    ["is another one", { afterSeq: 2, afterTime: 4 }],
    ["is not there", { afterSeq: 99, afterTime: 5 }],
  ])("is refused when that event %s", async (_how, place) => {
    const { client, threadId, clock } = await setUp(sayingRunner("x"));
    await clock.advance(5);
    await client.runTurn(threadId);
    const { error } = await client.call("thread.subscribe", { threadId, ...place });
    expect(error).toMatchObject({ code: -32602, data: { reason: "log_went_back" } });
  });
});
