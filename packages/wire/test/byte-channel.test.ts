import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { createByteChannel, lengthPrefixCodec, newlineCodec } from "../src/index.ts";
import { createManualClock, createMemoryPair } from "../src/testing/index.ts";

describe("what createByteChannel makes of a pipe", () => {
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
