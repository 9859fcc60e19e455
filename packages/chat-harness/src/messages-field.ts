import { append, type Field } from "@harnesskit/graph";
import { type ChatMessage, ChatMessageSchema } from "@harnesskit/protocol/chat";

/** The field that a conversation is kept in: a list of messages that only grows. */
export type MessagesField = Field<readonly ChatMessage[], readonly ChatMessage[]>;

/**
 * Declares the history of a conversation, for the field `messages` of a graph's state: a list of chat messages with the
 * reducer `append`, empty at first (section "Conversation history convention"). A state may as well declare it with
 * `append(ChatMessageSchema)`.
 */
export const messagesField = (): MessagesField => append(ChatMessageSchema);
