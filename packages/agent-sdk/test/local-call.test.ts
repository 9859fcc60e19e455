import { createDeferred } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import type { StreamPayload } from "../src/call-stream.ts";
import { type AgentOptions, defineAgent, type ToolContext, ToolError, tool } from "../src/index.ts";
import { agentId, rejection } from "./support.ts";

const agentOf = (run: (context: ToolContext, input: any) => unknown, options: Partial<AgentOptions> = {}) =>
  defineAgent({
    id: agentId,
    version: "1.0.0",
    tools: [
      tool({ name: "t", description: "", input: {}, run: (input, context) => run(context, input) as object }),
    ],
    ...options,
  });

describe("a call without a core", () => {
  it("gives the output as a core would see it, and the streams", async () => {
    const agent = agentOf(async ({ stdout, partialResult, callId, correlationId, projectRoot }) => {
      await stdout("hello");
      await partialResult({ n: 1 });
      return { callId, correlationId, projectRoot, at: new Date(0) };
    });
    const streamed: StreamPayload[] = [];
    const output = await agent.call(
      "t",
      {},
      {
        correlationId: "s",
        context: { project_root: "/p" },
        onStream: (payload) => streamed.push(payload),
      },
    );
    expect(output).toEqual({
      callId: expect.any(String),
      correlationId: "s",
      projectRoot: "/p",
      at: "1970-01-01T00:00:00.000Z",
    });
    expect(streamed).toEqual([
      { call_id: output?.callId, seq: 1, channel: "stdout", data: { text: "hello" } },
      { call_id: output?.callId, seq: 2, channel: "partial_result", data: { json: { n: 1 } } },
    ]);
  });

  it("rejects with the code that a core would get", async () => {
    const details = { a: 1 };
    const agent = agentOf((_context, { how }) => {
      if (how === "tool") throw new ToolError("x.y", "no", { details, retryable: true });
      if (how === "plain") throw new Error("s3cret");
      return how === "array" ? [] : {};
    });
    const outcome = (how: unknown) => rejection(agent.call("t", { how }));
    expect(await outcome("tool")).toMatchObject({
      name: "ToolError",
      code: "x.y",
      message: "no",
      details,
      retryable: true,
    });
    expect(await outcome("plain")).toMatchObject({
      name: "ToolError",
      code: "tool.failed",
      message: "the tool failed",
    });
    expect(await outcome("array")).toMatchObject({ name: "ToolError", code: "tool.invalid_output" });
    expect(await rejection(agent.call("none", {}))).toMatchObject({ code: "tool.not_found" });
    for (const input of [null, [], "x"]) {
      expect(await rejection(agent.call("t", input))).toMatchObject({ code: "tool.invalid_input" });
    }
    const big = agentOf(() => ({}), { limits: { maxToolInputBytes: 10 } });
    expect(await rejection(big.call("t", { a: "0123456789" }))).toMatchObject({
      code: "tool.input_too_large",
    });
  });

  it("is cancelled by its signal and ends in time", async () => {
    const clock = createManualClock();
    const reasons: string[] = [];
    let begun = createDeferred<void>();
    const agent = agentOf(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          begun.resolve();
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason.code);
            reject(signal.reason);
          });
        }),
      { clock },
    );
    const controller = new AbortController();
    const cancelled = agent.call("t", {}, { signal: controller.signal });
    await begun.promise;
    controller.abort();
    expect(await rejection(cancelled)).toMatchObject({ code: "tool.canceled" });
    expect(await rejection(agent.call("t", {}, { signal: controller.signal }))).toMatchObject({
      code: "tool.canceled",
    });
    begun = createDeferred();
    const timed = agent.call("t", {}, { timeoutMs: 100 });
    await begun.promise;
    clock.advance(100);
    expect(await rejection(timed)).toMatchObject({ code: "tool.timeout" });
    expect(reasons).toEqual(["tool.canceled", "tool.timeout"]);
  });

  it("has its signal aborted also where the tool first looks at it afterwards", async () => {
    const begun = createDeferred<ToolContext>();
    const agent = agentOf((context) => new Promise(() => begun.resolve(context)), { cancelGraceMs: 0 });
    const controller = new AbortController();
    const cancelled = agent.call("t", {}, { signal: controller.signal });
    const context = await begun.promise;
    controller.abort();
    expect(context.signal.aborted).toBe(true);
    expect(context.signal.reason).toMatchObject({ code: "tool.canceled" });
    expect(await rejection(cancelled)).toMatchObject({ code: "tool.canceled" });
  });
});
