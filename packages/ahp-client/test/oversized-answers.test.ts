import { createHttpServer, createWebSocketTransport } from "@harnesskit/transport-http/node";
import type { Channel, Transport } from "@harnesskit/wire";
import { newlineCodec } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type AhpClientOptions, createAhpClient } from "../src/index.ts";
import { base } from "./support/client.ts";
import { handshakeResult } from "./support/samples.ts";

const token = "a-token-for-tests-0123456789";
const maxFrameBytes = 10_000;

/** A harness that shakes hands, and answers all else with more than this client takes. */
const answerTooMuch = (channel: Channel): void => {
  channel.start({
    message(message) {
      const { id, method } = message as { id: string; method: string };
      const result =
        method === "ahp/handshake"
          ? handshakeResult()
          : { decision: "allow", metadata: { fill: "x".repeat(maxFrameBytes) } };
      void channel.send({ jsonrpc: "2.0", id, result }).catch(() => {});
    },
    error() {},
    close() {},
  });
};

const connect = async (transport: Transport, options: Partial<AhpClientOptions> = {}) => {
  const opened: unknown[] = [];
  const client = createAhpClient({
    ...base,
    transport,
    reconnect: false,
    failOpen: { pre_action: { decision: "allow" } },
    onFailOpen: (each) => opened.push(each),
    ...options,
  } as AhpClientOptions);
  onTestFinished(() => client.close());
  await client.connect();
  return { client, opened };
};

describe("an answer above the limit", () => {
  it("over WebSocket ends the connection, and the reason names the limit", async () => {
    const server = createHttpServer({ token });
    const listener = server.webSocketListener({ path: "/ahp" });
    await listener.listen(answerTooMuch);
    await server.listen();
    onTestFinished(() => server.close());
    const url = `${server.webSocketUrl}/ahp`;
    const credentials = { bearer: token };
    const { client, opened } = await connect(
      createWebSocketTransport({ url, credentials, limits: { maxFrameBytes } }),
    );
    expect(await client.decide("pre_action", {})).toMatchObject({
      code: "invalid_answer",
      decision: { decision: "block" },
      reason: expect.stringContaining(`a message exceeds the limit of ${maxFrameBytes} bytes`),
    });
    expect(opened).toEqual([]);
  });

  it("in a line is dropped without being parsed, and the reason of the call names the limit", async () => {
    const parsed = vi.spyOn(JSON, "parse");
    onTestFinished(() => parsed.mockRestore());
    const transport: Transport = {
      async connect() {
        const pair = createMemoryPair({ codec: newlineCodec({ maxFrameBytes }) });
        pair.server.start({
          message(message) {
            const { id, method } = message as { id: string; method: string };
            const reply = (result: unknown) => JSON.stringify({ jsonrpc: "2.0", id, result });
            if (method === "ahp/handshake") pair.serverWire.writeRaw(`${reply(handshakeResult())}\n`);
            else
              pair.serverWire.writeRaw(`${reply({ decision: "allow", fill: "x".repeat(maxFrameBytes) })}\n`);
          },
          error() {},
          close() {},
        });
        return pair.client;
      },
    };
    const { client, opened } = await connect(transport);
    expect(await client.decide("pre_action", {}, { timeoutMs: 1000 })).toMatchObject({
      code: "invalid_answer",
      reason: expect.stringContaining(`a message exceeds the limit of ${maxFrameBytes} bytes`),
    });
    expect(opened).toEqual([]);
    expect(parsed.mock.calls.filter(([text]) => String(text).length > maxFrameBytes)).toEqual([]);
  });
});
