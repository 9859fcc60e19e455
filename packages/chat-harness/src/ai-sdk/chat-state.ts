import { append, defineState, lastWriteWins, type StateOf, type UpdateOf } from "@harnesskit/graph";
import * as z from "zod";
import { messagesField } from "../messages-field.ts";
import { ApprovalRequestSchema, ChatApprovalAnswerSchema } from "./approval.ts";
import { ChatSummarySchema } from "./chat-summary.ts";

/**
 * A call of the current step that has no result yet. The call itself is in the history: what a signal brings is put over
 * this state, and must not make another call of it.
 */
const QueuedCallSchema = z.object({
  id: z.string().min(1),
  /** Why the model's arguments could not be read; null if they could. */
  problem: z.string().nullable(),
});

/** A call that the turn is paused for. */
const WaitingCallSchema = z.object({
  id: z.string().min(1),
  signal_id: z.string().min(1),
  request: ApprovalRequestSchema,
});
export type WaitingCall = z.infer<typeof WaitingCallSchema>;

/** A call that was answered and has not run yet: one before it in its step waits. */
const AnsweredCallSchema = WaitingCallSchema.extend({ answer: ChatApprovalAnswerSchema });

/** The state of a chat graph. `messages`, `begun_calls` and `summary` belong to the session; the rest lives as long as its turn. */
export const chatState = defineState({
  messages: messagesField(),
  /**
   * Calls that were begun after they had been stored, by their signal's id. A list, because a resumed turn finds what is stored
   * of it by then, also when the process that began a call has died.
   */
  begun_calls: append(z.string()),
  /** What stands for the oldest messages, where the model is not given them any more. */
  summary: lastWriteWins(ChatSummarySchema.nullable(), { default: null }),
  /** A run that makes a summary in the place of a turn: `made` once it has made one. */
  compaction: lastWriteWins(z.enum(["asked", "made"]).nullable(), { default: null }),
  /** The note for the model that follows the message that began the turn. */
  note: lastWriteWins(z.string().nullable(), { default: null }),
  /** Calls of the last step in the order in which the model asked for them; those that have a result too. */
  queue: lastWriteWins(z.array(QueuedCallSchema), { default: [] }),
  /** Those of them that wait for an answer, in the same order. */
  waiting: lastWriteWins(z.array(WaitingCallSchema), { default: [] }),
  answered: lastWriteWins(z.array(AnsweredCallSchema), { default: [] }),
  /** What a signal brings. */
  approval: lastWriteWins(ChatApprovalAnswerSchema.nullable(), { default: null }),
  /** How often the turn has asked the model. */
  model_calls: lastWriteWins(z.int().nonnegative(), { default: 0 }),
  /** True once the session has the calls of this step, so that it has to get each of their results at once. */
  is_kept: lastWriteWins(z.boolean(), { default: false }),
});

export type ChatGraphFields = (typeof chatState)["fields"];
export type ChatState = StateOf<ChatGraphFields>;
export type ChatUpdate = UpdateOf<ChatGraphFields>;
