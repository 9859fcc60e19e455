import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import type { AnyDecision } from "../rules/decision-maker.ts";

/** What comes next to a block for each type of event: nothing that lets the agent go on as it asked. */
export const refuse = (type: AhpEventType, reason: string): AnyDecision => {
  switch (type) {
    case "idle":
      return { decision: "defer", reason };
    case "rate_limit":
      return { decision: "skip", reason };
    case "confirmation":
      return { decision: "reject", reason };
    default:
      return { decision: "block", reason };
  }
};

/** What a policy that only looks on answers. */
export const inertDecision = (type: AhpEventType): AnyDecision | undefined => {
  if (!ahpEvents[type].specialised || type === "idle") return { decision: "allow" };
  return type === "confirmation" ? { decision: "escalate" } : undefined;
};
