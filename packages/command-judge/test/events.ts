import type { AhpEvent, AhpEventType } from "@harnesskit/protocol/ahp";

/** An event about a tool. */
export const toolEvent = (
  tool: string,
  args: Record<string, unknown> = {},
  more: Partial<AhpEvent> = {},
): AhpEvent =>
  ({
    event_type: "pre_action",
    session_id: "s1",
    agent_id: "a1",
    timestamp: "2026-05-01T00:00:00Z",
    depth: 0,
    payload: { tool_name: tool, arguments: args },
    ...more,
  }) as AhpEvent;

export const eventOf = (event_type: AhpEventType, payload: unknown, more: Partial<AhpEvent> = {}): AhpEvent =>
  toolEvent("", {}, { event_type, payload: payload as AhpEvent["payload"], ...more });
