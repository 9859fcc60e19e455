import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createFetchHandler } from "@harnesskit/transport-http";
import { createHttpExchange, toNodeHandler } from "@harnesskit/transport-http/node";
import express from "express";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { createShellEngine } from "../src/index.ts";
import { request, say } from "./support.ts";

const token = "a-token-of-the-test";

const stop = async (server: Server) => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
};

it("answers pages of its own host, and says which other origin it refuses", async () => {
  const engine = createShellEngine({ handlers: { intent: () => [say("hello")] } });
  const app = express();
  app.post(
    "/openharness",
    toNodeHandler(
      createFetchHandler({ ...engine, path: "/openharness", token, allowedHosts: ["localhost"] }),
    ),
  );
  const server = app.listen(0);
  await once(server, "listening");
  try {
    const url = `http://localhost:${(server.address() as AddressInfo).port}`;
    const from = (origin: string) =>
      createHttpExchange({
        url: `${url}/openharness`,
        credentials: { bearer: token },
        headers: { origin },
      });
    const own = from(url);
    expect(await own.handle(request())).toMatchObject({
      response: { action_directives: [{ payload: { message: "hello" } }] },
    });
    own.close();
    const other = from("http://localhost:5173");
    await expect(other.handle(request())).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining(
        'status 403: The origin "http://localhost:5173" is not in allowedOrigins.',
      ),
    });
    other.close();
  } finally {
    await stop(server);
  }
});

describe("a body that a framework has read before", () => {
  const handlerOf = (errors: unknown[]) =>
    createFetchHandler({
      ...createShellEngine({ handlers: { intent: () => [say("hi")] } }),
      path: "/openharness",
      token,
      allowedHosts: ["localhost"],
      onError: (error) => errors.push(error),
    });
  const body = JSON.stringify(request());
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const said =
    "The body was read before this handler: mount it before parsers of bodies, such as express.json().";
  const reported = [expect.objectContaining({ code: "invalid_argument", message: said })];

  it("is told in the answer, by Express and by Hono", async () => {
    const errors: unknown[] = [];
    const app = express();
    app.use(express.json());
    app.post(
      "/openharness",
      toNodeHandler(handlerOf([]), (error) => errors.push(error)),
    );
    const server = app.listen(0);
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      const answer = await fetch(`http://localhost:${port}/openharness`, { method: "POST", headers, body });
      expect([answer.status, await answer.text(), errors]).toEqual([500, said, reported]);
    } finally {
      await stop(server);
    }
    const inHono: unknown[] = [];
    const hono = new Hono();
    const handler = handlerOf(inHono);
    hono.post("/openharness", async (c) => {
      await c.req.raw.json();
      return handler(c.req.raw);
    });
    const answer = await hono.request("http://localhost/openharness", { method: "POST", headers, body });
    expect([answer.status, await answer.text(), inHono]).toEqual([500, said, reported]);
  });
});
