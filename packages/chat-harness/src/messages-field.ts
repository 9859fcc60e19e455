import { append, type CompiledGraph, type Field, type Fields, type SessionOptions } from "@harnesskit/graph";
import { type ChatMessage, ChatMessageSchema } from "@harnesskit/protocol/chat";
import { ChatHarnessError } from "./errors.ts";

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

/** Where in the history a resumed turn has added messages before it paused again: from one index up to another. */
export type Added = readonly (readonly [from: number, to: number])[];

/** What this part of a turn has added: from where it began to where it ended. */
export const addedNow = ({
  entry_state: entry,
  state,
}: {
  readonly entry_state: unknown;
  readonly state: unknown;
}): [number, number] => [messagesOf(entry).length, messagesOf(state).length];

/**
 * The messages of a state in these places. New ones are found by index, behind the inbound message (section "Outbound assistant
 * message → response wiring").
 */
export const messagesIn = (state: unknown, places: Added): ChatMessage[] =>
  places.flatMap(([from, to]) => messagesOf(state).slice(from, to));
