import type { Operations, TracedCall, TracedDecision, TracedShellRequest } from "@harnesskit/wire/trace";
import type { AttributeValue } from "@opentelemetry/api";
import { boundedContent, toGenAiMessages } from "./content.ts";

/** Attributes by their names; what is undefined or null is left out. */
export type Values = { readonly [name: string]: AttributeValue | null | undefined };

export const callAttributes = ({ tool, callId, status }: Partial<TracedCall>): Values => ({
  "gen_ai.tool.name": tool,
  "gen_ai.tool.call.id": callId || undefined,
  "harness.call.status": status,
});

export const callContent = ({ input, output }: Partial<TracedCall>, maxLength: number): Values => ({
  "gen_ai.tool.call.arguments": boundedContent(input, maxLength),
  "gen_ai.tool.call.result": boundedContent(output, maxLength),
});

export const decisionAttributes = (details: Partial<TracedDecision>): Values => ({
  "harness.decision.event_type": details.eventType,
  "harness.decision.outcome": details.decision,
  "harness.decision.rule": details.rule,
  "gen_ai.conversation.id": details.sessionId,
  "gen_ai.agent.id": details.agentId,
  "harness.decision.tool": details.tool,
});

/** Of decisions and approvals, which no convention of OpenTelemetry names: OpenInference's kind of span for a check. */
export const guardrail = { "openinference.span.kind": "GUARDRAIL" };

export const decision = {
  attributes: decisionAttributes,
  content: ({ input }: Partial<TracedDecision>, maxLength: number) => ({
    "harness.decision.input": boundedContent(input, maxLength),
  }),
  duration: "harness.decision.duration",
  dimensions: [
    "harness.decision.event_type",
    "harness.decision.outcome",
    "harness.decision.by",
    "error.type",
  ],
};

export const shell = {
  name: () => "harness.shell.request",
  attributes: (details: Partial<TracedShellRequest>): Values => ({
    "harness.shell.request.id": details.requestId,
    "harness.shell.correlation.id": details.correlationId,
    "gen_ai.conversation.id": details.sessionId,
    "harness.shell.status": details.status,
    "harness.shell.action_types": details.actionTypes && [...new Set(details.actionTypes)].slice(0, 32),
    "harness.shell.is_replay": details.isReplay,
  }),
  content: ({ input }: Partial<TracedShellRequest>, maxLength: number) => ({
    "gen_ai.input.messages": boundedContent(input && toGenAiMessages(input, "user"), maxLength),
  }),
  duration: "harness.shell.request.duration",
  dimensions: ["harness.shell.status", "error.type"],
};

type SuspensionDetails = Pick<Operations["node"], "signalId" | "metadata">;

/** Keys of a suspension's metadata that say what kind of question it is, and nothing of what was asked. */
const plainMetadata: ReadonlySet<string> = new Set(["kind", "timeout_hint", "fan_out_index", "branch_name"]);

export const suspensionAttributes = ({ signalId, metadata = {} }: SuspensionDetails): Values => {
  const plain = Object.entries(metadata).filter(([key]) => plainMetadata.has(key));
  return {
    "openarmature.suspension.signal_id": signalId,
    ...Object.fromEntries(
      plain.map(([key, value]) => [`openarmature.suspension.metadata.${key}`, boundedContent(value, 256)]),
    ),
  };
};

export const suspensionContent = ({ metadata = {} }: SuspensionDetails, maxLength: number): Values =>
  Object.fromEntries(
    Object.entries(metadata)
      .slice(0, 64)
      .map(([key, value]) => [
        `openarmature.suspension.metadata.${key.slice(0, 128)}`,
        boundedContent(value, maxLength),
      ]),
  );
