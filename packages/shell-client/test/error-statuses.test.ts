import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpExchange as createFetchExchange } from "@harnesskit/transport-http";
import { createHttpExchange } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { createShellClient } from "../src/index.ts";
import type { ShellDiagnostic } from "../src/shell-outcome.ts";
import { diagnosed, failureOf } from "./support.ts";

interface Answer {
  readonly status: number;
  readonly body: (requestId: string) => unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server of others: one answer after the other, the last one again and again. */
const serve = async (answers: readonly Answer[], make = createHttpExchange) => {
  let count = 0;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { status, body, headers } = answers[Math.min(count++, answers.length - 1)] as Answer;
    const written = body((JSON.parse(text) as { request_id: string }).request_id);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof written === "string" ? written : JSON.stringify(written));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const exchange = make({ url: `http://127.0.0.1:${port}/openharness` });
  onTestFinished(async () => {
    exchange.close();
    await new Promise((resolve) => server.close(resolve));
  });
  const diagnostics: ShellDiagnostic[] = [];
  const shell = createShellClient({
    engine: exchange,
    executors: { render_message: () => {} },
    retry: { initialDelayMs: 0 },
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
  });
  return { shell, diagnostics, count: () => count };
};

const failed =
  (error: object, more: object = {}) =>
  (request_id: string) => ({
    protocol_version: "1.0.0",
    request_id,
    response: { status: "error", error },
    ...more,
  });
const done = (request_id: string) => ({
  protocol_version: "1.0.0",
  request_id,
  response: { status: "success", action_directives: [] },
});

describe("an error of an engine beside an HTTP status", () => {
  it.each([
    ["node:http", createHttpExchange, 500],
    ["node:http", createHttpExchange, 503],
    ["node:http", createHttpExchange, 401],
    ["fetch", createFetchExchange, 500],
    ["fetch", createFetchExchange, 422],
  ] as const)(
    "is that error, over %s with status %3$i, and is not tried again where it says so",
    async (_n, make, status) => {
      const error = { code: "bridge_failed", message: "No model is configured.", retryable: false };
      const body = failed(error);
      const { shell, diagnostics, count } = await serve(
        [{ status, body }],
        make as typeof createHttpExchange,
      );
      const outcome = await shell.send({ intent: "hi" });
      expect(outcome).toMatchObject({ status: "error", error });
      expect(outcome.failure).toBeUndefined();
      expect(outcome.response?.response.error).toEqual(error);
      expect([count(), diagnosed(diagnostics)]).toEqual([1, []]);
    },
  );

  it("is tried again where it says that it is retryable, whatever its status, after the time that the server asks for", async () => {
    const body = failed({ code: "warming_up", retryable: true });
    const { shell, diagnostics, count } = await serve([
      { status: 400, body },
      { status: 503, body, headers: { "retry-after": "1" } },
      { status: 200, body: done },
    ]);
    expect((await shell.send({ intent: "hi" })).status).toBe("success");
    expect(count()).toBe(3);
    expect(diagnostics.map(({ details }) => details?.delay_ms)).toEqual([0, 1000]);
    expect(diagnostics[0]?.details?.code).toBe("engine_error");
  });

  it.each([
    ["not JSON", () => "<html>"],
    ["no OpenHarness", () => ({ error: "no" })],
    ["of another request", () => failed({ code: "a", retryable: false })("other")],
    ["of another version", failed({ code: "a", retryable: false }, { protocol_version: "2.0.0" })],
    ["a success", done],
    ["an error without an error", (id: string) => ({ ...done(id), response: { status: "error" } })],
    ["too large", () => JSON.stringify({ a: "x".repeat(5_000_000) })],
  ])("is the status's own where the body is %s", async (_what, body) => {
    const { shell, count } = await serve([{ status: 500, body }]);
    expect(failureOf(await shell.send({ intent: "hi" })).code).toBe("engine_unreachable");
    expect(count()).toBe(5);
  });
});
