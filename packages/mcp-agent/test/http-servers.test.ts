import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { expect, it } from "vitest";
import { createMcpAgent } from "../src/index.ts";
import { call, serve } from "./support/serve.ts";

interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly protocolVersion?: string; readonly name?: string };
}

const result = (value: string) => ({ content: [{ type: "text", text: value }], _meta: null });
const toolNames = [
  "json",
  "events",
  "big-json",
  "big-events",
  "paid-410",
  "paid-400",
  "bom-events",
  "no-events",
  "accepted",
];
const big = result("x".repeat(300_000));

/** A server with sessions, or with none, which refuses those that it has forgotten with this status. */
const createHttpServer = async (refusal = 404, isStateless = false) => {
  const sessions = new Set<string>();
  const seen: { calls: number; authorization: Set<string | undefined> } = {
    calls: 0,
    authorization: new Set(),
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const session = String(request.headers["mcp-session-id"]);
    const { authorization } = request.headers;
    if (request.url === "/token") {
      const grant = `${authorization} ${await readText(request)}`;
      const isRight =
        grant.includes(`Basic ${btoa("me:hush-hush-4711")}`) && grant.includes("client_credentials");
      response.writeHead(isRight ? 200 : 400, { "content-type": "application/json" });
      response.end(JSON.stringify({ access_token: "token-0815", token_type: "Bearer" }));
      return;
    }
    if (request.url?.startsWith("/.well-known/oauth-authorization-server")) {
      const issuer = `http://${request.headers.host}`;
      const grants = { grant_types_supported: ["client_credentials"], response_types_supported: ["code"] };
      const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ issuer, ...endpoints, ...grants }));
      return;
    }
    if (request.method !== "POST") {
      response.writeHead(request.method === "DELETE" ? 200 : request.url === "/mcp" ? 405 : 404).end();
      return;
    }
    const { id, method, params } = JSON.parse(await readText(request)) as Asked;
    seen.authorization.add(authorization);
    if (refusal === 401 && authorization !== "Bearer token-0815") {
      response.writeHead(401).end();
      return;
    }
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (method === "initialize") {
      const made = `session-${sessions.size}-${Date.now()}`;
      sessions.add(made);
      if (!isStateless) headers["mcp-session-id"] = made;
    } else if (!isStateless && !sessions.has(session)) {
      response.writeHead(refusal, headers).end('{"error":{"code":-32000,"message":"No valid session ID"}}');
      return;
    }
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const send = (value: object) => {
      const message = JSON.stringify({ jsonrpc: "2.0", id, result: value, error: null });
      const isStream = params.name?.includes("events") ?? false;
      if (isStream) headers["content-type"] = "text/event-stream";
      response
        .writeHead(200, headers)
        .end(
          params.name === "no-events"
            ? ": hello\n\n"
            : isStream
              ? `: hello\n\nevent: message\r\ndata: ${params.name === "bom-events" ? "\ufeff" : ""}${message}\r\n\r\n`
              : message,
        );
    };
    if (method === "initialize") {
      send({ protocolVersion: params.protocolVersion, capabilities: { tools: {} } });
    } else if (method === "tools/list") {
      send({ tools: toolNames.map((name) => ({ name, inputSchema: { type: "object" } })) });
    } else if (method !== "tools/call") {
      response.writeHead(200, headers);
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } }));
    } else {
      seen.calls++;
      const paid = params.name?.startsWith("paid") && Number(params.name.slice(-3));
      if (paid) response.writeHead(paid).end('{"error":"the checkout session is paid; obsession"}');
      else if (params.name === "accepted") response.writeHead(202).end();
      else send(params.name?.startsWith("big") ? big : result(`call ${seen.calls}`));
    }
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    sessions,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const answered = (value: string) => ({
  status: "succeeded",
  output: { content: [{ type: "text", text: value }] },
});

it.each([404, 410, 400])(
  "makes one new session where the server has forgotten it (HTTP %i), and repeats the call once",
  async (status) => {
    await using server = await createHttpServer(status);
    await using served = await serve({ server: { url: server.url } });
    expect(await call(served.core, "json")).toMatchObject(answered("call 1"));
    server.sessions.clear();
    const both = [call(served.core, "json"), call(served.core, "events")];
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect([server.seen.calls, server.sessions.size]).toEqual([3, 1]);
  },
);

it.each([
  ["410 in a session: repeated once in a new one", "paid-410", false, [2, 2]],
  ["410 without a session", "paid-410", true, [1, 1]],
  ["400 that is not of the MCP session", "paid-400", false, [1, 1]],
])("says that a call may have run whose server answers HTTP %s", async (_, name, isStateless, made) => {
  await using server = await createHttpServer(404, isStateless);
  await using served = await serve({ server: { url: server.url } });
  const outcome = await call(served.core, name);
  const text = `the MCP server answered with HTTP ${name.slice(-3)}`;
  expect(outcome).toMatchObject({
    status: "failed",
    error: {
      code: "mcp.request_failed",
      message: expect.stringContaining(text),
      details: { may_have_run: true },
    },
  });
  expect(outcome).not.toHaveProperty("error.retryable", true);
  expect([server.seen.calls, server.sessions.size]).toEqual(made);
});

it("ends a call that gets no answer, which may have run, and reads one behind a byte order mark", async () => {
  await using server = await createHttpServer();
  await using served = await serve({ server: { url: server.url } });
  for (const name of ["no-events", "accepted"]) {
    expect(await call(served.core, name)).toMatchObject({
      error: {
        code: "mcp.request_failed",
        message: expect.stringContaining("ended without an answer"),
        details: { may_have_run: true },
      },
    });
  }
  expect(await call(served.core, "bom-events")).toMatchObject(answered("call 3"));
});

it("takes answers that are not quite right, as JSON and as events, and fails those that are too large", async () => {
  await using server = await createHttpServer();
  await using served = await serve({ server: { url: server.url }, limits: { maxMessageBytes: 100_000 } });
  expect(await call(served.core, "json")).toMatchObject(answered("call 1"));
  expect(await call(served.core, "events")).toMatchObject(answered("call 2"));
  for (const name of ["big-json", "big-events"]) {
    expect(await call(served.core, name)).toMatchObject({
      error: { code: "mcp.request_failed", message: expect.stringContaining("100000 bytes") },
    });
  }
  expect(await call(served.core, "json")).toMatchObject(answered("call 5"));
  expect([served.reports, server.sessions.size]).toEqual([[], 1]);
});

it("gets a token by client credentials from the authorization server that was named", async () => {
  await using server = await createHttpServer(401);
  const oauth = { issuer: server.origin, clientId: "me", clientSecret: "CLIENT_SECRET" };
  const env = { CLIENT_SECRET: "hush-hush-4711" };
  await using served = await serve({ server: { url: server.url, oauth }, env });
  expect(await call(served.core, "json")).toMatchObject(answered("call 1"));
  expect(server.seen.authorization).toEqual(new Set([undefined, "Bearer token-0815"]));
});

it("takes http: to another machine only where the operator says so", () => {
  const make = (server: object) => () => createMcpAgent({ id: "mcp.test", server: server as never });
  expect(make({ url: "http://tools.internal/mcp" })).toThrow(
    expect.objectContaining({ code: "mcp.config_invalid", message: expect.stringContaining("allowHttp") }),
  );
  expect(make({ url: "http://tools.internal/mcp", allowHttp: true })).not.toThrow();
});
