import { isCleanJson } from "../envelope/json.ts";
import { isRfc3339 } from "../rfc3339.ts";
import type { AhpEvent } from "./event.ts";
import { ahpEvents } from "./event-types.ts";

/**
 * Whether params of `ahp/event`, read by `JSON.parse`, are surely an event as its schema returns it: the required fields and no others. The
 * schema costs three times as much; what this function does not take may still be valid.
 */
export const isUsualEvent = (params: unknown): params is AhpEvent => {
  if (typeof params !== "object" || params === null) return false;
  const { event_type, session_id, agent_id, timestamp, depth, payload } = params as Record<string, unknown>;
  return (
    Object.keys(params).length === 6 &&
    typeof event_type === "string" &&
    Object.hasOwn(ahpEvents, event_type) &&
    typeof session_id === "string" &&
    typeof agent_id === "string" &&
    isRfc3339(timestamp) &&
    Number.isInteger(depth) &&
    (depth as number) >= 0 &&
    isCleanJson(payload)
  );
};
