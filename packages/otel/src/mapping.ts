import type { OperationName, Operations } from "@harnesskit/wire/trace";
import { type Attributes, SpanKind } from "@opentelemetry/api";
import {
  callAttributes,
  callContent,
  decision,
  decisionAttributes,
  guardrail,
  shell,
  suspensionAttributes,
  suspensionContent,
  type Values,
} from "./attributes.ts";
import { boundedContent, toGenAiMessages } from "./content.ts";

/**
 * Every name that this package uses, in one place. `gen_ai.*`, `mcp.*` and `error.type` are of the semantic conventions in this version
 * (of `@opentelemetry/semantic-conventions`, where the GenAI part is in development); `openarmature.*` is what OpenArmature's
 * specifications of graphs, sessions and suspension name; `harness.*` is what no convention has a name for: decisions and approvals.
 * These have no `gen_ai.tool.*`, by which backends take a span for a run of a tool; `openinference.span.kind` says what they are.
 */
export const conventionsVersion = "1.45.0";

export const instrumentationName = "@harnesskit/otel";

/** How one kind of operation appears. */
export interface Mapping<K extends OperationName> {
  /** The span's name, from what is known at the start. */
  name(details: Operations[K]): string;
  readonly kind: SpanKind;
  /** Of every span of the kind. */
  readonly always?: Attributes;
  attributes(details: Partial<Operations[K]>): Values;
  /** Only with `content`. Values are bounded. */
  content?(details: Partial<Operations[K]>, maxLength: number): Values;
  /** The histogram of its duration, in seconds. */
  readonly duration: string;
  /** Attributes of the span that its metrics have, too: few values each. */
  readonly dimensions: readonly string[];
}

const { INTERNAL, CLIENT, SERVER } = SpanKind;

/** How each operation of `@harnesskit/wire/trace` appears in traces and metrics. */
export const mapping: { readonly [K in OperationName]: Mapping<K> } = {
  turnRequest: {
    name: ({ agent }) => `invoke_agent${agent === undefined ? "" : ` ${agent}`}`,
    kind: CLIENT,
    always: { "gen_ai.operation.name": "invoke_agent" },
    attributes: ({ threadId, agent }) => ({ "gen_ai.conversation.id": threadId, "gen_ai.agent.name": agent }),
    duration: "harness.client.turn.duration",
    dimensions: ["gen_ai.agent.name", "error.type"],
  },
  turn: {
    name: ({ agent }) => `invoke_agent ${agent}`,
    kind: SERVER,
    always: { "gen_ai.operation.name": "invoke_agent" },
    attributes: (details) => ({
      "gen_ai.conversation.id": details.threadId,
      "gen_ai.agent.name": details.agent,
      "gen_ai.usage.input_tokens": details.inputTokens,
      "gen_ai.usage.output_tokens": details.outputTokens,
      "harness.turn.id": details.turnId,
      "harness.turn.is_resumed": details.isResumed,
      "harness.turn.status": details.status,
    }),
    content: ({ input }, maxLength) => ({
      "gen_ai.input.messages": boundedContent(input && toGenAiMessages(input, "user"), maxLength),
    }),
    duration: "harness.turn.duration",
    dimensions: ["gen_ai.agent.name", "harness.turn.status", "harness.turn.is_resumed", "error.type"],
  },
  model: {
    name: ({ model }) => `chat ${model}`,
    kind: CLIENT,
    always: { "gen_ai.operation.name": "chat" },
    attributes: (details) => ({
      "gen_ai.provider.name": details.provider,
      "gen_ai.request.model": details.model,
      "gen_ai.conversation.id": details.conversationId,
      "gen_ai.response.model": details.responseModel,
      "gen_ai.response.id": details.responseId,
      "gen_ai.response.finish_reasons": details.finishReason && [details.finishReason],
      "gen_ai.usage.input_tokens": details.inputTokens,
      "gen_ai.usage.output_tokens": details.outputTokens,
      "gen_ai.usage.cache_read.input_tokens": details.cachedInputTokens,
      "gen_ai.usage.reasoning.output_tokens": details.reasoningTokens,
    }),
    content: ({ input, output }, maxLength) => ({
      "gen_ai.input.messages": boundedContent(input && toGenAiMessages(input, "user"), maxLength),
      "gen_ai.output.messages": boundedContent(output && toGenAiMessages(output, "assistant"), maxLength),
    }),
    duration: "gen_ai.client.operation.duration",
    dimensions: [
      "gen_ai.operation.name",
      "gen_ai.provider.name",
      "gen_ai.request.model",
      "gen_ai.response.model",
      "error.type",
    ],
  },
  tool: {
    name: ({ tool }) => `execute_tool ${tool}`,
    kind: INTERNAL,
    always: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function" },
    attributes: (details) => ({
      ...callAttributes(details),
      "gen_ai.conversation.id": details.conversationId,
      "gen_ai.tool.description": details.description,
    }),
    content: callContent,
    duration: "harness.tool.duration",
    dimensions: ["gen_ai.tool.name", "harness.call.status", "error.type"],
  },
  call: {
    name: ({ tool }) => `harness.core.call ${tool}`,
    kind: CLIENT,
    attributes: callAttributes,
    content: callContent,
    duration: "harness.core.call.duration",
    dimensions: ["gen_ai.tool.name", "harness.call.status", "error.type"],
  },
  agentCall: {
    name: ({ tool }) => `harness.agent.call ${tool}`,
    kind: SERVER,
    attributes: callAttributes,
    content: callContent,
    duration: "harness.agent.call.duration",
    dimensions: ["gen_ai.tool.name", "harness.call.status", "error.type"],
  },
  mcpCall: {
    name: ({ tool }) => `tools/call ${tool}`,
    kind: CLIENT,
    always: { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool" },
    attributes: ({ protocolVersion, ...details }) => ({
      ...callAttributes(details),
      "mcp.protocol.version": protocolVersion,
    }),
    content: callContent,
    duration: "mcp.client.operation.duration",
    dimensions: ["mcp.method.name", "gen_ai.tool.name", "error.type"],
  },
  gate: {
    ...decision,
    name: ({ eventType }) => `harness.decision ${eventType}`,
    kind: INTERNAL,
    always: { ...guardrail, "harness.decision.by": "gate" },
  },
  ask: {
    ...decision,
    name: ({ eventType }) => `harness.decision ${eventType}`,
    kind: CLIENT,
    always: { ...guardrail, "harness.decision.by": "client" },
  },
  decide: {
    ...decision,
    name: ({ eventType }) => `harness.decision ${eventType}`,
    kind: SERVER,
    always: { ...guardrail, "harness.decision.by": "harness" },
  },
  hook: {
    ...decision,
    name: ({ eventType }) => `harness.decision ${eventType}`,
    kind: SERVER,
    always: { ...guardrail, "harness.decision.by": "guard" },
    attributes: ({ host, ...details }) => ({ ...decisionAttributes(details), "harness.hook.host": host }),
  },
  approval: {
    name: ({ tool }) => `harness.approval ${tool}`,
    kind: INTERNAL,
    always: guardrail,
    attributes: (details) => ({
      "harness.approval.id": details.approvalId,
      "harness.approval.answer": details.answer,
      "harness.approval.risk": details.risk,
      "harness.approval.rule": details.rule,
      "harness.approval.is_by_grant": details.isByGrant,
      "gen_ai.conversation.id": details.conversationId,
      "harness.approval.tool": details.tool,
    }),
    content: ({ input }, maxLength) => ({ "harness.approval.input": boundedContent(input, maxLength) }),
    duration: "harness.approval.duration",
    dimensions: ["harness.approval.tool", "harness.approval.answer", "harness.approval.risk"],
  },
  answer: {
    name: () => "harness.approval.answer",
    kind: CLIENT,
    always: guardrail,
    attributes: ({ approvalId, answer }) => ({
      "harness.approval.id": approvalId,
      "harness.approval.answer": answer,
    }),
    duration: "harness.approval.answer.duration",
    dimensions: ["harness.approval.answer", "error.type"],
  },
  chatTurn: {
    name: () => "invoke_workflow chat",
    kind: INTERNAL,
    always: { "gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "chat" },
    attributes: (details) => ({
      "openarmature.session_id": details.sessionId,
      "gen_ai.conversation.id": details.sessionId,
      "harness.chat.path": details.path,
      "harness.chat.outcome": details.outcome,
      "openarmature.error.category": details.category,
      ...suspensionAttributes(details),
    }),
    content: suspensionContent,
    duration: "harness.chat.turn.duration",
    dimensions: ["harness.chat.path", "harness.chat.outcome", "openarmature.error.category"],
  },
  invocation: {
    name: () => "openarmature.invocation",
    kind: INTERNAL,
    attributes: (details) => ({
      "openarmature.invocation_id": details.invocationId,
      "openarmature.correlation_id": details.correlationId,
      "openarmature.session_id": details.sessionId,
      "openarmature.graph.entry_node": details.entryNode,
      "openarmature.outcome": details.outcome,
      "openarmature.error.category": details.category,
    }),
    duration: "harness.graph.invocation.duration",
    dimensions: ["openarmature.outcome", "openarmature.error.category"],
  },
  node: {
    name: ({ name }) => name,
    kind: INTERNAL,
    attributes: (details) => ({
      "openarmature.node.name": details.name,
      "openarmature.node.namespace": details.namespace && [...details.namespace],
      "openarmature.node.step": details.step,
      "openarmature.node.attempt_index": details.attempt,
      "openarmature.node.fan_out_index": details.fanOutIndex,
      "openarmature.node.branch_name": details.branchName,
      "openarmature.correlation_id": details.correlationId,
      "openarmature.fan_out.item_count": details.fanOut?.item_count,
      "openarmature.fan_out.concurrency": details.fanOut?.concurrency,
      "openarmature.fan_out.error_policy": details.fanOut?.error_policy,
      "openarmature.parallel_branches.branch_count": details.branches?.branch_names.length,
      "openarmature.parallel_branches.error_policy": details.branches?.error_policy,
      "openarmature.outcome": details.outcome === "suspended" ? "suspended" : undefined,
      "openarmature.error.category": details.category,
      ...suspensionAttributes(details),
    }),
    content: suspensionContent,
    duration: "harness.graph.node.duration",
    dimensions: ["openarmature.node.name", "openarmature.outcome", "openarmature.error.category"],
  },
  shellRequest: { ...shell, kind: CLIENT },
  engineRequest: { ...shell, kind: SERVER },
};

/** Tokens of one call of a model. */
export const tokenUsage = {
  name: "gen_ai.client.token.usage",
  type: "gen_ai.token.type",
  input: "gen_ai.usage.input_tokens",
  output: "gen_ai.usage.output_tokens",
} as const;

/** Where a session is bound, on each span and in log fields. */
export const sessionAttribute = "openarmature.session_id";
export const errorAttribute = "error.type";
