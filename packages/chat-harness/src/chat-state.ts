import type { CompiledGraph, Fields, SessionOptions } from "@harnesskit/graph";
import type { ChatMessage } from "@harnesskit/protocol/chat";
import { ChatHarnessError } from "./chat-harness-error.ts";
import type { MessagesField } from "./messages-field.ts";

/** The fields of a conversation's state: `messages`, and whatever else the application declares. */
export type ChatFields = Fields & { readonly messages: MessagesField };

/** The history in a state of a conversation, shared and not copied. */
export const messagesOf = (state: unknown): readonly ChatMessage[] =>
  (state as { readonly messages: readonly ChatMessage[] }).messages;

/** Throws `messages_field_invalid` unless the state has a history and the session keeps it. */
export const demandMessages = <F extends ChatFields>(
  { state }: CompiledGraph<F>,
  kept: SessionOptions<F>["fields"] = "all",
): void => {
  const field = Object.hasOwn(state.fields, "messages") ? state.fields.messages : undefined;
  if (field === undefined) {
    const message = "the state of a conversation needs a field messages; messagesField() declares it";
    throw new ChatHarnessError("messages_field_invalid", message);
  }
  if (field.reducer !== "append") {
    const message = `the reducer of messages is ${field.reducer}; a conversation needs append`;
    throw new ChatHarnessError("messages_field_invalid", message);
  }
  const names: readonly string[] = Array.isArray(kept) ? kept : Object.keys(kept);
  if (kept !== "all" && !names.includes("messages")) {
    throw new ChatHarnessError("messages_field_invalid", "the session does not keep the field messages");
  }
};
