import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Channel, createDeferred, RequestCancelledError, TransportError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { linkedModule, record, rejection, temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createUnixListener, createUnixTransport } from "../src/index.ts";
import { ask, connectWithSocket, echo, leaveStaleSocket, plainServer, rawSocket } from "./support.ts";

describe("a socket that cannot be reached", () => {
  it("is named, with what to do", async () => {
    await using directory = await temporaryDirectory();
    const missing = join(directory.path, "missing");
    const file = join(directory.path, "file");
    const stale = join(directory.path, "stale");
    await writeFile(file, "");
    await leaveStaleSocket(stale);
    const sentences = {
      [missing]: `the socket ${missing} does not exist: start its server or pass the path where it listens`,
      [file]: `the socket ${file} is a file of another kind: pass the path where the server listens`,
      [stale]: `the socket ${stale} is left over from a server that is gone: start the server again`,
      [join(file, "s")]: `the socket ${join(file, "s")} cannot be reached (ENOTDIR)`,
    };
    for (const [path, sentence] of Object.entries(sentences)) {
      const error = await rejection(createUnixTransport({ path }).connect());
      expect(error).toBeInstanceOf(TransportError);
      expect(error).toMatchObject({ code: "transport_failed", message: sentence });
      expect(error.cause).toHaveProperty("code");
    }
  });

  it("leaves the modules that are loaded afterwards alone", async () => {
    await using directory = await temporaryDirectory();
    const stale = join(directory.path, "stale");
    await leaveStaleSocket(stale);
    const load = await linkedModule(directory.path);
    const error = await rejection(createUnixTransport({ path: stale }).connect());
    expect(error).toMatchObject({ code: "transport_failed" });
    expect(load()).toBe("found");
  });
});

describe("connecting", () => {
  it("is given up by its signal, before and meanwhile, and leaves no socket and no listener", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "s");
    const server = await plainServer(path);
    const transport = createUnixTransport({ path });
    const reason = new TransportError("given up by the test");
    const early = await rejection(transport.connect({ signal: AbortSignal.abort(reason) }));
    expect(early).toBeInstanceOf(RequestCancelledError);
    expect(early).toMatchObject({ code: "request_cancelled", cause: reason });

    const controller = new AbortController();
    const late = rejection(transport.connect({ signal: controller.signal }));
    controller.abort(reason);
    expect(await late).toBeInstanceOf(RequestCancelledError);
    expect(await late).toMatchObject({ code: "request_cancelled", cause: reason });
    // Only settles when no connection is left.
    server.close();
    await once(server, "close");
  });

  it("ends with its time", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "s");
    const server = await plainServer(path);
    const clock = createManualClock();
    const pending = rejection(createUnixTransport({ path, connectTimeoutMs: 300, clock }).connect());
    clock.advance(300);
    expect(await pending).toBeInstanceOf(TransportError);
    expect(await pending).toMatchObject({
      code: "transport_failed",
      message: `unix:${path} did not answer within 300 ms: is its server stuck?`,
    });
    server.close();
    await once(server, "close");
  });
});

/** A listener in a directory of its own, whose first channel the test gets and whose others echo. */
const serve = async (options: { readonly closeTimeoutMs?: number } = {}) => {
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

describe("the end of a connection", () => {
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
});
