import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import { type JsonObject, JsonObjectSchema } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import * as z from "zod";

/** Characters of a reason for a rejection. */
const maxReasonLength = 10_000;

/** What an answer is for. Where several calls wait, one of the two must be there. */
const boundTo = {
  /** The `call_id` of the request. */
  call_id: z.string().min(1).optional(),
  /** The digest of the request; with it, an answer to another request does nothing. */
  digest: z.string().min(1).optional(),
};

/** A person's answer to a call that waits. Unknown fields are refused. */
export const ChatApprovalAnswerSchema = z.discriminatedUnion(
  "decision",
  [
    z.strictObject({
      decision: z.literal("approve"),
      /** The input of the tool, in place of the model's. */
      input: JsonObjectSchema.optional(),
      ...boundTo,
    }),
    z.strictObject({
      decision: z.literal("reject"),
      /** Why, for the model. */
      reason: z.string().max(maxReasonLength).optional(),
      /** No user could be asked: the model is told so, and not that one has rejected the call. */
      unattended: z.literal(true).optional(),
      ...boundTo,
    }),
  ],
  { error: 'expected the decision "approve" or "reject"' },
);
export type ChatApprovalAnswer = z.infer<typeof ChatApprovalAnswerSchema>;

/** A call that a suspended turn of a chat graph waits for. */
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
/** A call that a suspended turn waits for: what `approvalRequestOf` returns. */
export type ApprovalRequest = z.infer<typeof ApprovalRequestSchema>;

/** A request with the id of the signal that answers it. */
export type WaitingApproval = ApprovalRequest & { readonly signal_id: string };

const WaitingApprovalSchema = ApprovalRequestSchema.extend({ signal_id: z.string().min(1) });

/** The metadata of a descriptor: the request of its own signal, and those of the same step that wait beside it. */
const ApprovalMetadataSchema = ApprovalRequestSchema.extend({
  others: z.array(WaitingApprovalSchema).optional(),
});

type Described = Pick<SignalDescriptor, "metadata">;

/**
 * The approval that a descriptor asks for, the first one of those that wait; undefined if it asks for something else. The program that
 * shows it to a person compares the digest with that of what it shows.
 */
export const approvalRequestOf = (descriptor: Described): ApprovalRequest | undefined =>
  ApprovalRequestSchema.safeParse(descriptor.metadata).data;

/**
 * The approvals that a descriptor asks for, in the order of the calls; empty if it asks for something else. Each is answered by
 * itself, in any order: a signal with its `signal_id` and the `invocationId`, and an answer with its `call_id`.
 */
export const approvalRequestsOf = (
  descriptor: Pick<SignalDescriptor, "metadata" | "signal_id">,
): readonly WaitingApproval[] => {
  const { data } = ApprovalMetadataSchema.safeParse(descriptor.metadata);
  if (data === undefined) return [];
  const { others = [], ...request } = data;
  return [{ ...request, signal_id: descriptor.signal_id }, ...others];
};

/**
 * The payload of the signal that answers an approval: `{ approval: answer }`. A payload replaces fields of the paused state, so
 * build it here, and never forward what a client sent. Throws `invalid_argument` for an answer that is not valid.
 */
export const toApprovalPayload = (answer: ChatApprovalAnswer): JsonObject => {
  const { data, error } = ChatApprovalAnswerSchema.safeParse(answer);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return { approval: data as JsonObject };
  throw new InvalidArgumentError(`${["the answer", ...issue.path].join(".")}: ${issue.message}`);
};
