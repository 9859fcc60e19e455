import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { expect, it } from "vitest";
import { createMcpAgent, McpError, readMcpTools } from "../src/index.ts";
import { startLegacySseServer } from "./support/legacy-sse-server.ts";

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

it.each([404, 405, 400])(
  "names a server on HTTP with SSE that refuses a POST with %i, and what to do",
  async (status) => {
    await using server = await startLegacySseServer(status);
    const client = new Client({ name: "old", version: "1" });
    await client.connect(new SSEClientTransport(new URL(server.url)));
    await client.close();
    const error = await failureOf(readMcpTools({ server: { url: server.url } }));
    expect(error).toBeInstanceOf(McpError);
    expect(error).toMatchObject({
      code: "mcp.legacy_sse",
      message: expect.stringMatching(/\/sse speaks the legacy transport .* usually \/mcp, or put a proxy/),
    });
  },
);

it("asks such a server with the same headers, and an agent of it does not start", async () => {
  await using server = await startLegacySseServer(404, "Bearer hush");
  const given = { url: server.url, headers: { authorization: "TOKEN" } };
  const agent = createMcpAgent({
    id: "mcp.old",
    server: given,
    env: { TOKEN: "Bearer hush" },
    onError: () => {},
  });
  const error = await failureOf(agent.start());
  await agent.stop();
  expect(error).toBeInstanceOf(McpError);
  expect(error).toMatchObject({ code: "mcp.legacy_sse" });
});

it("does not take a URL with nothing behind it for such a server", async () => {
  await using server = await startLegacySseServer(404);
  const error = await failureOf(readMcpTools({ server: { url: server.url.replace("/sse", "/nothing") } }));
  expect(error).toBeInstanceOf(McpError);
  expect(error).toMatchObject({ code: "mcp.server_unavailable" });
});
