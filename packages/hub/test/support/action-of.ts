import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { canonicalJson, HarnessError } from "@harnesskit/wire";
import { readEvent } from "../../src/desk/read-event.ts";
import { subjectOf } from "../../src/desk/subject.ts";

/** What a human would be asked about, as canonical JSON; undefined for what cannot be asked about. */
export const actionOf = (type: AhpEventType, payload: JsonObject): string | undefined => {
  const event = {
    ...{ event_type: type, session_id: "s", agent_id: "a", timestamp: "2026-01-01T00:00:00Z", depth: 0 },
    payload,
  };
  try {
    return canonicalJson(subjectOf(type, readEvent(event)));
  } catch (error) {
    if (HarnessError.isInstance(error) && error.code === "invalid_argument") return undefined;
    throw error;
  }
};
