import {
  append,
  type CompiledGraph,
  type CompletedOutcome,
  type Field,
  type Fields,
  type SessionOptions,
  type StateOf,
  type SuspendedOutcome,
} from "@harnesskit/graph";
import {
  type ChatMessage,
  ChatMessageSchema,
  type ChatTurnOutcome,
  type ErroredTurn,
} from "@harnesskit/protocol/chat";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import * as z from "zod";
import { ChatHarnessError, type Failure } from "./errors.ts";

/** The field of a conversation's history: a list of messages that only grows. */
export type MessagesField = Field<readonly ChatMessage[], readonly ChatMessage[]>;

/**
 * Declares the history of a conversation, for the field `messages` of a graph's state: a list of chat messages with the
 * reducer `append`, empty at first (section "Conversation history convention"). `append(ChatMessageSchema)` is the same.
 */
export const messagesField = (): MessagesField => append(ChatMessageSchema);

/** The fields of a conversation's state: `messages`, and those that the application declares. */
export type ChatFields = Fields & { readonly messages: MessagesField };

/** The history in a state of a conversation, shared and not copied. */
export const messagesOf = (state: unknown): readonly ChatMessage[] =>
  (state as { readonly messages: readonly ChatMessage[] }).messages;

/** Throws `messages_field_invalid` unless the state has a history and the session keeps it. */
export const demandMessages = <F extends ChatFields>(
  { state }: CompiledGraph<F>,
  kept: SessionOptions<F>["fields"] = "all",
): void => {
  const invalid = (message: string) => new ChatHarnessError("messages_field_invalid", message);
  const field = Object.hasOwn(state.fields, "messages") ? state.fields.messages : undefined;
  if (field === undefined) {
    throw invalid("the state of a conversation needs a field messages; messagesField() declares it");
  }
  if (field.reducer !== "append") {
    throw invalid(`the reducer of messages is ${field.reducer}; a conversation needs append`);
  }
  const names: readonly string[] = Array.isArray(kept) ? kept : Object.keys(kept);
  if (kept !== "all" && !names.includes("messages")) {
    throw invalid("the session does not keep the field messages");
  }
};

const IndexSchema = z.int().nonnegative();

/** Where in the history a resumed turn has added messages before it paused again: from one index up to another. */
const AddedSchema = z.array(z.tuple([IndexSchema, IndexSchema]));
type Added = z.infer<typeof AddedSchema>;

const addedBefore = (memo: JsonValue): Added => AddedSchema.safeParse(memo).data ?? [];

interface States {
  readonly entry_state: unknown;
  readonly state: unknown;
}

/** What this part of a turn has added: from where it began to where it ended. */
const addedNow = ({ entry_state: entry, state }: States): [number, number] => [
  messagesOf(entry).length,
  messagesOf(state).length,
];

const slices = (state: unknown, places: Added): ChatMessage[] => {
  const messages = messagesOf(state);
  return places.flatMap(([from, to]) => messages.slice(from, to));
};

/**
 * Makes the turns of a conversation from the ends of invocations. New messages are found by index, behind the inbound message
 * (section "Outbound assistant message → response wiring"). A memo is what is kept with a pause; null before the first.
 */
export class ChatTurns<F extends ChatFields> {
  constructor(
    readonly errored: (failure: Failure) => ErroredTurn,
    readonly includeFinalState: boolean,
  ) {}

  completed(outcome: CompletedOutcome<StateOf<F>>, memo: JsonValue): ChatTurnOutcome {
    const replies = slices(outcome.state, [...addedBefore(memo), addedNow(outcome)]);
    const state = outcome.state as unknown as JsonObject;
    return { outcome: "completed", replies, final_state: this.includeFinalState ? state : undefined };
  }

  suspended(outcome: SuspendedOutcome<StateOf<F>>): ChatTurnOutcome {
    return {
      outcome: "suspended",
      signal_descriptor: outcome.descriptor,
      pending_messages: slices(outcome.state, [addedNow(outcome)]),
      invocation_id: outcome.invocation_id,
    };
  }

  /** What is kept with a pause, for the end of the turn. */
  memo(outcome: SuspendedOutcome<StateOf<F>>, isResumed: boolean, before: JsonValue): JsonValue {
    return isResumed ? [...addedBefore(before), addedNow(outcome)] : [];
  }

  /** What is stored of the end of a resumed turn until it is delivered. */
  stored(turn: ChatTurnOutcome): JsonValue {
    if (turn.outcome !== "completed") return turn as unknown as JsonValue;
    const { final_state: _, ...stored } = turn;
    return stored as unknown as JsonValue;
  }
}
