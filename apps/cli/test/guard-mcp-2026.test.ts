import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { GuardedMachine } from "./support/guarded-agent.ts";
import { binPath, eventually } from "./support/harness.ts";

/** A server of the official SDK's second line on Streamable HTTP; `seen` has the headers of each request. */
const startServer = async () => {
  const held: string[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "sums", version: "1" });
    server.registerTool(
      "add",
      { description: "adds", inputSchema: z.object({ a: z.number(), b: z.number() }) },
      async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
    );
    server.registerTool(
      "hold",
      { description: "waits", inputSchema: z.object({ a: z.number() }) },
      (_input, { mcpReq: { signal } }) => {
        held.push("begun");
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            held.push("cancelled");
            reject(new Error("cancelled"));
          });
        });
      },
    );
    return server;
  });
  const seen: Record<string, unknown>[] = [];
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push(request.headers);
    const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
    const headers = Object.entries(request.headers).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    const url = `http://${request.headers.host}${request.url}`;
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const answer = await handler.fetch(
      new Request(url, { method: request.method ?? "GET", headers, signal: gone.signal, ...body }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, seen, held };
};

const policy = `version: 1
name: sums
defaults: { gate: allow }
rules:
  - name: large
    when: { action: mcp, cel: "args.a > 100.0" }
    then: { decision: block, reason: too large }
  - name: asked
    when: { action: mcp, cel: "args.a > 10.0" }
    then: { decision: escalate, reason: look }
`;

const connect = async (machine: GuardedMachine, url: string, mode: "legacy" | "auto") => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [binPath, "guard", "mcp", "--name", "sums", "--url", url],
    env: { PATH: process.env.PATH ?? "", ...machine.env },
    stderr: "ignore",
  });
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode }, capabilities: { elicitation: { url: {} } } },
  );
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
};

const add = (a: number) => ({ name: "add", arguments: { a, b: 1 } });

/** A user who is sent to the inbox approves there. Returns where the client was sent. */
const approveWhereSent = (
  client: Awaited<ReturnType<typeof connect>>,
  machine: GuardedMachine,
  hub: Awaited<ReturnType<GuardedMachine["client"]>>,
): readonly unknown[] => {
  const opened: unknown[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    opened.push(params);
    const { id, digest } = await machine.pending(hub);
    await hub.call("inbox.answer", { id, digest, decision: "approve" } as never);
    return { action: "accept" };
  });
  return opened;
};

describe("harness guard mcp --url, with client and server of the official SDK's second line", () => {
  it("passes the revision 2026-07-28 with its headers, judges its calls, sends its client to the inbox while one waits, and closes the response of one that is cancelled", async () => {
    const machine = await GuardedMachine.create(policy);
    await machine.startHub();
    const hub = await machine.client();
    const { url, seen, held } = await startServer();
    const client = await connect(machine, url, "auto");
    expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add", "hold"]);
    expect(await client.callTool(add(1))).toMatchObject({ content: [{ text: "2" }] });
    expect(seen.at(-1)).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "add",
    });
    expect(await client.callTool(add(1000))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("Not called: too large") }],
    });

    // The repeated call is made once it is approved.
    const opened = approveWhereSent(client, machine, hub);
    expect(await client.callTool(add(11))).toMatchObject({ content: [{ text: "12" }] });
    expect(opened).toMatchObject([
      {
        mode: "url",
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#\/inbox$/),
        message: expect.stringContaining("is pending"),
      },
    ]);

    // The server ends the call, and it is recorded as unknown.
    const abort = new AbortController();
    const calling = client.callTool({ name: "hold", arguments: { a: 1 } }, { signal: abort.signal });
    calling.catch(() => {});
    await eventually(() => expect(held).toEqual(["begun"]));
    abort.abort();
    await expect(calling).rejects.toMatchObject({ name: "SdkError", code: "REQUEST_TIMEOUT" });
    await eventually(() => expect(held).toEqual(["begun", "cancelled"]));
    await eventually(async () => {
      const { rows } = await hub.call("timeline.page", { limit: 10 });
      expect(rows).toContainEqual(expect.objectContaining({ state: "unknown", tool: "mcp__sums__hold" }));
    });
    expect(await client.callTool(add(1))).toMatchObject({ content: [{ text: "2" }] });
  });
});
