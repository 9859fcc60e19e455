import { readFileSync } from "node:fs";
import type { OperationName, Operations } from "@harnesskit/wire/trace";
import { SpanStatusCode } from "@opentelemetry/api";
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { describe, expect, it } from "vitest";
import { conventionsVersion, mapping } from "../src/index.ts";
import { createOtelTracer } from "../src/otel-tracer.ts";
import { observed } from "./support/observed.ts";

const call = { tool: "shell", callId: "c1", status: "failed", code: "tool.failed" };
const decision = {
  eventType: "pre_action",
  sessionId: "s1",
  agentId: "a1",
  tool: "shell",
  decision: "block",
  rule: "r1",
};
const shell = {
  requestId: "q1",
  correlationId: "o1",
  sessionId: "s1",
  status: "success",
  actionTypes: ["open", "open"],
  isReplay: false,
};
const suspended = { signalId: "sig", metadata: { kind: "tool_approval", tool: "secret-tool" } };

/** Each operation with all that it can say, and what its span must be. */
type Samples = {
  readonly [K in OperationName]: {
    readonly details: Operations[K];
    readonly span: string;
    readonly attributes: object;
  };
};

const samples: Samples = {
  turnRequest: {
    details: { threadId: "t1", agent: "code" },
    span: "invoke_agent code",
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": "t1",
      "gen_ai.agent.name": "code",
    },
  },
  turn: {
    details: {
      threadId: "t1",
      turnId: "u1",
      agent: "code",
      isResumed: true,
      status: "completed",
      inputTokens: 3,
      outputTokens: 4,
    },
    span: "invoke_agent code",
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": "t1",
      "gen_ai.agent.name": "code",
      "gen_ai.usage.input_tokens": 3,
      "gen_ai.usage.output_tokens": 4,
      "harness.turn.id": "u1",
      "harness.turn.is_resumed": true,
      "harness.turn.status": "completed",
    },
  },
  model: {
    details: {
      provider: "anthropic",
      model: "claude",
      conversationId: "t1",
      responseModel: "claude-1",
      responseId: "r1",
      finishReason: "stop",
      inputTokens: 1,
      outputTokens: 2,
      cachedInputTokens: 3,
      reasoningTokens: 4,
    },
    span: "chat claude",
    attributes: {
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
    },
  },
  tool: {
    details: { ...call, description: "Runs it.", conversationId: "t1" },
    span: "execute_tool shell",
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.name": "shell",
      "gen_ai.tool.call.id": "c1",
      "gen_ai.tool.description": "Runs it.",
      "gen_ai.conversation.id": "t1",
      "harness.call.status": "failed",
      "error.type": "tool.failed",
    },
  },
  call: {
    details: call,
    span: "harness.core.call shell",
    attributes: {
      "gen_ai.tool.name": "shell",
      "gen_ai.tool.call.id": "c1",
      "harness.call.status": "failed",
      "error.type": "tool.failed",
    },
  },
  agentCall: {
    details: { tool: "shell", callId: "c1", status: "succeeded" },
    span: "harness.agent.call shell",
    attributes: {
      "gen_ai.tool.name": "shell",
      "gen_ai.tool.call.id": "c1",
      "harness.call.status": "succeeded",
    },
  },
  mcpCall: {
    details: { tool: "search", callId: "", code: "tool_error", protocolVersion: "2026-07-28" },
    span: "tools/call search",
    attributes: {
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "search",
      "mcp.protocol.version": "2026-07-28",
      "error.type": "tool_error",
    },
  },
  ...(Object.fromEntries(
    (["gate", "ask", "decide", "hook"] as const).map((kind) => [
      kind,
      {
        details: kind === "hook" ? { ...decision, host: "codex" } : decision,
        span: "harness.decision pre_action",
        attributes: {
          "harness.decision.by": { gate: "gate", ask: "client", decide: "harness", hook: "guard" }[kind],
          "harness.decision.event_type": "pre_action",
          "harness.decision.outcome": "block",
          "harness.decision.rule": "r1",
          "gen_ai.conversation.id": "s1",
          "gen_ai.agent.id": "a1",
          "harness.decision.tool": "shell",
          "openinference.span.kind": "GUARDRAIL",
          ...(kind === "hook" && { "harness.hook.host": "codex" }),
        },
      },
    ]),
  ) as unknown as Pick<Samples, "gate" | "ask" | "decide" | "hook">),
  approval: {
    details: {
      tool: "shell",
      approvalId: "apr1",
      conversationId: "s1",
      risk: "high",
      rule: "r1",
      answer: "approved",
      isByGrant: false,
    },
    span: "harness.approval shell",
    attributes: {
      "harness.approval.id": "apr1",
      "harness.approval.answer": "approved",
      "harness.approval.risk": "high",
      "harness.approval.rule": "r1",
      "harness.approval.is_by_grant": false,
      "gen_ai.conversation.id": "s1",
      "harness.approval.tool": "shell",
      "openinference.span.kind": "GUARDRAIL",
    },
  },
  answer: {
    details: { approvalId: "apr1", answer: "once" },
    span: "harness.approval.answer",
    attributes: {
      "harness.approval.id": "apr1",
      "harness.approval.answer": "once",
      "openinference.span.kind": "GUARDRAIL",
    },
  },
  chatTurn: {
    details: { sessionId: "s1", path: "signal_resume", outcome: "completed", ...suspended },
    span: "invoke_workflow chat",
    attributes: {
      "gen_ai.operation.name": "invoke_workflow",
      "gen_ai.workflow.name": "chat",
      "gen_ai.conversation.id": "s1",
      "openarmature.session_id": "s1",
      "harness.chat.path": "signal_resume",
      "harness.chat.outcome": "completed",
      "openarmature.suspension.signal_id": "sig",
      "openarmature.suspension.metadata.kind": "tool_approval",
    },
  },
  invocation: {
    details: {
      invocationId: "i1",
      correlationId: "o1",
      sessionId: "s1",
      entryNode: "ask",
      outcome: "suspended",
    },
    span: "openarmature.invocation",
    attributes: {
      "openarmature.invocation_id": "i1",
      "openarmature.correlation_id": "o1",
      "openarmature.session_id": "s1",
      "openarmature.graph.entry_node": "ask",
      "openarmature.outcome": "suspended",
    },
  },
  node: {
    details: {
      name: "wait",
      namespace: ["outer", "wait"],
      step: 2,
      attempt: 1,
      correlationId: "o1",
      fanOutIndex: 0,
      branchName: "left",
      fanOut: { item_count: 3, concurrency: 10, error_policy: "collect" },
      branches: { branch_names: ["left", "right"], error_policy: "fail_fast" },
      outcome: "suspended",
      ...suspended,
    },
    span: "wait",
    attributes: {
      "openarmature.node.name": "wait",
      "openarmature.node.namespace": ["outer", "wait"],
      "openarmature.node.step": 2,
      "openarmature.node.attempt_index": 1,
      "openarmature.node.fan_out_index": 0,
      "openarmature.node.branch_name": "left",
      "openarmature.correlation_id": "o1",
      "openarmature.fan_out.item_count": 3,
      "openarmature.fan_out.concurrency": 10,
      "openarmature.fan_out.error_policy": "collect",
      "openarmature.parallel_branches.branch_count": 2,
      "openarmature.parallel_branches.error_policy": "fail_fast",
      "openarmature.outcome": "suspended",
      "openarmature.suspension.signal_id": "sig",
      "openarmature.suspension.metadata.kind": "tool_approval",
    },
  },
  ...(Object.fromEntries(
    (["shellRequest", "engineRequest"] as const).map((kind) => [
      kind,
      {
        details: shell,
        span: "harness.shell.request",
        attributes: {
          "harness.shell.request.id": "q1",
          "harness.shell.correlation.id": "o1",
          "gen_ai.conversation.id": "s1",
          "harness.shell.status": "success",
          "harness.shell.action_types": ["open"],
          "harness.shell.is_replay": false,
        },
      },
    ]),
  ) as unknown as Pick<Samples, "shellRequest" | "engineRequest">),
};

const start = <K extends OperationName>(name: K) => {
  const { details } = samples[name];
  const operation = createOtelTracer().start(name, details);
  operation.set(details as Partial<Operations[K]>);
  return operation;
};

describe("the names of spans, attributes and metrics", () => {
  it.each(Object.keys(mapping) as OperationName[])("of %s are those of the mapping", async (name) => {
    await using sdk = observed();
    start(name).end();
    const { span, attributes } = samples[name];
    const ended = sdk.one(span);
    expect(ended.kind).toBe(mapping[name].kind);
    expect(ended.attributes).toEqual(attributes);
    const points = (await sdk.measured()).get(mapping[name].duration);
    const dimensions = Object.entries(attributes).filter(([key]) => mapping[name].dimensions.includes(key));
    expect(points).toMatchObject([{ attributes: Object.fromEntries(dimensions), value: { count: 1 } }]);
  });

  it("are the conventions' own where they begin with gen_ai, mcp or error, in the stated version", () => {
    const official = new Set(Object.values(conventions) as unknown[]);
    const used = Object.values(samples).flatMap(({ attributes }) => Object.keys(attributes));
    const metrics = Object.values(mapping).map(({ duration }) => duration);
    const ours = /^(?:harness|openarmature)\.|^openinference\.span\.kind$/;
    const foreign = [...used, ...metrics, "gen_ai.client.token.usage"].filter((name) => !ours.test(name));
    expect(foreign.filter((name) => !official.has(name))).toEqual([]);
    const own = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    expect(own.devDependencies["@opentelemetry/semantic-conventions"]).toBe(conventionsVersion);
  });

  it("say how many tokens a model used", async () => {
    await using sdk = observed();
    start("model").end();
    const points = (await sdk.measured()).get("gen_ai.client.token.usage");
    expect(points).toMatchObject([
      { attributes: { "gen_ai.token.type": "input", "gen_ai.request.model": "claude" }, value: { sum: 1 } },
      { attributes: { "gen_ai.token.type": "output" }, value: { sum: 2 } },
    ]);
  });
});

describe("an operation", () => {
  it("that fails says the error's code, and never its message", async () => {
    await using sdk = observed();
    const operation = createOtelTracer().start("call", { tool: "shell", callId: "c1" });
    operation.end(Object.assign(new Error("the password is hunter2"), { code: "tool.failed" }));
    operation.end();
    const { status, attributes, events } = sdk.one("harness.core.call shell");
    expect(status).toEqual({ code: SpanStatusCode.ERROR, message: "tool.failed" });
    expect(attributes).toMatchObject({ "error.type": "tool.failed" });
    expect(events).toEqual([]);
    expect(sdk.text).not.toContain("hunter2");
  });

  it("has no content unless that was asked for, and then it is bounded", async () => {
    const details = { tool: "shell", callId: "c1", input: { command: "x".repeat(10_000) } };
    {
      await using sdk = observed();
      createOtelTracer().start("tool", details).end();
      expect(sdk.text).not.toContain("xxx");
    }
    await using sdk = observed();
    const tracer = createOtelTracer({ content: true, maxContentLength: 100 });
    const operation = tracer.start("tool", details);
    operation.set({ output: { toJSON: () => 1n } });
    operation.end();
    const { attributes } = sdk.one("execute_tool shell");
    expect(attributes["gen_ai.tool.call.arguments"]).toMatch(/^\{"command":"x+… \[cut\]$/);
    expect(String(attributes["gen_ai.tool.call.arguments"])).toHaveLength(100);
    expect(attributes).not.toHaveProperty("gen_ai.tool.call.result");
  });

  it("bounds the names that a peer chose", async () => {
    await using sdk = observed();
    createOtelTracer()
      .start("call", { tool: "t".repeat(5000), callId: "c".repeat(5000) })
      .end();
    const [span] = sdk.all;
    expect(span?.name.length).toBeLessThanOrEqual(256);
    expect(String(span?.attributes["gen_ai.tool.call.id"]).length).toBeLessThanOrEqual(256);
  });

  it("gives messages the form of the conventions", async () => {
    await using sdk = observed();
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
    createOtelTracer({ content: true }).start("model", { provider: "p", model: "m", input, output }).end();
    const { attributes } = sdk.one("chat m");
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
