import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  approvalSpan,
  decided,
  decisionSpan,
  modelSpan,
  recordAnswer,
  recordOutcome,
  type SpanStart,
  startSpan,
  toolSpan,
} from "@harnesskit/wire/trace";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { describe, expect, it } from "vitest";
import { observed } from "./support/observed.ts";

const begin = (start: SpanStart) => {
  const span = startSpan(() => start);
  if (span === undefined) throw new Error("nothing observes");
  return span;
};

const deploy = { tool: "deploy", callId: "c1", input: { command: "x".repeat(10_000) } };

const answer = {
  response: { id: "r1", modelId: "claude-1" },
  finishReason: "stop",
  usage: {
    inputTokens: 1,
    outputTokens: 2,
    inputTokenDetails: { cacheReadTokens: 3 },
    outputTokenDetails: { reasoningTokens: 4 },
  },
};

describe("the names in the sources of all packages", () => {
  it("are the conventions' own where they begin with gen_ai, mcp or error", () => {
    const packages = fileURLToPath(new URL("../..", import.meta.url));
    const official = new Set(Object.values(conventions) as unknown[]);
    const sources = readdirSync(packages).flatMap((name) => {
      const src = join(packages, name, "src");
      return readdirSync(src, { recursive: true, encoding: "utf8" }).map((path) => join(src, path));
    });
    const texts = sources.filter((path) => path.endsWith(".ts")).map((path) => readFileSync(path, "utf8"));
    const traced = texts.filter((text) =>
      /@harnesskit\/wire\/trace|@opentelemetry\/api|"\.\/span\.ts"/.test(text),
    );
    const names = traced.flatMap(
      (text) =>
        text.match(/(?<=")(?:gen_ai|mcp\.(?:method|client|server|protocol)|error)\.[\w.]+(?=")/g) ?? [],
    );
    expect(new Set(names).size).toBeGreaterThan(20);
    expect([...new Set(names)].filter((name) => !official.has(name))).toEqual([]);
  });
});

describe("a span", () => {
  it("of a model has the names, the duration and the tokens of the conventions", async () => {
    await using sdk = observed();
    const span = begin(modelSpan({ provider: "anthropic", modelId: "claude" }, ["hi"], "t1"));
    recordAnswer(span, { ...answer, output: ["hello"] });
    span.end();
    const { kind, attributes } = sdk.one("chat claude");
    expect(kind).toBe(SpanKind.CLIENT);
    expect(attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude",
      "gen_ai.conversation.id": "t1",
      "gen_ai.response.model": "claude-1",
      "gen_ai.response.id": "r1",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 1,
      "gen_ai.usage.output_tokens": 2,
      "gen_ai.usage.cache_read.input_tokens": 3,
      "gen_ai.usage.reasoning.output_tokens": 4,
    });
    const measured = await sdk.measured();
    expect(measured.get("gen_ai.client.operation.duration")).toMatchObject([
      {
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": "anthropic",
          "gen_ai.request.model": "claude",
          "gen_ai.response.model": "claude-1",
        },
        value: { count: 1 },
      },
    ]);
    expect(measured.get("gen_ai.client.token.usage")).toMatchObject([
      { attributes: { "gen_ai.token.type": "input", "gen_ai.request.model": "claude" }, value: { sum: 1 } },
      { attributes: { "gen_ai.token.type": "output" }, value: { sum: 2 } },
      { attributes: { "gen_ai.token.type": "cache_read" }, value: { sum: 3 } },
    ]);
  });

  it("of a decision or an approval says what it is, and is no run of a tool", async () => {
    await using sdk = observed();
    const decision = begin(
      decisionSpan("harness", { eventType: "pre_action", sessionId: "s1", tool: "shell" }),
    );
    decision.set(decided("block", "r1"));
    decision.end();
    const more = { "harness.approval.risk": "high" };
    begin(
      approvalSpan({
        tool: "shell",
        approvalId: "a1",
        answer: "approved",
        more,
        startedAtMs: 1_700_000_001_000,
      }),
    ).end(undefined, 1_700_000_004_000);
    expect(sdk.one("harness.decision pre_action")).toMatchObject({
      kind: SpanKind.SERVER,
      attributes: {
        "openinference.span.kind": "GUARDRAIL",
        "harness.decision.by": "harness",
        "harness.decision.outcome": "block",
        "harness.decision.rule": "r1",
        "harness.decision.tool": "shell",
        "gen_ai.conversation.id": "s1",
      },
    });
    const approval = sdk.one("harness.approval shell");
    expect(approval.duration).toEqual([3, 0]);
    expect(approval.attributes).not.toHaveProperty(["gen_ai.tool.name"]);
    const points = (await sdk.measured()).get("harness.approval.duration");
    expect(points).toMatchObject([
      {
        attributes: {
          "harness.approval.tool": "shell",
          "harness.approval.answer": "approved",
          "harness.approval.risk": "high",
        },
        value: { sum: 3 },
      },
    ]);
  });

  it("that fails says the error's code, and never its message", async () => {
    await using sdk = observed();
    const span = begin(toolSpan(deploy));
    span.end(Object.assign(new Error("the password is hunter2"), { code: "tool.failed" }));
    span.end();
    const { status, attributes, events } = sdk.one("execute_tool deploy");
    expect(status).toEqual({ code: SpanStatusCode.ERROR, message: "tool.failed" });
    expect(attributes).toMatchObject({ "error.type": "tool.failed" });
    expect(events).toEqual([]);
    expect(sdk.text).not.toContain("hunter2");
  });

  it("that its role calls failed keeps that code, whatever it ends with", async () => {
    await using sdk = observed();
    const span = begin(toolSpan(deploy));
    recordOutcome(span, { status: "failed", code: "tool.failed" });
    span.end(new Error("later"));
    expect(sdk.one("execute_tool deploy").attributes).toMatchObject({
      "harness.call.status": "failed",
      "error.type": "tool.failed",
    });
  });

  it("has no content unless that was asked for, and then it is bounded", async () => {
    {
      await using sdk = observed();
      begin(toolSpan(deploy)).end();
      expect(sdk.text).not.toContain("xxx");
    }
    await using sdk = observed({ content: true, maxContentLength: 100 });
    const span = begin(toolSpan(deploy));
    recordOutcome(span, { status: "succeeded", output: { toJSON: () => 1n } });
    span.end();
    const { attributes } = sdk.one("execute_tool deploy");
    expect(attributes["gen_ai.tool.call.arguments"]).toMatch(/^\{"command":"x+… \[cut\]$/);
    expect(String(attributes["gen_ai.tool.call.arguments"])).toHaveLength(100);
    expect(attributes).not.toHaveProperty(["gen_ai.tool.call.result"]);
  });

  it("bounds the names that a peer chose", async () => {
    await using sdk = observed();
    begin(toolSpan({ ...deploy, tool: "t".repeat(5000), callId: "c".repeat(5000) })).end();
    const [span] = sdk.all;
    expect(span?.name.length).toBeLessThanOrEqual(256);
    expect(String(span?.attributes["gen_ai.tool.call.id"]).length).toBeLessThanOrEqual(256);
  });

  it("gives messages the form of the conventions", async () => {
    await using sdk = observed({ content: true });
    const input = [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Hi" },
          { type: "file", data: "AAAA" },
        ],
      },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", output: 1 }] },
    ];
    const output = [{ type: "tool-call", toolCallId: "c1", toolName: "look", input: {} }];
    const span = begin(modelSpan("p/m", input));
    recordAnswer(span, { ...answer, output });
    span.end();
    const { attributes } = sdk.one("chat p/m");
    expect(JSON.parse(String(attributes["gen_ai.input.messages"]))).toEqual([
      { role: "system", parts: [{ type: "text", content: "Be brief." }] },
      { role: "user", parts: [{ type: "text", content: "Hi" }, { type: "file" }] },
      { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: 1 }] },
    ]);
    expect(JSON.parse(String(attributes["gen_ai.output.messages"]))).toEqual([
      { role: "assistant", parts: [{ type: "tool_call", id: "c1", name: "look", arguments: {} }] },
    ]);
  });
});

describe("without registerOtel", () => {
  it("an SDK gets the spans of the roles, with no metrics and no content", async () => {
    await using sdk = observed("spans");
    begin(toolSpan(deploy)).end();
    expect(sdk.one("execute_tool deploy").attributes["gen_ai.tool.name"]).toBe("deploy");
    expect(sdk.text).not.toContain("xxx");
    expect((await sdk.measured()).size).toBe(0);
  });
});
