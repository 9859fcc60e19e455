import { describe, expectTypeOf, it } from "vitest";
import type { Fact } from "../src/ahp/common.ts";
import type {
  AhpEventType,
  BatchableEventType,
  BlockingEventType,
  Decision,
  DecisionFor,
  EventPayload,
  EventPayloadInput,
  NotificationEventType,
  RateLimitDecision,
  RunLifecycle,
  TaskList,
  Verification,
} from "../src/ahp/index.ts";
import type { JsonObject, JsonValue } from "../src/envelope/index.ts";

type Specialised =
  | "idle"
  | "intent_detection"
  | "context_perception"
  | "memory_recall"
  | "planning"
  | "reasoning"
  | "rate_limit"
  | "confirmation";

describe("the types of the events", () => {
  it("fall into the classes of the protocol", () => {
    expectTypeOf<BlockingEventType>().toEqualTypeOf<Specialised | "pre_action" | "pre_prompt">();
    expectTypeOf<NotificationEventType>().toEqualTypeOf<Exclude<AhpEventType, BlockingEventType>>();
    expectTypeOf<BatchableEventType>().toEqualTypeOf<Exclude<AhpEventType, Specialised>>();
  });

  it("have each its own decision", () => {
    expectTypeOf<DecisionFor<"pre_action" | "pre_prompt" | "heartbeat">>().toEqualTypeOf<Decision>();
    expectTypeOf<DecisionFor<"rate_limit">>().toEqualTypeOf<RateLimitDecision>();
  });

  it("have decisions that are told apart by one field", () => {
    expectTypeOf<DecisionFor<"idle">["decision"]>().toEqualTypeOf<"allow" | "defer">();
    expectTypeOf<Decision["decision"]>().toEqualTypeOf<"allow" | "block" | "modify" | "defer" | "escalate">();
    expectTypeOf<Extract<Decision, { decision: "modify" }>["modified_payload"]>().toEqualTypeOf<JsonValue>();
    expectTypeOf<
      Extract<DecisionFor<"memory_recall">, { decision: "allow" }>["injected_facts"]
    >().toEqualTypeOf<Fact[]>();
    expectTypeOf<Extract<RateLimitDecision, { decision: "queue" }>>().toEqualTypeOf<{ decision: "queue" }>();
  });

  it("have payloads of their own, or any JSON", () => {
    expectTypeOf<EventPayload<"pre_action">>().toEqualTypeOf<JsonValue>();
    expectTypeOf<EventPayload<"run_lifecycle">>().toEqualTypeOf<RunLifecycle>();
    expectTypeOf<EventPayload<"task_list">>().toEqualTypeOf<TaskList>();
    expectTypeOf<EventPayload<"verification">>().toEqualTypeOf<Verification>();
    expectTypeOf<EventPayload<"reasoning">["reasoning_type"]>().toEqualTypeOf<
      "chain_of_thought" | "tree_of_thoughts" | "re_act" | "reflexion" | { other: string }
    >();
    expectTypeOf<EventPayload<"rate_limit">["limit_type"]>().toEqualTypeOf<
      | "llm_token_limit"
      | "llm_request_limit"
      | "api_request_limit"
      | "tool_execution_limit"
      | { custom: string }
    >();
  });

  it("let the caller leave out what has a default, and give it to the handler", () => {
    type Input = EventPayloadInput<"context_perception">;
    type Output = EventPayload<"context_perception">;
    const input = {
      session_id: "s",
      intent: "understand",
      target: { location: { path: ".", location_type: "workspace" } },
      context: { workspace: "/repo" },
    } as const;
    expectTypeOf(input).toExtend<Input>();
    expectTypeOf(input).not.toExtend<Output>();
    expectTypeOf<Output["freshness"]>().toEqualTypeOf<"realtime" | "recent" | "static">();
    expectTypeOf<Output["constraints"]["include_sources"]>().toEqualTypeOf<boolean>();
    expectTypeOf<Output["metadata"]>().toEqualTypeOf<JsonObject | undefined>();
    expectTypeOf<Input["domain"]>().toEqualTypeOf<Output["domain"] | undefined>();
  });
});
