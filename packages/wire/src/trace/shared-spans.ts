import { SpanKind } from "@opentelemetry/api";
import type { Span, SpanAttributes, SpanStart } from "./span.ts";

// The spans that several roles start, so that each has one set of names. `gen_ai.*` is of the semantic conventions of
// OpenTelemetry 1.45.0, where the GenAI part is in development; `harness.*` is what no convention has a name for.

/** Of decisions and approvals: OpenInference's kind of span for a check. They have no `gen_ai.tool.*`, by which backends find runs of tools. */
const guardrail = { "openinference.span.kind": "GUARDRAIL" } as const;

/** What a decision is about. */
export interface DecisionSubject {
  /** `pre_action`, `pre_prompt`, or another type of event. */
  readonly eventType: string;
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly tool?: string | undefined;
  readonly input?: unknown;
}

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
  { eventType, sessionId, agentId, tool, input }: DecisionSubject,
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

/** Attributes and content of a tool call. */
export const toolCall = (tool: string, callId: string | undefined, input: unknown) => ({
  attributes: { "gen_ai.tool.name": tool, "gen_ai.tool.call.id": callId },
  content: { "gen_ai.tool.call.arguments": input },
});

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
}): SpanStart => {
  const { attributes, content } = toolCall(call.tool, call.callId, call.input);
  return {
    name: `execute_tool ${call.tool}`,
    attributes: {
      ...attributes,
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.description": call.description,
      "gen_ai.conversation.id": call.conversationId,
    },
    content,
    metric: "harness.tool.duration",
  };
};
