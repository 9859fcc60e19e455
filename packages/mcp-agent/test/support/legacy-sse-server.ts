import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";

/** A real server on HTTP with SSE (2024-11-05), which refuses a POST to its URL with this status. Wants this header, if any. */
export const startLegacySseServer = async (status: number, authorization?: string) => {
  const sessions = new Map<string, SSEServerTransport>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    const session = sessions.get(searchParams.get("sessionId") ?? "");
    if (authorization !== undefined && request.headers.authorization !== authorization) {
      response.writeHead(401).end();
    } else if (request.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      sessions.set(transport.sessionId, transport);
      await new McpServer({ name: "old", version: "1" }).connect(transport);
    } else if (request.method === "POST" && session) {
      await session.handlePostMessage(request, response);
    } else {
      response.writeHead(status).end();
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
