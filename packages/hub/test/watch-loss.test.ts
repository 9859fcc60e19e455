import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { HUB_API_VERSION } from "@harnesskit/protocol/hub";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { type Clock, systemClock } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createHubClient } from "../src/client/index.ts";

type Answer = (call: { id: number; method: string }, socket: Socket, connection: number) => void;

/** A server in the place of a hub: it answers as it is given, by the number of the connection. */
const openServer = async (path: string, answer: Answer) => {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = ++connections;
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    createInterface({ input: socket }).on("line", (line) => answer(JSON.parse(line), socket, connection));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const send = (socket: Socket, message: object) =>
  socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const hello = {
  version: HUB_API_VERSION,
  hub: { name: "test", version: "1.0.0", startedAtMs: 0 },
  by: "ada (test)",
  grantMs: 1000,
};

/** The real time, which ends a client that asks for it without a pause: such a client would block this process. */
const boundedClock = (maxReads: number): Clock => {
  let reads = 0;
  return {
    ...systemClock,
    now() {
      if (++reads > maxReads) throw new RangeError(`the time was asked for more than ${maxReads} times`);
      return systemClock.now();
    },
  };
};

const clientOf = (path: string, maxAttempts: number) =>
  createHubClient({
    transport: createUnixTransport({ path, framing: "newline" }),
    client: { name: "test" },
    reconnect: { maxAttempts, initialDelayMs: 1 },
    clock: boundedClock(2000),
  });

describe("a watch whose hub is lost", () => {
  it("waits for the next connection where the hub ends in the middle of its call", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "api.sock");
    let watches = 0;
    await using server = await openServer(path, ({ id, method }, socket, connection) => {
      if (method === "hub.hello") send(socket, { id, result: hello });
      if (method !== "inbox.watch") return;
      watches++;
      // As of a killed process: the end of its output, and no answer.
      if (connection < 4) {
        socket.end();
        return;
      }
      send(socket, { id, result: { watchId: "w", afterSeq: 7 } });
      send(socket, { method: "watch.ended", params: { watchId: "w", reason: "store_closed" } });
    });
    await using client = clientOf(path, 10);
    await client.connect();
    await expect(client.watchInbox().next()).rejects.toMatchObject({
      name: "HubError",
      code: "store_closed",
    });
    expect([watches, server.connections]).toEqual([4, 4]);
  });

  it("counts its attempts anew with each watch that was answered", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "api.sock");
    await using server = await openServer(path, ({ id, method }, socket, connection) => {
      if (method === "hub.hello") send(socket, { id, result: hello });
      if (method !== "inbox.watch") return;
      send(socket, { id, result: { watchId: "w", afterSeq: 0 } });
      if (connection < 6) socket.end();
      else send(socket, { method: "watch.ended", params: { watchId: "w", reason: "store_closed" } });
    });
    await using client = clientOf(path, 2);
    await client.connect();
    await expect(client.watchInbox().next()).rejects.toMatchObject({
      name: "HubError",
      code: "store_closed",
    });
    expect(server.connections).toBe(6);
  });

  it("ends where its signal aborts before the hub has answered", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "api.sock");
    const stop = new AbortController();
    await using _server = await openServer(path, ({ id, method }, socket) => {
      if (method === "hub.hello") send(socket, { id, result: hello });
      if (method !== "inbox.watch") return;
      stop.abort();
      send(socket, { id, result: { watchId: "w", afterSeq: 0 } });
    });
    await using client = clientOf(path, 2);
    await client.connect();
    expect(await client.watchInbox({ signal: stop.signal }).next()).toEqual({ value: undefined, done: true });
  });
});
