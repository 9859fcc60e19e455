import { ConnectionClosedError, type HarnessError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { MalformedMessageError } from "../src/index.ts";
import { collect, eventsOf, sampleThread } from "./sample-events.ts";
import { setUp } from "./scripted-server.ts";

const turn = eventsOf("ses_1", "turn_1");
const events = [
  { type: "thread.created", data: { threadId: "ses_1", thread: sampleThread("ses_1") } } as const,
  turn.started(),
  turn.delta("item_1", "a"),
  eventsOf("ses_2", "turn_2").started(),
  turn.completed(),
];

describe("the events of the connection", () => {
  it("come all, in order, to each reader, from its beginning until the close", async () => {
    const { client, server } = await setUp({ "thread.list": () => ({ threads: [] }) });
    const first = client.events();
    server.send(...events.slice(0, 2));
    await client.listThreads();
    const second = client.events();
    server.send(...events.slice(2));
    await client.listThreads();
    await client.close();
    expect(await collect(first)).toEqual(events);
    expect(await collect(second)).toEqual(events.slice(2));
    expect(await collect(client.events())).toEqual([]);
  });

  it("end when the loop is left", async () => {
    const { client, server } = await setUp({ "thread.list": () => ({ threads: [] }) });
    const stream = client.events();
    server.send(...events);
    // All of them have come with the answer behind them.
    await client.listThreads();
    for await (const { type } of stream) if (type === "turn.started") break;
    server.send(...events);
    await client.listThreads();
    expect(await collect(stream)).toEqual(events.slice(2));
  });

  it("end with the error when the connection is lost", async () => {
    const { client, server } = await setUp();
    const stream = client.events();
    server.send(turn.started());
    const reader = stream[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: turn.started() });
    server.wire.kill();
    await expect(reader.next()).rejects.toBeInstanceOf(ConnectionClosedError);
    await expect(collect(stream)).rejects.toMatchObject({ code: "connection_closed" });
    await expect(collect(client.events())).rejects.toMatchObject({ code: "connection_closed" });
  });

  it("are bounded for a reader that does not read", async () => {
    const errors: HarnessError[] = [];
    const { client, server } = await setUp(
      { "thread.list": () => ({ threads: [] }) },
      { limits: { maxBufferedEvents: 2, maxBufferedDeltaChars: 5 }, onError: (error) => errors.push(error) },
    );
    const stream = client.events();
    server.send(
      turn.delta("a", "123"),
      turn.delta("a", "456"),
      turn.started(),
      turn.started(),
      turn.started(),
    );
    await client.listThreads();
    expect([stream.droppedDeltas, stream.droppedItems]).toEqual([2, 1]);
    expect(errors).toMatchObject([{ code: "buffer_full", limitName: "maxBufferedEvents" }]);
    stream.close();
    expect(await collect(stream)).toEqual([turn.started(), turn.started()]);
  });
});

describe("what is no event", () => {
  it("is counted, and reported when it is malformed; the connection stays", async () => {
    const errors: HarnessError[] = [];
    const { client, server } = await setUp(
      { "thread.list": () => ({ threads: [] }) },
      {
        onError: (error) => {
          errors.push(error);
          // A log that fails, at once or later, must not harm the connection.
          if (errors.length === 1) throw error;
          return Promise.reject(error);
        },
      },
    );
    const handle = await client.startTurn({ threadId: "ses_1", input: "a" });
    server.notify("turn.paused", { threadId: "ses_1" });
    server.notify("constructor", {});
    server.notify("__proto__", []);
    server.notify("turn.started", undefined);
    server.notify("turn.started", [1]);
    server.notify("item.delta", {
      threadId: "ses_1",
      turnId: "turn_1",
      itemId: "i",
      type: "poem",
      delta: "x",
    });
    server.notify("turn.completed", { ...turn.completed().data, status: "running" });
    server.notify("turn.started", { ...turn.started().data, extra: { deep: [1] } });
    server.wire.writeRaw('{"jsonrpc":"2.0","id":999,"result":1}\n');
    server.send(turn.completed());
    expect(await collect(handle)).toEqual([turn.started(), turn.completed()]);
    expect(errors.map(({ code }) => code)).toEqual(Array(5).fill("invalid_message"));
    const malformed = errors.filter((error) => MalformedMessageError.isInstance(error));
    expect(malformed.map(({ method }) => method)).toEqual([
      "turn.started",
      "turn.started",
      "item.delta",
      "turn.completed",
    ]);
    expect(await client.listThreads()).toEqual({ threads: [] });
  });

  it("is refused when it is a request: this client serves nothing", async () => {
    const setup = await setUp({ "thread.list": () => ({ threads: [] }) });
    setup.server.wire.writeRaw('{"jsonrpc":"2.0","id":1,"method":"turn.start"}\n');
    expect(await setup.client.listThreads()).toEqual({ threads: [] });
    expect(setup.server.calls.map(({ method }) => method)).toEqual(["initialize", "thread.list"]);
  });
});
