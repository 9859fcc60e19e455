import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  createHttpExchange,
  createHttpServer,
  createWebSocketTransport,
} from "@harnesskit/transport-http/node";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { createUnixListener, createUnixTransport } from "@harnesskit/transport-uds";
import { expect } from "vitest";
import type { HarnessEndpoint } from "../../src/index.ts";
import { createTestServer } from "./test-server.ts";

/** A harness at the other end of a transport. */
export interface Endpoint {
  readonly endpoint: HarnessEndpoint;
  close(): Promise<void>;
}

const token = "a-token-for-tests-0123456789";

/** Our server on a port of its own, with HTTP and WebSocket at `/ahp`. */
const startHttp = async () => {
  const harness = createTestServer();
  const server = createHttpServer({ token, routes: { "/ahp": harness }, limits: { graceMs: 500 } });
  await server.listen();
  const listener = server.webSocketListener({ path: "/ahp", limits: { closeTimeoutMs: 500 } });
  await listener.listen((channel) => harness.connect(channel));
  return {
    harness,
    httpUrl: `${server.url ?? expect.fail()}/ahp`,
    webSocketUrl: `${server.webSocketUrl ?? expect.fail()}/ahp`,
    async close() {
      await harness.close();
      await server.close();
    },
  };
};

const fixture = fileURLToPath(new URL("../fixtures/stdio-harness.mjs", import.meta.url));

/** The four ways to one harness, each with a server of its own. `bundle` is what the child process runs. */
export const startEndpoint = {
  async stdio(bundle: string): Promise<Endpoint> {
    const transport = createChildTransport({
      command: process.execPath,
      args: [fixture, bundle],
      stderr: "ignore",
    });
    return { endpoint: { transport }, close: async () => {} };
  },
  async unix(): Promise<Endpoint> {
    const directory = await mkdtemp(join(tmpdir(), "ahp-"));
    const path = join(directory, "s");
    const harness = createTestServer();
    const listener = createUnixListener({ path, framing: "newline" });
    await listener.listen((channel) => harness.connect(channel));
    return {
      endpoint: { transport: createUnixTransport({ path, framing: "newline" }) },
      async close() {
        await harness.close();
        await listener.close();
        await rm(directory, { recursive: true, force: true });
      },
    };
  },
  async http(): Promise<Endpoint> {
    const server = await startHttp();
    const exchange = createHttpExchange({ url: server.httpUrl, credentials: { bearer: token } });
    return {
      endpoint: { exchange },
      async close() {
        exchange.close();
        await server.close();
      },
    };
  },
  async webSocket(): Promise<Endpoint> {
    const server = await startHttp();
    const transport = createWebSocketTransport({ url: server.webSocketUrl, credentials: { bearer: token } });
    return { endpoint: { transport }, close: () => server.close() };
  },
};

export const transportNames = ["stdio", "unix", "http", "webSocket"] as const;
