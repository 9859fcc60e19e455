import { createManualClock } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { createFetchHandler } from "../src/index.ts";
import { rawClient, startServer, token } from "./support.ts";

const handler = createFetchHandler({
  path: "/ahp",
  token,
  allowedHosts: ["agent.test", "other.test:8080"],
  clock: createManualClock(),
  handle: async (message) => ({ message }),
});

const latin1 = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
});

describe("the rules, for anything that comes", () => {
  it("let in nobody without the token, whatever the headers", async () => {
    const names = ["authorization", "x-api-key", "origin", "host", "content-type", "content-length"];
    const headers = fc.dictionary(fc.constantFrom(...names), latin1, { noNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(headers, fc.constantFrom("POST", "OPTIONS", "PUT"), async (given, method) => {
        const response = await handler(new Request("http://agent.test/ahp", { method, headers: given }));
        expect([400, 401, 403, 404, 405, 413, 415]).toContain(response.status);
        expect(response.headers.get("access-control-allow-origin")).toBeNull();
      }),
      { numRuns: runs(100) },
    );
  });

  it("let in no host but those that are listed", async () => {
    const parts = fc.constantFrom(
      "agent.test",
      "other.test",
      "evil",
      ".",
      ":",
      "8080",
      "80",
      "[",
      "]",
      "@",
      "/",
      ",",
      " ",
    );
    const host = fc.array(parts, { minLength: 1, maxLength: 5 }).map((found) => found.join("").trim());
    await fc.assert(
      fc.asyncProperty(host, async (given) => {
        const headers = { host: given, "x-api-key": token };
        const response = await handler(new Request("http://agent.test/healthz", { headers }));
        const isListed = /^(?:agent\.test(?::\d{1,5})?|other\.test:8080)$/.test(given);
        expect(response.status).toBe(isListed ? 200 : 403);
      }),
      { numRuns: runs(100) },
    );
  });

  it("answer any bytes of a connection with a refusal or nothing, and live", async () => {
    await using server = await startServer({ limits: { headersTimeoutMs: 1000 } });
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom(
          "POST /ahp HTTP/1.1\r\n",
          "Host: ",
          "\r\n",
          "\r\n\r\n",
          "Transfer-Encoding: chunked\r\n",
          "0\r\n",
        ),
        fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
      ),
      { minLength: 1, maxLength: 10 },
    );
    await fc.assert(
      fc.asyncProperty(pieces, async (given) => {
        using client = await rawClient(server.port);
        client.socket.end(Buffer.from(given.join(""), "latin1"));
        await client.untilGone();
        expect(client.text()).not.toMatch(/^HTTP\/1\.1 2/);
      }),
      { numRuns: runs(20) },
    );
    using client = await rawClient(server.port);
    client.write(`GET /healthz HTTP/1.1\r\nHost: localhost:${server.port}\r\n\r\n`);
    expect(await client.status()).toBe(200);
  });
});
