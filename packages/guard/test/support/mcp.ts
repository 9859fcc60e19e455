import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createAhpServer } from "@harnesskit/ahp-server";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { type Channel, newlineCodec } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";
import {
  ActionJudge,
  McpProxy,
  maxProxyMessageBytes,
  type ProxyLimits,
  ToolPins,
} from "../../src/mcp/index.ts";
import { makeDirectory } from "./hooks.ts";

const require = createRequire(import.meta.url);

export const everything = [
  process.execPath,
  require.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
];
export const filesystem = [
  process.execPath,
  require.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
];
export const hostile = (...modes: string[]): string[] => [
  process.execPath,
  fileURLToPath(new URL("../fixtures/hostile-mcp-server.mjs", import.meta.url)),
  ...modes,
];

/** What the SDK's client speaks on. */
const transportOf = (channel: Channel): Transport => {
  const transport: Transport = {
    async start() {
      channel.start({
        message: (value) => transport.onmessage?.(value as JSONRPCMessage),
        error: (error) => transport.onerror?.(error),
        close: () => transport.onclose?.(),
      });
    },
    send: (message) => channel.send(message),
    close: () => channel.close(),
  };
  return transport;
};

type Handler = (event: { payload: any; metadata?: any }) => unknown;

export interface GuardedServer {
  readonly client: Client;
  readonly raw: Channel;
  readonly events: { type: string; payload: any; metadata: any }[];
  readonly notes: string[];
  readonly stderr: string[];
  readonly ended: Promise<unknown>;
  outcome(): Promise<any>;
}

/** A server's program behind a proxy, with a harness in this process; the SDK's client is connected unless `isRaw`. */
export const guardServer = async (
  command: readonly string[],
  decide: Handler | undefined,
  options: { directory?: string; limits?: Partial<ProxyLimits>; isRaw?: boolean } = {},
): Promise<GuardedServer> => {
  const events: GuardedServer["events"] = [];
  const notes: string[] = [];
  const stderr: string[] = [];
  const note = (event: any) => {
    events.push({ type: event.event_type, payload: event.payload, metadata: event.metadata });
  };
  const harness = createAhpServer({
    name: "test",
    version: "1.0.0",
    handlers: {
      pre_action: (event: any) => {
        note(event);
        return decide?.(event) as never;
      },
      post_action: note as never,
    },
  });
  const handle = (message: unknown, { signal }: { signal: AbortSignal }) =>
    decide === undefined
      ? Promise.reject(new TypeError("no harness"))
      : harness.handle(message, { signal, principal: "test" } as never);
  const ahp = createAhpClient({
    exchange: { handle } as never,
    framework: "test",
    version: "1.0.0",
    reconnect: { initialDelayMs: 10, maxDelayMs: 20, waitMs: 200, maxAttempts: Number.POSITIVE_INFINITY },
  });
  ahp.connect({ retry: true }).catch(() => {});
  const [program = "", ...args] = command;
  const server = await createChildTransport({
    command: program,
    args,
    maxFrameBytes: maxProxyMessageBytes,
    stderr: (line) => stderr.push(line),
  }).connect();
  const pair = createMemoryPair({ codec: newlineCodec({ maxFrameBytes: maxProxyMessageBytes }) });
  const pins = await ToolPins.open({
    directory: options.directory ?? (await makeDirectory()),
    name: "srv",
    place: command,
  });
  const proxy = new McpProxy({
    client: pair.server,
    server,
    judge: new ActionJudge({ client: ahp, awayMs: 200 }),
    pins,
    name: "srv",
    limits: { progressAfterMs: 20, progressEveryMs: 20, ...options.limits },
    onNote: (line) => notes.push(line),
  });
  const ended = proxy.run();
  const client = new Client({ name: "test", version: "1" }, { capabilities: { roots: {}, sampling: {} } });
  onTestFinished(async () => {
    await pair.client.close();
    await ended;
    await ahp.close();
    await harness.close();
  });
  if (!options.isRaw) await client.connect(transportOf(pair.client));
  const outcome = async () => {
    await ahp.flush();
    return events.filter(({ type }) => type === "post_action").at(-1)?.payload;
  };
  return { client, raw: pair.client, events, notes, stderr, ended, outcome };
};

export const textOf = (result: unknown): string =>
  (result as { content: { text?: string }[] }).content.map(({ text = "" }) => text).join("\n");
