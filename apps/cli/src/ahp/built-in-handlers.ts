import type { AhpHandlers, AhpServer } from "@harnesskit/ahp-server";
import type { ConfirmationDecision, Decision, IdleDecision } from "@harnesskit/protocol/ahp";
import type { ShownEvent } from "./event-line.ts";
import { createQueryHandler } from "./state-query.ts";

/** What a harness without a policy says to who asks for permission. */
export type DefaultDecision = "allow" | "block" | "escalate";

export interface BuiltInOptions {
  readonly decision: DefaultDecision;
  /** The harness itself, whose state the queries are about. */
  readonly harness: () => Pick<AhpServer, "state" | "stats">;
  /** Told of each event, with the name of its decision where it has one. Must not throw. */
  readonly onEvent: (event: ShownEvent, decision?: string) => void;
}

const reasonOf = (decision: DefaultDecision): string =>
  `no policy decides this: the harness was started with --default ${decision}`;

const toGate = (decision: DefaultDecision): Decision =>
  decision === "allow" ? { decision } : { decision, reason: reasonOf(decision) };

const toConfirmation = (decision: DefaultDecision): ConfirmationDecision => {
  if (decision === "allow") return { decision: "approve" };
  return decision === "escalate" ? { decision } : { decision: "reject", reason: reasonOf(decision) };
};

const toIdle = (decision: DefaultDecision): IdleDecision =>
  decision === "allow" ? { decision } : { decision: "defer", reason: reasonOf(decision) };

/**
 * A harness without a policy. It has an answer only where one of the three decisions makes sense; the events that ask for
 * context, memory, a plan or the like have no handler, and so are not advertised.
 */
export const createBuiltInHandlers = ({ decision, harness, onEvent }: BuiltInOptions): AhpHandlers => {
  const answer = <D extends { readonly decision: string }>(event: ShownEvent, made: D): D => {
    onEvent(event, made.decision);
    return made;
  };
  const gate = toGate(decision);
  const confirmation = toConfirmation(decision);
  const idle = toIdle(decision);
  return {
    pre_action: (event) => answer(event, gate),
    pre_prompt: (event) => answer(event, gate),
    confirmation: (event) => answer(event, confirmation),
    idle: (event) => answer(event, idle),
    fallback: (event) => {
      onEvent(event);
      return { decision: "allow" };
    },
    query: createQueryHandler(harness),
  };
};
