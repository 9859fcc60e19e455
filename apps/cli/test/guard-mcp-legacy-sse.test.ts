import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, ProtocolError } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { expect, it, onTestFinished } from "vitest";
import { GuardedMachine } from "./support/guarded-agent.ts";
import { binPath } from "./support/harness.ts";

/** A real server on HTTP with SSE (2024-11-05): its URL takes no POST. */
const startLegacySseServer = async (): Promise<string> => {
  const http = createServer((request, response) => {
    if (request.method !== "GET") return void response.writeHead(405).end();
    void new McpServer({ name: "old", version: "1" }).connect(new SSEServerTransport("/messages", response));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close().closeAllConnections());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`;
};

it.each(["legacy", "auto"] as const)(
  "harness guard mcp --url names a server on HTTP with SSE to a client in the mode %s",
  async (mode) => {
    const machine = await GuardedMachine.create(
      "version: 1\nname: any\ndefaults: { gate: allow }\nrules: []\n",
    );
    await machine.startHub();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [binPath, "guard", "mcp", "--name", "old", "--url", await startLegacySseServer()],
      env: { PATH: process.env.PATH ?? "", ...machine.env },
      stderr: "ignore",
    });
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    onTestFinished(() => client.close());
    const error = await client.connect(transport).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/\/sse speaks the legacy transport .* usually \/mcp, or put a proxy/),
    });
  },
);
