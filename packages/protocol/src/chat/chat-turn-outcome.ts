import * as z from "zod";
import { JsonObjectSchema } from "../envelope/json.ts";
import { discriminatedUnion, object } from "../fields.ts";
import { ChatMessageSchema, SystemMessageSchema } from "./chat-message.ts";
import type { ErrorBucket } from "./error-buckets.ts";
import { SignalDescriptorSchema } from "./records.ts";

/** The schema of {@link ErrorBucket}, which stands in a file without zod. */
export const ErrorBucketSchema = z.enum([
  "session_terminating",
  "retryable_transient",
  "user_correctable",
]) satisfies z.ZodType<ErrorBucket>;

/**
 * Which way a turn took (section "Inbound message → session → invoke wiring"): a new session, one with a history, a signal; or, for
 * harnesses that are not about chat, no session at all.
 */
export const DispatchPathSchema = z.enum(["stateless", "new_session", "existing_session", "signal_resume"]);
export type DispatchPath = z.infer<typeof DispatchPathSchema>;

/** Absent where the turn failed before its session was known. */
const dispatchPath = DispatchPathSchema.optional();

/** The turn ended. `replies` are the messages that it added, in order and of all roles; what was sent is not among them. */
export const CompletedTurnSchema = object(() => ({
  outcome: z.literal("completed"),
  replies: z.array(ChatMessageSchema),
  final_state: JsonObjectSchema.optional(),
  dispatch_path: dispatchPath,
}));

/** The turn failed. `reply` is for the user; it is not part of the conversation. */
export const ErroredTurnSchema = object(() => ({
  outcome: z.literal("errored"),
  error_bucket: ErrorBucketSchema,
  error_category: z.string().min(1).optional(),
  reply: SystemMessageSchema,
  dispatch_path: dispatchPath,
}));
export type ErroredTurn = z.infer<typeof ErroredTurnSchema>;

/** The turn waits for a signal. `pending_messages` are those that it added before. */
export const SuspendedTurnSchema = object(() => ({
  outcome: z.literal("suspended"),
  signal_descriptor: SignalDescriptorSchema,
  pending_messages: z.array(ChatMessageSchema),
  invocation_id: z.string().min(1),
  dispatch_path: dispatchPath,
}));

/** How a turn ended (section "Return type"). */
export const ChatTurnOutcomeSchema = discriminatedUnion("outcome", [
  CompletedTurnSchema,
  ErroredTurnSchema,
  SuspendedTurnSchema,
]);
export type ChatTurnOutcome = z.infer<typeof ChatTurnOutcomeSchema>;
