import { once } from "node:events";
import type { Socket } from "node:net";
import { join } from "node:path";
import {
  type Channel,
  createDeferred,
  lengthPrefixCodec,
  newlineCodec,
  TransportError,
} from "@harnesskit/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { nextTurn, until } from "../../../scripts/lib/test-kit.ts";
import { createUnixListener, createUnixTransport } from "../src/index.ts";
import type { Framing, SocketListenerOptions } from "../src/socket-channel.ts";
import {
  ask,
  closing,
  connectWithSocket,
  echo,
  rawSocket,
  record,
  rejection,
  temporaryDirectory,
} from "./support.ts";

/** A listener in a directory of its own, whose first channel the test gets and whose others echo. */
const serve = async (options: SocketListenerOptions = {}) => {
  const directory = await temporaryDirectory();
  const path = join(directory.path, "s");
  const listener = createUnixListener({ path, ...options });
  const first = createDeferred<Channel<unknown>>();
  let count = 0;
  await listener.listen((channel) => (count++ === 0 ? first.resolve(channel) : echo(channel)));
  return {
    path,
    listener,
    first: first.promise,
    async [Symbol.asyncDispose]() {
      await listener.close();
      await directory[Symbol.asyncDispose]();
    },
  };
};

const frames = (framing: Framing, messages: readonly unknown[]): Uint8Array => {
  const encoder = (framing === "newline" ? newlineCodec() : lengthPrefixCodec()).createEncoder();
  for (const message of messages) encoder.add(message);
  const bytes = encoder.take();
  return typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
};

/** Writes and lets the other side read, so that the next write is a chunk of its own. */
const writeChunk = async (socket: Socket, chunk: Uint8Array): Promise<void> => {
  await new Promise<void>((resolve) => socket.write(chunk, () => resolve()));
  await nextTurn();
};

describe("clients", () => {
  it("are served 200 at once, and are gone afterwards", async () => {
    await using server = await serve();
    const transport = createUnixTransport({ path: server.path });
    record(await transport.connect());
    const first = await server.first;
    echo(first);
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => ask(transport, { index })));
    expect(answers).toEqual(Array.from({ length: 200 }, (_, index) => ({ index })));
    await until(() => server.listener.connections === 1);
    expect(server.listener.refusedConnections).toBe(0);
  });

  it.each(["length-prefix", "newline"] as const)("may cut their frames anywhere: %s", async (framing) => {
    await using server = await serve({ framing });
    const socket = await rawSocket(server.path);
    const log = record(await server.first);
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
    const messages = fc.array(fc.jsonValue(), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(messages, cuts, async (values, places) => {
        const before = log.messages.length;
        const bytes = frames(framing, values);
        const ends = places
          .map((place) => Math.floor(place * bytes.length))
          .sort((one, other) => one - other);
        let start = 0;
        for (const end of [...ends, bytes.length]) {
          if (end > start) await writeChunk(socket, bytes.subarray(start, end));
          start = end;
        }
        await log.untilMessages(before + values.length);
        expect(log.messages.slice(before)).toEqual(JSON.parse(JSON.stringify(values)));
      }),
      { numRuns: runs(40) },
    );
    expect(log.errors).toEqual([]);
    socket.destroy();
  });
});

describe("a client that never reads", () => {
  it("is refused more with buffer_full at the bound, and slows no other connection down", async () => {
    const maxBufferedBytes = 256 * 1024;
    await using server = await serve({ maxBufferedBytes, closeTimeoutMs: 50 });
    const socket = await rawSocket(server.path);
    const deaf = await server.first;
    record(deaf);
    const fill = "x".repeat(64 * 1024);
    const outcomes: Promise<unknown>[] = [];
    let accepted = 0;
    let refusal: unknown;
    while (refusal === undefined) {
      const sent = deaf.send(fill);
      accepted++;
      outcomes.push(sent.catch((error: unknown) => (refusal ??= error)));
      await nextTurn();
      expect(accepted).toBeLessThan(1000);
    }
    expect(refusal).toMatchObject({
      name: "BufferFullError",
      code: "buffer_full",
      limitName: "maxBufferedBytes",
      limit: maxBufferedBytes,
    });
    const transport = createUnixTransport({ path: server.path });
    const answers = await Promise.all([1, 2, 3].map((message) => ask(transport, message)));
    expect(answers).toEqual([1, 2, 3]);
    await deaf.close();
    await Promise.all(outcomes);
    socket.destroy();
  });
});

describe("the end of a connection", () => {
  it("may come one side first: what the server still says arrives", async () => {
    await using server = await serve();
    const { channel, socket } = await connectWithSocket(createUnixTransport({ path: server.path }));
    const log = record(channel, { onEnd: () => {} });
    const accepted = await server.first;
    const ended = createDeferred<void>();
    const serverLog = record(accepted, { onEnd: ended.resolve });
    await channel.send("question");
    socket.end();
    await ended.promise;
    expect(serverLog.messages).toEqual(["question"]);
    await accepted.send("one");
    await accepted.send({ fill: "x".repeat(1024 * 1024) });
    await accepted.close();
    await log.untilMessages(2);
    expect(log.messages[0]).toBe("one");
    await channel.close();
    expect(serverLog.closed).toEqual({});
    expect(log.closed).toEqual({});
  });

  it("may be a reset: transport_failed, and pending sends are settled", async () => {
    await using server = await serve();
    const { channel, socket } = await connectWithSocket(createUnixTransport({ path: server.path }));
    const accepted = await server.first;
    const log = record(accepted, { onEnd: () => {} });
    // What the client leaves unread makes its end a reset.
    const pending = Array.from({ length: 4 }, () =>
      rejection(accepted.send({ fill: "x".repeat(1024 * 1024) })),
    );
    await once(socket, "readable");
    socket.destroy();
    const { error } = await accepted.closed;
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: "transport_failed" });
    expect(error?.message).toMatch(
      /^the connection broke off: the other side is gone \((?:ECONNRESET|EPIPE)\)$/,
    );
    for (const rejected of await Promise.all(pending)) {
      expect(["transport_failed", "connection_closed"]).toContain(rejected.code);
    }
    expect(log.closed).toEqual({ error });
    expect(await rejection(accepted.send(1))).toMatchObject({ code: "connection_closed" });
    record(channel);
    expect((await channel.closed).error).toMatchObject({ code: "transport_failed" });
    expect(await ask(createUnixTransport({ path: server.path }), "next")).toBe("next");
  });

  it("does not wait for a client that never ends", async () => {
    await using server = await serve({ closeTimeoutMs: 20 });
    const socket = await rawSocket(server.path);
    const accepted = await server.first;
    const log = record(accepted);
    await server.listener.close();
    expect(log.closed).toEqual({});
    expect(server.listener.connections).toBe(0);
    socket.destroy();
  });

  it("comes when a length over the limit is announced, before anything of it is kept", async () => {
    await using server = await serve({ maxFrameBytes: 1024, closeTimeoutMs: 20 });
    const socket = await rawSocket(server.path);
    const accepted = await server.first;
    const log = record(accepted);
    await writeChunk(socket, new Uint8Array([0xff, 0xff, 0xff, 0xff]));
    const { error } = await accepted.closed;
    expect(error).toMatchObject({ code: "frame_too_large", maxFrameBytes: 1024 });
    expect(log.errors).toHaveLength(1);
    expect(await ask(createUnixTransport({ path: server.path }), "next")).toBe("next");
    socket.destroy();
  });
});

describe("a listener that was made in vain", () => {
  it("costs nothing to close", async () => {
    const listener = createUnixListener({ path: "/tmp/harnesskit-never-made/s" });
    await using _ = closing(listener);
    expect(listener.connections).toBe(0);
    expect(listener.refusedConnections).toBe(0);
  });
});
