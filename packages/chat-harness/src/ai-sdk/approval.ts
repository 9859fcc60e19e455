import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import { type JsonObject, JsonObjectSchema } from "@harnesskit/protocol/envelope";
import * as z from "zod";

/** Characters of a reason for a rejection. */
const maxReasonLength = 10_000;

/** The digest of the request that an answer is for; with it, an answer to another request does nothing. */
const boundTo = z.string().min(1).optional();

/** What a person says to a call that waits. Fields that are not known are refused: half an answer is none. */
export const ApprovalAnswerSchema = z.discriminatedUnion("decision", [
  z.strictObject({
    decision: z.literal("approve"),
    /** What the tool is called with instead of what the model asked for. */
    input: JsonObjectSchema.optional(),
    digest: boundTo,
  }),
  z.strictObject({
    decision: z.literal("reject"),
    /** Why, for the model. */
    reason: z.string().max(maxReasonLength).optional(),
    digest: boundTo,
  }),
]);
export type ApprovalAnswer = z.infer<typeof ApprovalAnswerSchema>;

/** What a suspended turn of a chat graph waits for: the metadata of its descriptor. */
export const ApprovalRequestSchema = z.object({
  kind: z.literal("tool_approval"),
  tool: z.string().min(1),
  call_id: z.string().min(1),
  input: JsonObjectSchema,
  /** Of `{ tool, input }`, as `digest` of `@harnesskit/wire` makes it. */
  digest: z.string().min(1),
  /** Why it is asked again: what was wrong with the last answer. */
  problem: z.string().optional(),
});
export type ApprovalRequest = z.infer<typeof ApprovalRequestSchema>;

/**
 * The approval that a descriptor asks for; undefined where it asks for something else. Whoever shows it to a person
 * compares the digest with that of what is shown.
 */
export const approvalRequestOf = (
  descriptor: Pick<SignalDescriptor, "metadata">,
): ApprovalRequest | undefined => ApprovalRequestSchema.safeParse(descriptor.metadata).data;

/**
 * The payload of the signal that answers an approval: `{ approval: answer }`. A payload is put over the state of the
 * paused turn, so build it here, and never pass on what a client sent. Throws a `ZodError` for what is no answer.
 */
export const toApprovalPayload = (answer: ApprovalAnswer): JsonObject => ({
  approval: ApprovalAnswerSchema.parse(answer) as JsonObject,
});
