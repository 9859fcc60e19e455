import type { Span, SpanAttributes, SpanStart } from "./span.ts";
import { SpanKind } from "./span-kind.ts";

// The spans that several roles start, so that each has one set of names. `gen_ai.*` is of the semantic conventions of
// OpenTelemetry 1.45.0, where the GenAI part is in development; `harness.*` is what no convention has a name for.

/** Of decisions and approvals: OpenInference's kind of span for a check. They have no `gen_ai.tool.*`, by which backends find runs of tools. */
const guardrail = { "openinference.span.kind": "GUARDRAIL" } as const;

/** What a decision is about. */
interface DecisionSubject {
  /** `pre_action`, `pre_prompt`, or another type of event. */
  readonly eventType: string;
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
  /** @default the `tool_name` of the input: a payload that is about a tool names it */
  readonly tool?: string | undefined;
  readonly input?: unknown;
}

const namedTool = (input: unknown): string | undefined => {
  const { tool_name: tool } = (input ?? {}) as { readonly tool_name?: unknown };
  return typeof tool === "string" ? tool : undefined;
};

/** Who decides, and how that is seen from here. */
const deciders = {
  /** A gate judges a call or a prompt. */
  gate: SpanKind.INTERNAL,
  /** An agent asks its harness. */
  client: SpanKind.CLIENT,
  /** A harness decides. */
  harness: SpanKind.SERVER,
  /** The guard answers a hook of a coding agent. */
  guard: SpanKind.SERVER,
} as const;

/** A decision about one action. */
export const decisionSpan = (
  by: keyof typeof deciders,
  { eventType, sessionId, agentId, input, tool = namedTool(input) }: DecisionSubject,
): SpanStart => ({
  name: `harness.decision ${eventType}`,
  kind: deciders[by],
  attributes: {
    ...guardrail,
    "harness.decision.by": by,
    "harness.decision.event_type": eventType,
    "harness.decision.tool": tool,
    "gen_ai.conversation.id": sessionId,
    "gen_ai.agent.id": agentId,
  },
  content: { "harness.decision.input": input },
  metric: "harness.decision.duration",
});

/** What was decided, and by which rule. */
export const decided = (decision: string, rule?: string): SpanAttributes => ({
  "harness.decision.outcome": decision,
  "harness.decision.rule": rule,
});

/** A question to a human, and its answer. */
export interface AnsweredApproval extends Pick<SpanStart, "parent" | "links" | "startedAtMs"> {
  readonly tool: string;
  readonly approvalId: string;
  readonly conversationId?: string | undefined;
  readonly input?: unknown;
  /** `approved`, `rejected`, `expired`, `unattended`, `withdrawn`, … */
  readonly answer: string;
  /** Risk, rule and grant, by their attributes. */
  readonly more?: SpanAttributes | undefined;
}

/**
 * A question to a human, from its asking to its answer, whichever processes were there meanwhile: it belongs to what asked, and links
 * to what answered. Begun when the answer is stored.
 */
export const approvalSpan = (approval: AnsweredApproval): SpanStart => {
  const { tool, approvalId, conversationId, answer, input, more, parent, links, startedAtMs } = approval;
  return {
    name: `harness.approval ${tool}`,
    attributes: {
      ...guardrail,
      "harness.approval.id": approvalId,
      "harness.approval.tool": tool,
      "harness.approval.answer": answer,
      "gen_ai.conversation.id": conversationId,
      ...more,
    },
    content: { "harness.approval.input": input },
    metric: "harness.approval.duration",
    parent,
    links,
    startedAtMs,
  };
};

/** A client answers an approval. */
export const answerSpan = (approvalId: string, answer: string): SpanStart => ({
  name: "harness.approval.answer",
  kind: SpanKind.CLIENT,
  attributes: { ...guardrail, "harness.approval.id": approvalId, "harness.approval.answer": answer },
  metric: "harness.approval.answer.duration",
});

/** A turn of a thread, at the client that started it or at its server. */
export const agentSpan = (side: "client" | "server", threadId: string, agent: string | undefined) => ({
  name: agent === undefined ? "invoke_agent" : `invoke_agent ${agent}`,
  kind: side === "client" ? SpanKind.CLIENT : SpanKind.SERVER,
  attributes: {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.conversation.id": threadId,
    "gen_ai.agent.name": agent,
  },
  metric: side === "client" ? "harness.client.turn.duration" : "harness.turn.duration",
});

/** A call of a tool in another process: `core` calls an agent, and `agent` runs it; `mcp` calls a server. */
export const remoteCallSpan = (
  by: "core" | "agent" | "mcp",
  tool: string,
  callId: string | undefined,
  input: unknown,
): SpanStart => {
  const isMcp = by === "mcp";
  const method = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool" };
  return {
    name: isMcp ? `tools/call ${tool}` : `harness.${by}.call ${tool}`,
    kind: by === "agent" ? SpanKind.SERVER : SpanKind.CLIENT,
    attributes: { "gen_ai.tool.name": tool, "gen_ai.tool.call.id": callId, ...(isMcp && method) },
    content: { "gen_ai.tool.call.arguments": input },
    metric: isMcp ? "mcp.client.operation.duration" : `harness.${by}.call.duration`,
  };
};

/** How a tool call has ended. */
export const recordOutcome = (
  span: Span | undefined,
  outcome: { readonly status: string; readonly code?: string | undefined; readonly output?: unknown },
): void => {
  span?.set({ "harness.call.status": outcome.status });
  span?.content({ "gen_ai.tool.call.result": outcome.output });
  span?.fail(outcome.code);
};

/** A tool runs for a model. */
export const toolSpan = (call: {
  readonly tool: string;
  readonly callId: string;
  readonly description?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly input: unknown;
}): SpanStart => ({
  name: `execute_tool ${call.tool}`,
  attributes: {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.type": "function",
    "gen_ai.tool.name": call.tool,
    "gen_ai.tool.call.id": call.callId,
    "gen_ai.tool.description": call.description,
    "gen_ai.conversation.id": call.conversationId,
  },
  content: { "gen_ai.tool.call.arguments": call.input },
  metric: "harness.tool.duration",
});

const suspensionPrefix = "openarmature.suspension.metadata";

/** Keys of a suspension's metadata that say what kind of question it is, and nothing of what was asked. */
const plainKeys: ReadonlySet<string> = new Set(["kind", "timeout_hint", "fan_out_index", "branch_name"]);

/** Adds the suspension that a span waits for or goes on from, as OpenArmature names it; most of its metadata is content. */
export const recordSuspension = (
  span: Span | undefined,
  signalId: string,
  metadata: Readonly<Record<string, unknown>> = {},
): void => {
  if (span === undefined) return;
  const entries = Object.entries(metadata).slice(0, 64);
  const plain = entries.filter(([key]) => plainKeys.has(key));
  const toText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  span.set({
    "openarmature.suspension.signal_id": signalId,
    ...Object.fromEntries(plain.map(([key, value]) => [`${suspensionPrefix}.${key}`, toText(value)])),
  });
  span.content(
    Object.fromEntries(entries.map(([key, value]) => [`${suspensionPrefix}.${key.slice(0, 128)}`, value])),
  );
};
