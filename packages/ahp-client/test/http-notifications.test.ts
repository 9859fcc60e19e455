import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createHttpExchange } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAhpClient } from "../src/index.ts";
import type { LossReport } from "../src/loss-report.ts";
import { base } from "./support/client.ts";
import { handshakeResult } from "./support/samples.ts";

/** A harness over HTTP that answers notifications so. */
const start = async (answer: (response: ServerResponse) => void) => {
  const server = createServer(async (request, response) => {
    const { id, method } = JSON.parse(await text(request)) as { id?: string; method: string };
    if (method !== "ahp/handshake") return answer(response);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: handshakeResult() }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const exchange = createHttpExchange({
    url: `http://127.0.0.1:${port}/ahp`,
    limits: { maxMessageBytes: 10_000 },
  });
  const losses: LossReport[] = [];
  const client = createAhpClient({
    ...base,
    exchange,
    onLoss: (report) => losses.push(report),
    reportLosses: false,
  });
  onTestFinished(async () => {
    await client.close();
    exchange.close();
    server.closeAllConnections();
    server.close();
  });
  await client.connect();
  return { client, losses };
};

const json = { "content-type": "application/json" };

describe("a notification over HTTP", () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ["204", (response) => response.writeHead(204).end()],
    ["202", (response) => response.writeHead(202).end()],
    ["200 and no body", (response) => response.writeHead(200).end()],
    ["200 and no body that says it is JSON", (response) => response.writeHead(200, json).end()],
    ["200 and a text", (response) => response.writeHead(200, { "content-type": "text/plain" }).end("OK")],
    ["200 and broken JSON", (response) => response.writeHead(200, json).end("{")],
    [
      "200 and a body above the limit",
      (response) => response.writeHead(200, json).end(`"${"x".repeat(20_000)}"`),
    ],
    [
      "200 and a result, as the reference's servers do",
      (response) =>
        response.writeHead(200, json).end('{"jsonrpc":"2.0","id":"","result":{"decision":"allow"}}'),
    ],
  ])("that is answered with %s was taken", async (_what, answer) => {
    const { client, losses } = await start(answer);
    client.notify("post_action", {});
    expect(await client.flush()).toBe(true);
    expect(client.stats()).toMatchObject({ notificationsSent: 1, notificationsLost: 0 });
    expect(losses).toEqual([]);
  });

  it("that is answered with an error of JSON-RPC was refused, and a 500 is a loss", async () => {
    const error = '{"jsonrpc":"2.0","id":"","result":null,"error":{"code":-32602,"message":"no"}}';
    for (const answer of [
      (response: ServerResponse) => response.writeHead(200, json).end(error),
      (response: ServerResponse) => response.writeHead(500).end(),
    ]) {
      const { client, losses } = await start(answer);
      client.notify("post_action", {});
      expect(await client.flush()).toBe(true);
      expect(losses).toMatchObject([{ count: 1, byReason: { harness_error: 1 } }]);
    }
  });
});
