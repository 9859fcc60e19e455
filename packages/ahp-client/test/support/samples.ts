import {
  type AhpEvent,
  type AhpEventType,
  ahpEvents,
  type BlockingEventType,
  type NotificationEventType,
} from "@harnesskit/protocol/ahp";
import { payloads } from "../../../../test-kit/ahp-payloads.ts";

export { payloads };

const fact = { content: "c", source: "s", confidence: 0.5 };

/** What a harness that agrees decides, and no client may make up. */
export const agreements = {
  pre_action: { decision: "allow", metadata: { by: "harness" } },
  pre_prompt: { decision: "modify", modified_payload: { prompt: "goodbye" } },
  idle: { decision: "allow" },
  intent_detection: { decision: "allow", detected_intent: "locate", confidence: 0.9 },
  context_perception: { decision: "allow", injected_context: { facts: [fact], knowledge: ["k"] } },
  memory_recall: { decision: "allow", injected_facts: [fact] },
  planning: { decision: "allow", selected_strategy: { custom: "mine" } },
  reasoning: { decision: "allow", hints: ["h"] },
  rate_limit: { decision: "retry", retry_after_ms: 5 },
  confirmation: { decision: "approve" },
} as const satisfies Record<BlockingEventType, unknown>;

/** What is safe, but for the reason. */
export const refusals = {
  pre_action: "block",
  pre_prompt: "block",
  idle: "defer",
  intent_detection: "block",
  context_perception: "block",
  memory_recall: "block",
  planning: "block",
  reasoning: "block",
  rate_limit: "skip",
  confirmation: "reject",
} as const satisfies Record<BlockingEventType, string>;

const types = Object.keys(ahpEvents) as AhpEventType[];
export const blockingTypes = types.filter((type) => ahpEvents[type].blocking) as BlockingEventType[];
export const notificationTypes = types.filter((type) => !ahpEvents[type].blocking) as NotificationEventType[];
export const specialisedTypes = blockingTypes.filter((type) => ahpEvents[type].specialised);

/** A whole event that nothing but its caller could have made. */
export const fullEvent = (type: AhpEventType, more: Partial<AhpEvent> = {}): any => ({
  event_type: type,
  session_id: "ses_other",
  agent_id: "agent_other",
  timestamp: "2026-05-01T00:00:00Z",
  depth: 3,
  payload: payloads[type],
  context: { current_task: "run tests", recent_facts: [fact] },
  metadata: { trace: "t1", nothing: null },
  ...more,
});

/** A harness's answer to the handshake. */
export const handshakeResult = (more: object = {}) => ({
  protocol_version: "2.4",
  harness_info: { name: "fake", version: "1.0.0", capabilities: [...types, "query", "batch"] },
  ...more,
});
