import { describe, expect, it } from "vitest";
import { collect, failureOf, sampleThread } from "./sample-events.ts";
import { capabilities, type Handler, setUp } from "./scripted-server.ts";

const threadId = "ses_1";
const thread = sampleThread(threadId);

/** A server with a thread whose last event came after this version. */
const newerServer = (handlers: Record<string, Handler> = {}) =>
  setUp({
    initialize: () => ({
      version: "1.0.0",
      capabilities: { ...capabilities, extensions: { subscribe: true } },
    }),
    "thread.unsubscribe": () => ({ ok: true }),
    "thread.subscribe": () => ({ thread, lastSeq: 2 }),
    "thread.get": () => ({
      thread,
      events: [
        { seq: 1, time: 1, type: "thread.created", data: { threadId, thread } },
        { seq: 2, time: 2, type: "thread.invented", data: { threadId } },
      ],
    }),
    ...handlers,
  });

describe("caughtUp", () => {
  it("settles once the past is told, also where its last event is unknown", async () => {
    const setup = await newerServer();
    const subscription = await setup.client.subscribe(threadId, { afterSeq: 0 });
    const told: unknown[] = [];
    const reading = (async () => {
      for await (const { type } of subscription) told.push(type);
    })();
    expect(await subscription.caughtUp).toBe(true);
    expect(told).toEqual(["thread.created"]);
    subscription.close();
    await reading;
  });

  it("settles with false when the connection is lost while the past is read", async () => {
    const setup = await newerServer({ "thread.get": (_params, _call, server) => server.close() });
    const subscription = await setup.client.subscribe(threadId, { afterSeq: 0 });
    const reading = collect(subscription);
    expect(await subscription.caughtUp).toBe(false);
    expect(await failureOf(reading)).toMatchObject({ code: "connection_closed" });
  });

  it("follows each event once, also where a server says its first page again", async () => {
    const page = { seq: 1, time: 1, type: "thread.created", data: { threadId, thread } };
    const setup = await newerServer({ "thread.get": () => ({ thread, events: [page] }) });
    const subscription = await setup.client.subscribe(threadId, { afterSeq: 0 });
    const told: unknown[] = [];
    const reading = (async () => {
      for await (const { seq } of subscription) told.push(seq);
    })();
    expect(await subscription.caughtUp).toBe(true);
    expect(told).toEqual([1]);
    subscription.close();
    await reading;
  });
});
