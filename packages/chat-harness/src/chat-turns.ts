import type { CompletedOutcome, StateOf, SuspendedOutcome } from "@harnesskit/graph";
import type { ChatMessage, ChatTurnOutcome, ErroredTurn } from "@harnesskit/protocol/chat";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import * as z from "zod";
import { type ChatFields, messagesOf } from "./chat-state.ts";
import type { Failure } from "./failure.ts";
import type { TurnShape } from "./turn-shape.ts";

const place = z.int().nonnegative();

/** Where in the history a resumed turn has added messages before it paused again: from one index up to another. */
const AddedSchema = z.array(z.tuple([place, place]));
type Added = z.infer<typeof AddedSchema>;

const addedBefore = (memo: JsonValue): Added => {
  const parsed = AddedSchema.safeParse(memo);
  return parsed.success ? parsed.data : [];
};

/** What this part of a turn has added: from where it began to where it ended. */
const addedNow = ({
  entry_state: entry,
  state,
}: {
  entry_state: unknown;
  state: unknown;
}): [number, number] => [messagesOf(entry).length, messagesOf(state).length];

const slices = (state: unknown, places: Added): ChatMessage[] => {
  const messages = messagesOf(state);
  return places.flatMap(([from, to]) => messages.slice(from, to));
};

export interface ChatTurnsOptions {
  readonly errored: (failure: Failure) => ErroredTurn;
  readonly includeFinalState: boolean;
}

/**
 * Makes turns of a conversation out of ends of invocations: what is new is found by index, from where the turn began with the
 * inbound message in its place (section "Outbound assistant message → response wiring").
 */
export const createChatTurns = <F extends ChatFields>({
  errored,
  includeFinalState,
}: ChatTurnsOptions): TurnShape<F, ChatTurnOutcome> => ({
  completed(outcome: CompletedOutcome<StateOf<F>>, memo: JsonValue) {
    const replies = slices(outcome.state, [...addedBefore(memo), addedNow(outcome)]);
    const state = outcome.state as unknown as JsonObject;
    return { outcome: "completed", replies, ...(includeFinalState ? { final_state: state } : {}) };
  },
  suspended(outcome: SuspendedOutcome<StateOf<F>>) {
    return {
      outcome: "suspended",
      signal_descriptor: outcome.descriptor,
      pending_messages: slices(outcome.state, [addedNow(outcome)]),
      invocation_id: outcome.invocation_id,
    };
  },
  errored,
  memo: (outcome, isResumed, before) => (isResumed ? [...addedBefore(before), addedNow(outcome)] : []),
  kept(turn) {
    if (turn.outcome !== "completed") return turn as unknown as JsonValue;
    const { outcome, replies, dispatch_path } = turn;
    return { outcome, replies, ...(dispatch_path && { dispatch_path }) } as unknown as JsonValue;
  },
  payloadProblem: (payload) =>
    Object.hasOwn(payload, "messages")
      ? "payload.messages: the history of a conversation is not replaced by a signal"
      : undefined,
});
