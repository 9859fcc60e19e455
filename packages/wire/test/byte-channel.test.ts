import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../scripts/lib/test-kit.ts";
import { createByteChannel, lengthPrefixCodec, newlineCodec } from "../src/index.ts";
import { createManualClock, createMemoryPair, createMemoryPipes } from "../src/testing/index.ts";
import { outcomeOf } from "./rpc/support.ts";

describe("what createByteChannel makes of a pipe", () => {
  it("reports what follows a handler that closed, nothing more", async () => {
    const { client, server } = createMemoryPair();
    const log: unknown[] = [];
    server.start({
      message: (message) => {
        log.push(message);
        void server.close();
      },
      error: () => log.push("error"),
      close: () => log.push("close"),
    });
    client.start({ message() {}, error() {}, close() {} });
    await Promise.all([1, 2, 3].map((message) => outcomeOf(client.send(message))));
    await server.closed;
    expect(log).toEqual([1, "close"]);
  });

  it("lets others have their turn while it is flooded, and loses nothing of the flood", async () => {
    const { client, server } = createMemoryPair();
    const handled: unknown[] = [];
    server.start({
      message(message) {
        handled.push(message);
        const untilMs = performance.now() + 1;
        while (performance.now() < untilMs);
      },
      error() {},
      close() {},
    });
    client.start({ message() {}, error() {}, close() {} });
    const flood = Array.from({ length: 80 }, (_, index) => index);
    for (const message of flood) void client.send(message);
    const seen: number[] = [];
    while (handled.length < flood.length) {
      await nextTurn();
      seen.push(handled.length);
    }
    const turns = seen.map((count, index) => count - (seen[index - 1] ?? 0));
    expect(Math.max(...turns)).toBeLessThan(flood.length / 2);
    expect(handled).toEqual(flood);
  });

  it("closes without waiting for its deadline while a handler holds the reader back", async () => {
    const clock = createManualClock();
    const { client, server } = createMemoryPair({ clock });
    server.start({ message: () => new Promise(() => {}), error() {}, close() {} });
    client.start({ message() {}, error() {}, close() {} });
    await client.send(1);
    await nextTurn();
    await server.close();
    await expect(server.closed).resolves.toEqual({});
    expect(clock.pending).toBe(0);
  });

  it("cuts the pipe when the other side does not close in time", async () => {
    const clock = createManualClock();
    const { client, server } = createMemoryPair({ clock, closeTimeoutMs: 50 });
    server.start({ message() {}, error() {}, end() {}, close() {} });
    client.start({ message() {}, error() {}, close() {} });
    const closing = client.close();
    await nextTurn();
    clock.advance(49);
    await nextTurn();
    expect(client.signal.aborted).toBe(false);
    clock.advance(1);
    await closing;
    await expect(server.closed).resolves.toMatchObject({ error: { code: "transport_failed" } });
  });

  it("delivers what came before a frame that breaks the framing, also to a busy handler", async () => {
    const { client, server, clientWire } = createMemoryPair({ codec: lengthPrefixCodec() });
    const log: unknown[] = [];
    let open = () => {};
    server.start({
      message: (message) => {
        log.push(message);
        if (message === 1) return new Promise<void>((resolve) => (open = resolve));
        return undefined;
      },
      error: ({ code }) => log.push(code),
      close: ({ error }) => log.push({ close: error?.code }),
    });
    client.start({ message() {}, error() {}, close() {} });
    clientWire.writeRaw(new Uint8Array([0, 0, 0, 1, 0x31, 0, 0, 0, 1, 0x32, 0xff, 0xff, 0xff, 0xff]));
    await nextTurn();
    expect(log).toEqual([1]);
    open();
    await server.closed;
    expect(log).toEqual([1, 2, "frame_too_large", { close: "frame_too_large" }]);
  });

  it("survives end and close handlers that throw", async () => {
    const { client, server, clientWire } = createMemoryPair();
    const log: unknown[] = [];
    server.start({
      message() {},
      error: (error) => log.push((error.cause as Error).message),
      end: () => {
        throw new TypeError("from end");
      },
      close: () => {
        log.push("close");
        throw new TypeError("from close");
      },
    });
    client.start({ message() {}, error() {}, close() {} });
    clientWire.end();
    await nextTurn();
    expect(log).toEqual(["from end"]);
    await server.close();
    expect(log).toEqual(["from end", "close"]);
  });

  it("lets later sends fail by themselves when the pipe cannot write, and still closes", async () => {
    let closed = () => {};
    const channel = createByteChannel(
      {
        start: (receiver) => {
          closed = () => receiver.closed();
        },
        pause() {},
        resume() {},
        write: (_data, done) => setImmediate(() => done(new TypeError("EPIPE"))),
        end: () => closed(),
        destroy: () => closed(),
      },
      { codec: newlineCodec(), context: undefined },
    );
    channel.start({ message() {}, error() {}, close() {} });
    const first = outcomeOf(channel.send(1));
    await Promise.resolve();
    const second = outcomeOf(channel.send(2));
    for (const outcome of [await first, await second]) {
      expect(outcome).toMatchObject({ error: { code: "transport_failed", cause: { message: "EPIPE" } } });
    }
    const third = outcomeOf(channel.send(3));
    await channel.close();
    await expect(third).resolves.toMatchObject({ error: { code: "transport_failed" } });
  });

  it("starts a pipe once, though it was closed before its start", async () => {
    const [pipe] = createMemoryPipes();
    let starts = 0;
    const channel = createByteChannel(
      {
        ...bound(pipe),
        start: (receiver) => {
          starts++;
          pipe.start(receiver);
        },
      },
      { codec: newlineCodec(), context: undefined, closeTimeoutMs: 5 },
    );
    void channel.close();
    const closes: unknown[] = [];
    channel.start({ message() {}, error() {}, close: (reason) => closes.push(reason) });
    await channel.closed;
    expect([starts, closes]).toEqual([1, [{}]]);
  });

  /** A channel whose pipe writes nothing until it is told to. */
  const heldChannel = (options: { readonly maxBufferedBytes?: number } = {}) => {
    const writes: { readonly bytes: number; readonly done: (error?: Error) => void }[] = [];
    let cut = () => {};
    let ends = 0;
    const channel = createByteChannel(
      {
        start: (receiver) => {
          cut = () => receiver.closed();
        },
        pause() {},
        resume() {},
        write: ({ length }, done) => void writes.push({ bytes: length, done }),
        end: () => {
          ends++;
          cut();
        },
        destroy() {},
      },
      { codec: newlineCodec(), context: {}, maxBufferedBytes: 1024 * 1024, ...options },
    );
    const sent = () => writes.map(({ bytes }) => bytes);
    return { channel, writes, sent, cut: () => cut(), ends: () => ends };
  };

  it("writes a tick's messages at once, and what comes to 8 KiB before the tick is over", async () => {
    const { channel, writes, sent } = heldChannel();
    const small = [channel.send("a"), channel.send("b")];
    expect(sent()).toEqual([]);
    await nextTurn();
    expect(sent()).toEqual([8]);
    writes[0]?.done();
    await expect(Promise.all(small)).resolves.toHaveLength(2);

    const large = Array.from({ length: 20 }, () => channel.send("x".repeat(1021)));
    expect(sent().slice(1)).toEqual([8 * 1024, 8 * 1024]);
    await nextTurn();
    expect(writes).toHaveLength(3);
    writes[1]?.done();
    expect(writes).toHaveLength(3);
    writes[2]?.done();
    expect(sent().slice(3)).toEqual([4 * 1024]);
    writes[3]?.done();
    await expect(Promise.all(large)).resolves.toHaveLength(20);
  });

  it("writes 16 small messages before the tick is over, up to 8 times while nothing is taken", async () => {
    const { channel, writes, sent } = heldChannel();
    const messages = Array.from({ length: 200 }, () => channel.send("x"));
    const pieces = Array.from({ length: 8 }, () => 16 * 4);
    expect(sent()).toEqual(pieces);
    await nextTurn();
    expect(sent()).toEqual(pieces);
    // In whatever order the pipe tells of them: what waits leaves behind all of them, in one piece.
    for (const { done } of [...writes].reverse()) {
      expect(sent()).toEqual(pieces);
      done();
    }
    expect(sent()).toEqual([...pieces, 72 * 4]);
    writes[8]?.done();
    await expect(Promise.all(messages)).resolves.toHaveLength(200);
  });

  it("rejects the piece that could not be written, and all that are under way once the pipe is gone", async () => {
    const { channel, writes, cut } = heldChannel();
    channel.start({ message() {}, error() {}, close() {} });
    const messages = Array.from({ length: 50 }, () => channel.send("x"));
    writes[1]?.done(new Error("refused"));
    await expect(messages[16]).rejects.toMatchObject({ name: "TransportError", code: "transport_failed" });
    cut();
    const lost = { name: "ConnectionClosedError", code: "connection_closed" };
    await expect(messages[15]).rejects.toMatchObject(lost);
    await expect(messages[32]).rejects.toMatchObject(lost);
    await expect(messages[49]).rejects.toMatchObject(lost);
    writes[0]?.done();
    expect(writes).toHaveLength(3);
  });

  it("ends the pipe once everything that was under way and waited is written", async () => {
    const { channel, writes, ends } = heldChannel();
    channel.start({ message() {}, error() {}, close() {} });
    const messages = Array.from({ length: 40 }, () => channel.send("x"));
    const closed = channel.close();
    await nextTurn();
    expect(writes).toHaveLength(2);
    writes[1]?.done();
    expect([writes.length, ends()]).toEqual([2, 0]);
    writes[0]?.done();
    expect([writes.length, ends()]).toEqual([3, 0]);
    writes[2]?.done();
    expect(ends()).toBe(1);
    await closed;
    await expect(Promise.all(messages)).resolves.toHaveLength(40);
  });

  it("counts every piece against its bound, and each only until it is written", async () => {
    const { channel, writes } = heldChannel({ maxBufferedBytes: 3 * 16 * 4 });
    const messages = Array.from({ length: 49 }, () => channel.send("x"));
    await expect(channel.send("x")).rejects.toMatchObject({ code: "buffer_full" });
    writes[0]?.done();
    messages.push(channel.send("x"));
    for (const { done } of writes.slice(1)) done();
    writes[3]?.done();
    await expect(Promise.all(messages)).resolves.toHaveLength(50);
  });
});

const bound = (pipe: ReturnType<typeof createMemoryPipes>[0]) => ({
  pause: () => pipe.pause(),
  resume: () => pipe.resume(),
  write: pipe.write.bind(pipe),
  end: () => pipe.end(),
  destroy: () => pipe.destroy(),
});
