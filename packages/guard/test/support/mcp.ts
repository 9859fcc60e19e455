import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { type Channel, type JsonLine, newlineCodec } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";
import { createMcpProxy, maxProxyMessageBytes, openToolPins } from "../../src/mcp/index.ts";
import { createActionJudge } from "../../src/proxy/action-judge.ts";
import type { ProxyLimits } from "../../src/proxy/limits.ts";
import { makeDirectory } from "./hooks.ts";
import { type Decide, type TestHarness, testHarness } from "./test-harness.ts";

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

/** The side of a client: values, though the codec keeps lines. */
const valuesOf = (channel: Channel): Channel => ({
  ...{ close: (error) => channel.close(error), closed: channel.closed, signal: channel.signal },
  context: channel.context,
  send: (message) => channel.send(message),
  start: (handlers) =>
    channel.start({ ...handlers, message: (line) => handlers.message((line as JsonLine).value) }),
});

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

export interface GuardedServer {
  readonly client: Client;
  readonly raw: Channel;
  /** As `raw`, with each line: to be started in its place. */
  readonly lines: Channel;
  readonly events: TestHarness["events"];
  readonly notes: string[];
  readonly stderr: string[];
  readonly ended: Promise<unknown>;
  outcome(): Promise<any>;
}

/** A server's program behind a proxy, with a harness in this process; the SDK's client is connected unless `isRaw`. */
export const guardServer = async (
  command: readonly string[],
  decide: Decide | undefined,
  options: {
    directory?: string;
    limits?: Partial<ProxyLimits>;
    isRaw?: boolean;
    maxFrameBytes?: number;
  } = {},
): Promise<GuardedServer> => {
  const { ahp, events, outcome } = testHarness(decide);
  const notes: string[] = [];
  const stderr: string[] = [];
  const [program = "", ...args] = command;
  const { maxFrameBytes = maxProxyMessageBytes } = options;
  const server = await createChildTransport({
    command: program,
    args,
    maxFrameBytes,
    keepLines: true,
    stderr: (line) => stderr.push(line),
  }).connect();
  const pair = createMemoryPair({ codec: newlineCodec({ maxFrameBytes, keepLines: true }) });
  const raw = valuesOf(pair.client);
  const pins = await openToolPins({
    directory: options.directory ?? (await makeDirectory()),
    name: "srv",
    place: command,
  });
  const proxy = createMcpProxy({
    client: pair.server,
    server,
    judge: createActionJudge({ client: ahp, awayMs: 200 }),
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
  });
  if (!options.isRaw) await client.connect(transportOf(raw));
  return { client, raw, lines: pair.client, events, notes, stderr, ended, outcome };
};

export const textOf = (result: unknown): string =>
  (result as { content: { text?: string }[] }).content.map(({ text = "" }) => text).join("\n");
