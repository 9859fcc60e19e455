import { createDeferred, invalidParams } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { nextTurn, until } from "../../../test-kit/test-kit.ts";
import {
  createThreadServer,
  type ThreadServerOptions,
  type ThreadStore,
  ThreadStoreError,
} from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { fillableStore, heldUpdates, leftOf } from "./support/failing-stores.ts";
import { heldRunner } from "./support/held-runner.ts";
import { overriding } from "./support/overriding.ts";
import { RawClient } from "./support/raw-client.ts";
import { callingRunner, recordingTool } from "./support/tools.ts";

const serve = (options: Partial<ThreadServerOptions> = {}) => {
  const held = heldRunner();
  const errors: unknown[] = [];
  const server = createThreadServer({
    runner: held.runner,
    onError: (error) => errors.push(error),
    ...options,
  });
  return { ...held, errors, server, client: RawClient.connect(server) };
};

/** A thread with an active turn. */
const setUp = async (options: Partial<ThreadServerOptions> = {}) => {
  const store = options.store ?? createMemoryThreadStore();
  const served = serve({ ...options, store });
  const threadId = await served.client.createThread();
  const first: string = (await served.client.startTurn(threadId, "first")).result.turnId;
  const queue = async (text: string, more: object = {}) =>
    (await served.client.startTurn(threadId, text, { whenBusy: "queue", ...more })).result;
  const listed = async () => (await served.client.call("queue.list", { threadId })).result.queued;
  return { ...served, store, threadId, first, queue, listed };
};

describe("turn.start while a turn is active", () => {
  it("queues for every client where the server says so", async () => {
    const { client, threadId, first, finish } = await setUp({ whenBusy: "queue" });
    const { result } = await client.startTurn(threadId, "second");
    expect(result.queued).toEqual({ position: 1 });
    expect((await client.startTurn(threadId, "x", { whenBusy: "reject" })).error?.code).toBe(-32002);
    finish(first);
    await client.notification("turn.started", ({ turnId }) => turnId === result.turnId);
  });

  it("takes the next prompt as soon as a turn has ended, however slow the store of the thread is", async () => {
    const { store, hold, release } = heldUpdates();
    const { client, finish, isRunning } = serve({ store });
    const threadId = await client.createThread();
    hold();
    const { result } = await client.startTurn(threadId, "first");
    await until(() => isRunning(result.turnId));
    finish(result.turnId);
    await client.turnEnd(result.turnId);
    expect((await client.startTurn(threadId, "second")).error).toBeUndefined();
    release();
  });

  it("answers for a prompt that begins at once when its start is stored, and not before", async () => {
    const inner = createMemoryThreadStore();
    const [accepted, asked, stored] = [
      createDeferred<void>(),
      createDeferred<void>(),
      createDeferred<void>(),
    ];
    let [starts, hasEnded] = [0, false];
    const store = overriding(inner, {
      append: async (threadId, events, options) => {
        if (events.some(({ type }) => type === "turn.started") && ++starts === 2) {
          asked.resolve();
          await stored.promise;
        }
        await inner.append(threadId, events, options);
        if (events.some(({ type }) => type === "turn.completed")) hasEnded = true;
      },
    });
    const { runner, finish, isRunning } = heldRunner();
    const accept = async ({ input: [part] }: { input: readonly { text?: string }[] }) => {
      if (part?.text === "second") await accepted.promise;
    };
    const { client, threadId, first } = await setUp({
      store,
      runner: { ...runner, accept: accept as never },
    });
    await until(() => isRunning(first));
    const second = client.startTurn(threadId, "second", { whenBusy: "queue" });
    await nextTurn(5);
    finish(first);
    await until(() => hasEnded);
    accepted.resolve();
    await asked.promise;
    await nextTurn(20);
    const answers = () => client.received.filter(({ id }) => id !== undefined).length;
    const before = answers();
    stored.resolve();
    expect((await second).result).toEqual({ turnId: expect.any(String) });
    expect(answers()).toBe(before + 1);
  });

  it.each(["reject", "queue", "interrupt"])(
    "runs a request once whose copies wait for the same thread to be opened (%s)",
    async (whenBusy) => {
      const inner = createMemoryThreadStore();
      const first = serve({ store: inner });
      const threadId = await first.client.createThread();
      await first.server.close();
      const store = overriding(inner, {
        lastEvents: async (...args) => {
          await nextTurn(20);
          return inner.lastEvents(...args);
        },
      });
      const { server, client, runs, isRunning } = serve({ store });
      const more = { clientRequestId: "r1", whenBusy };
      const answers = await Promise.all(
        [client, RawClient.connect(server)].map((each) => each.startTurn(threadId, "pay", more)),
      );
      const [turnId] = answers.map(({ result }) => result?.turnId);
      expect(answers.map(({ result }) => result)).toEqual([{ turnId }, { turnId }]);
      await until(() => isRunning(turnId));
      expect((await client.call("queue.list", { threadId })).result).toEqual({ queued: [] });
      expect(runs).toEqual(["pay"]);
    },
  );

  it("interrupts a turn that waits for an approval: the question is resolved, and nothing of it runs", async () => {
    const tool = recordingTool("bash", "execute");
    const runner = callingRunner({ tool: "bash", input: { command: "ls" } });
    const { client, threadId, first, queue } = await setUp({ runner, tools: [tool] });
    const { params } = await client.notification("approval.requested");
    const { turnId } = await queue("urgent", { whenBusy: "interrupt" });
    expect((await client.turnEnd(first)).params.status).toBe("cancelled");
    expect((await client.notification("approval.resolved")).params.requestId).toBe(params.requestId);
    const answer = await client.answer(params.requestId);
    expect(answer.error?.code).toBe(-32004);
    expect(tool.runs).toEqual([]);
    const next = await client.notification("approval.requested", (asked) => asked.turnId === turnId);
    await client.answer(next.params.requestId);
    await client.turnEnd(turnId);
    expect(tool.runs).toHaveLength(1);
    expect((await client.call("thread.get", { threadId })).result.thread.queued).toBeUndefined();
  });
});

describe("a queued prompt", () => {
  it("has its place once, however often the request is sent", async () => {
    const { server, store, threadId, client, first, queue, listed, finish } = await setUp();
    const more = { clientRequestId: "r1" };
    const answers = await Promise.all([1, 2, 3].map(() => queue("second", more)));
    const other = RawClient.connect(server);
    answers.push((await other.startTurn(threadId, "second", { whenBusy: "queue", ...more })).result);
    for (const answer of answers)
      expect(answer).toEqual({ turnId: answers[0].turnId, queued: { position: 1 } });
    expect(await listed()).toHaveLength(1);
    const conflict = await client.startTurn(threadId, "other", { whenBusy: "queue", ...more });
    expect(conflict.error?.code).toBe(-32005);
    finish(first);
    await client.notification("turn.started", ({ turnId }) => turnId === answers[0].turnId);
    expect(await queue("second", more)).toEqual({ turnId: answers[0].turnId });
    await server.close();
    const later = serve({ store });
    const again = await later.client.startTurn(threadId, "second", { whenBusy: "queue", ...more });
    expect(again.result).toEqual({ turnId: answers[0].turnId });
  });

  it("is refused with queue_full beyond the limit, also when many come at once", async () => {
    const { server, client, threadId, listed } = await setUp({
      limits: { maxQueuedTurns: 3 },
    });
    const clients = [client, ...[1, 2, 3, 4, 5].map(() => RawClient.connect(server))];
    const answers = await Promise.all(
      clients.map((each) => each.startTurn(threadId, "x", { whenBusy: "queue" })),
    );
    const refused = answers.filter(({ error }) => error);
    expect(refused).toHaveLength(3);
    for (const { error } of refused)
      expect(error).toMatchObject({ code: -32002, data: { reason: "queue_full", maxQueuedTurns: 3 } });
    expect(await listed()).toHaveLength(3);
    const [{ turnId }] = await listed();
    await client.call("turn.cancel", { threadId, turnId });
    expect((await client.startTurn(threadId, "z", { whenBusy: "queue" })).error).toBeUndefined();
    const urgent = await client.startTurn(threadId, "y", { whenBusy: "interrupt" });
    expect(urgent.error).toMatchObject({ code: -32002, data: { reason: "queue_full", maxQueuedTurns: 3 } });
    expect(client.all("turn.completed")).toEqual([]);
  });

  it("is refused at once where the runner does not accept it, and ends with turn.error where it does so later", async () => {
    let isAccepting = true;
    const { runner, ...held } = heldRunner();
    const accept = () => {
      if (!isAccepting) throw invalidParams("Unknown model");
    };
    const { client, threadId, first, queue } = await setUp({ runner: { ...runner, accept } });
    const { turnId } = await queue("second");
    isAccepting = false;
    expect((await client.startTurn(threadId, "third", { whenBusy: "queue" })).error?.code).toBe(-32602);
    held.finish(first);
    const end = await client.turnEnd(turnId);
    expect(end).toMatchObject({ method: "turn.error", params: { code: "queue.refused" } });
    expect(end.params.error).toContain("Unknown model");
  });

  it("is refused with -32006 where its thread is archived while it is accepted", async () => {
    const accepted = createDeferred<void>();
    const { runner, ...held } = heldRunner();
    const accept = ({ input: [part] }: { input: readonly unknown[] }) =>
      (part as { text: string }).text === "second" ? accepted.promise : undefined;
    const { server, client, threadId, first } = await setUp({ runner: { ...runner, accept } });
    const second = client.startTurn(threadId, "second", { whenBusy: "queue" });
    const other = RawClient.connect(server);
    held.finish(first);
    await other.turnEnd(first);
    const archived = other.call("thread.archive", { threadId });
    await nextTurn(20);
    accepted.resolve();
    expect((await archived).result.thread.time.archived).toBeGreaterThan(0);
    expect((await second).error?.code).toBe(-32006);
    expect(held.runs).toEqual(["first"]);
  });

  it("keeps its thread from being archived or deleted", async () => {
    const { client, threadId, queue } = await setUp();
    await queue("second");
    for (const method of ["thread.archive", "thread.delete"]) {
      const { error } = await client.call(method, { threadId });
      expect(error).toMatchObject({ code: -32002, data: { reason: "turn_active" } });
    }
  });
});

describe("what waits when a server ends", () => {
  it("waits for the next use of its thread with resumeQueues: use", async () => {
    const { store, server, threadId, queue } = await setUp();
    const { turnId } = await queue("second");
    await server.close();
    const { client, runs, isRunning } = serve({ store, resumeQueues: "use" });
    await client.call("thread.list");
    expect(runs).toEqual([]);
    await client.call("thread.get", { threadId });
    await until(() => isRunning(turnId));
  });

  it("goes on once the lease of the server that ended is over", async () => {
    const { store, queue } = await setUp();
    const { turnId } = await queue("second");
    const copy = await leftOf(store);
    let isHeld = true;
    const locked = overriding(copy, {
      lease: async (threadId) => {
        if (isHeld) throw new ThreadStoreError("thread_locked", "held");
        return copy.lease(threadId);
      },
    });
    const { server, runs, isRunning } = serve({ store: locked, limits: { takeOverAfterMs: 1 } });
    await server.resume();
    expect(runs).toEqual([]);
    isHeld = false;
    await until(() => isRunning(turnId));
    const never = serve({ store: overriding(await leftOf(store), { lease: locked.lease }) });
    isHeld = true;
    await never.server.resume();
    await never.server.close();
    expect(never.errors).toEqual([]);
  });

  it("reports a damaged thread once, however often one that another server holds is tried", async () => {
    const { store, queue, client } = await setUp();
    await queue("second");
    const damaged = await client.createThread();
    await client.startTurn(damaged, "first");
    await client.startTurn(damaged, "second", { whenBusy: "queue" });
    const copy = await leftOf(store);
    let tries = 0;
    const locked = overriding(copy, {
      lease: async (threadId) => {
        if (threadId === damaged) throw new ThreadStoreError("log_damaged", "damaged");
        tries++;
        throw new ThreadStoreError("thread_locked", "held");
      },
    });
    const { errors } = serve({ store: locked, limits: { takeOverAfterMs: 1 } });
    await until(() => tries > 3);
    expect(errors).toMatchObject([{ code: "log_damaged" }]);
  });

  it("is known beside the log until its start is stored", async () => {
    const inner = createMemoryThreadStore();
    let isHeld = false;
    let updates = 0;
    const store = overriding(inner, {
      append: async (id, events, options) => {
        if (isHeld && events.some(({ type }) => type === "turn.started")) await new Promise(() => {});
        await inner.append(id, events, options);
      },
      update: async (thread) => {
        await inner.update(thread);
        updates++;
      },
    });
    const { client, threadId, first, queue, finish } = await setUp({ store });
    const { turnId } = await queue("second");
    isHeld = true;
    const before = updates;
    finish(first);
    await client.turnEnd(first);
    await until(() => updates > before);
    expect((await inner.get(threadId))?.queued).toBe(1);
    const later = serve({ store: await leftOf(inner) });
    await until(() => later.isRunning(turnId));
  });

  it("an interruption whose server ended in between is completed", async () => {
    const tool = recordingTool("bash", "execute");
    const runner = callingRunner({ tool: "bash", input: { command: "ls" } });
    const inner = createMemoryThreadStore();
    const { client, threadId, first } = await setUp({ store: inner, runner, tools: [tool] });
    await client.notification("approval.requested");
    const copies: ThreadStore[] = [];
    const append = inner.append.bind(inner);
    inner.append = async (id, events, options) => {
      await append(id, events, options);
      if (events.some(({ type }) => type === "turn.queued")) copies.push(await leftOf(inner));
    };
    const { result } = await client.startTurn(threadId, "urgent", { whenBusy: "interrupt" });
    const later = serve({ store: copies[0] as ThreadStore, tools: [tool] });
    expect((await later.client.turnEnd(first)).params).toMatchObject({ status: "cancelled" });
    await until(() => later.isRunning(result.turnId));
    expect(tool.runs).toEqual([]);
  });

  it("stays while its start cannot be stored, and begins with the next use of the thread", async () => {
    const { store, disk } = fillableStore(true);
    const { client, threadId, first, queue, listed, finish, isRunning, errors } = await setUp({ store });
    const { turnId } = await queue("second");
    disk.full = true;
    finish(first);
    await until(() => errors.length > 0);
    expect(errors).toMatchObject([{ code: "store_full" }]);
    expect(await listed()).toMatchObject([{ turnId }]);
    const busy = await client.startTurn(threadId, "third");
    expect(busy.error).toMatchObject({ code: -32002, data: { reason: "queue_not_empty" } });
    disk.full = false;
    expect((await client.startTurn(threadId, "third", { whenBusy: "queue" })).error).toBeUndefined();
    await until(() => isRunning(turnId));
  });

  it("is reported as archived where the thread is archived while nothing could begin", async () => {
    const { store, disk } = fillableStore(true);
    const { client, threadId, first, queue, errors, finish } = await setUp({ store });
    const { turnId } = await queue("second");
    disk.full = true;
    finish(first);
    await until(() => errors.length > 0);
    expect((await client.call("thread.archive", { threadId })).result.thread).not.toHaveProperty("queued");
    expect((await client.notification("turn.dequeued")).params).toMatchObject({ turnId, reason: "archived" });
  });
});

describe("a client whose input ends", () => {
  it("is served to the end while the store of the thread is slow", async () => {
    const { store, hold, release } = heldUpdates();
    const { client, first, queue, finish, isRunning } = await setUp({ store });
    const second = await queue("second");
    const third = await queue("third");
    client.wire.end();
    finish(first);
    hold();
    await until(() => isRunning(second.turnId));
    finish(second.turnId);
    await until(() => isRunning(third.turnId));
    finish(third.turnId);
    release();
    await client.closed;
    expect(client.all("turn.completed")).toHaveLength(3);
  });

  it("is let go once its turn waits for an approval, also where another prompt waits behind it", async () => {
    const begins = createDeferred<void>();
    const tool = recordingTool("bash", "execute");
    const asking = callingRunner({ tool: "bash", input: { command: "ls" } });
    const runner: ThreadServerOptions["runner"] = {
      run: async (turn) => {
        await begins.promise;
        await asking.run(turn);
      },
    };
    const { client, queue } = await setUp({ runner, tools: [tool] });
    await queue("second");
    client.wire.end();
    await nextTurn(20);
    begins.resolve();
    await client.closed;
    expect(client.all("approval.requested")).toHaveLength(1);
  });
});
