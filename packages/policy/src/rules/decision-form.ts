import { type AhpEventType, ahpEvents, type DecisionFor } from "@harnesskit/protocol/ahp";

/** A decision of any event's type. */
export type AnyDecision = DecisionFor<AhpEventType>;

type Fields = Readonly<Record<string, unknown>>;

/** The keys of a decision that its type has; a string that says why where it is not a decision of the type. */
export const keysOfDecision = (type: AhpEventType, decision: Fields): ReadonlySet<string> | string => {
  const result = ahpEvents[type].decision.safeParse(decision);
  if (result.success) return new Set(Object.keys(result.data));
  const [issue] = result.error.issues;
  if (issue?.code === "invalid_union" || issue?.path[0] === "decision")
    return `${type} has no ${decision.decision}`;
  return `${issue?.path.join(".")}: ${issue?.message}`;
};

/** Which fields for an explanation a decision of a type has. */
export interface Room {
  readonly reason: boolean;
  readonly metadata: boolean;
}

/** By type and word: at most the words of the protocol. */
const rooms = new Map<string, Room>();

/** Where a decision of this type can explain itself. */
export const roomFor = (type: AhpEventType, decision: Fields): Room => {
  const id = `${type} ${decision.decision}`;
  const known = rooms.get(id);
  if (known) return known;
  const keys = keysOfDecision(type, { ...decision, reason: "", metadata: {} });
  // A decision that lacks a field of its own says nothing about its word.
  if (typeof keys === "string") return { reason: false, metadata: false };
  const room = { reason: keys.has("reason"), metadata: keys.has("metadata") };
  rooms.set(id, room);
  return room;
};

/** The refusal of each type of event: it never lets the agent continue as it asked. */
export const refusalFor = (type: AhpEventType, reason: string): AnyDecision => {
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

/** The answer of a policy in shadow. */
export const inertDecision = (type: AhpEventType): AnyDecision | undefined => {
  if (!ahpEvents[type].specialised || type === "idle") return { decision: "allow" };
  return type === "confirmation" ? { decision: "escalate" } : undefined;
};
