import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import { type JsonObject, JsonObjectSchema } from "@harnesskit/protocol/envelope";
import * as z from "zod";

/** Characters of a reason for a rejection. */
const maxReasonLength = 10_000;

/** The digest of the request that an answer is for; with it, an answer to another request does nothing. */
const boundTo = z.string().min(1).optional();

/** A person's answer to a call that waits. Unknown fields are refused. */
export const ChatApprovalAnswerSchema = z.discriminatedUnion("decision", [
  z.strictObject({
    decision: z.literal("approve"),
    /** The input of the tool, in place of the model's. */
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
export type ChatApprovalAnswer = z.infer<typeof ChatApprovalAnswerSchema>;

/** What a suspended turn of a chat graph waits for: the metadata of its descriptor. */
export const ApprovalRequestSchema = z.object({
  kind: z.literal("tool_approval"),
  tool: z.string().min(1),
  call_id: z.string().min(1),
  input: JsonObjectSchema,
  /** Of `{ tool, input }`, as `digest` of `@harnesskit/wire` makes it. */
  digest: z.string().min(1),
  /** What a person judges beside the input, such as a diff. Untrusted. */
  preview: z.string().exactOptional(),
  /** Why it is asked again: what was wrong with the last answer. */
  problem: z.string().optional(),
});
export type ApprovalRequest = z.infer<typeof ApprovalRequestSchema>;

/**
 * The approval that a descriptor asks for; undefined if it asks for something else. The program that shows it to a
 * person compares the digest with that of what it shows.
 */
export const approvalRequestOf = (
  descriptor: Pick<SignalDescriptor, "metadata">,
): ApprovalRequest | undefined => ApprovalRequestSchema.safeParse(descriptor.metadata).data;

/**
 * The payload of the signal that answers an approval: `{ approval: answer }`. A payload replaces fields of the paused state, so
 * build it here, and never forward what a client sent. Throws a `ZodError` for an answer that is not valid.
 */
export const toApprovalPayload = (answer: ChatApprovalAnswer): JsonObject => ({
  approval: ChatApprovalAnswerSchema.parse(answer) as JsonObject,
});
