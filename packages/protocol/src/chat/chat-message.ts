import * as z from "zod";
import { JsonObjectSchema } from "../envelope/json.ts";
import { object } from "../fields.ts";
import { AssistantBlockSchema, UserBlockSchema } from "./content-block.ts";

/** A call that the assistant asks for. The id, the arguments and the signature are kept as they are. */
export const ToolCallSchema = object(() => ({
  id: z.string().min(1),
  name: z.string().min(1),
  arguments: JsonObjectSchema,
  signature: z.string().optional(),
}));
export type ToolCall = z.infer<typeof ToolCallSchema>;

const text = z.string().min(1);
const absent = z.never().optional();

/** Instructions. Blocks are refused here, also well-formed ones. */
export const SystemMessageSchema = object(() => ({
  role: z.literal("system"),
  content: text,
  tool_calls: absent,
  tool_call_id: absent,
}));

export const UserMessageSchema = object(() => ({
  role: z.literal("user"),
  content: z.union([text, z.array(UserBlockSchema).min(1)]),
  tool_calls: absent,
  tool_call_id: absent,
}));
export type UserMessage = z.infer<typeof UserMessageSchema>;

const haveOwnIds = (calls: readonly ToolCall[]): boolean =>
  new Set(calls.map(({ id }) => id)).size === calls.length;

/** @internal The assistant says something. No calls, an empty list of them and null mean the same. */
export const SayingMessageSchema = object(() => ({
  role: z.literal("assistant"),
  content: z.union([text, z.array(AssistantBlockSchema).min(1)]),
  tool_calls: z.union([z.array(ToolCallSchema).max(0), z.null()]).optional(),
  tool_call_id: absent,
}));

/** @internal The assistant asks for calls, and may say nothing beside. */
export const CallingMessageSchema = object(() => ({
  role: z.literal("assistant"),
  content: z.union([z.string(), z.array(AssistantBlockSchema)]).optional(),
  tool_calls: z
    .array(ToolCallSchema)
    .min(1)
    .refine(haveOwnIds, { message: "two calls of one message have the same id" }),
  tool_call_id: absent,
}));

/** What the assistant says or asks for. The ids of one message's calls differ from each other. */
export const AssistantMessageSchema = z.union([SayingMessageSchema, CallingMessageSchema]);
export type AssistantMessage = z.infer<typeof AssistantMessageSchema>;

/** The result of a call. One with structure is given as text. */
export const ToolMessageSchema = object(() => ({
  role: z.literal("tool"),
  content: z.string(),
  tool_calls: absent,
  tool_call_id: z.string().min(1),
}));
export type ToolMessage = z.infer<typeof ToolMessageSchema>;

/** A message of a conversation, as models take and give it (section "Message shape"). */
export const ChatMessageSchema = z.union([
  SystemMessageSchema,
  UserMessageSchema,
  AssistantMessageSchema,
  ToolMessageSchema,
]);
export type ChatMessage = z.infer<typeof ChatMessageSchema>;
