import * as z from "zod";
import { JsonObjectSchema, JsonValueSchema } from "../envelope/json.ts";
import { discriminatedUnion, object } from "../fields.ts";
import { tolerant } from "../null-as-absent.ts";
import { PromptJudgementSchema, ToolJudgementSchema } from "./judgement.ts";
import { InputPartSchema, ModelRefSchema, TimestampSchema, UsageSchema } from "./thread.ts";

/** What an item can be (section "Item Types"). */
export const ItemTypeSchema = z.enum([
  "user_message",
  "assistant_message",
  "tool_exec",
  "tool_log",
  "approval",
  "artifact",
]);
export type ItemType = z.infer<typeof ItemTypeSchema>;

/** The state of a tool call. `unknown`: it may have run, and its end was not recorded. */
export const ToolStatusSchema = z.enum([
  "pending",
  "running",
  "succeeded",
  "failed",
  "rejected",
  "blocked",
  "cancelled",
  "unknown",
]);

/** The three answers to an approval (`approval.respond`). */
export const ApprovalDecisionSchema = z.enum(["once", "always", "reject"]);
export type ApprovalDecision = z.infer<typeof ApprovalDecisionSchema>;

/** How far an `always` answer reaches: this thread, or every thread of its directory. */
export const GrantScopeSchema = z.enum(["thread", "directory"]);
export type GrantScope = z.infer<typeof GrantScopeSchema>;

/** What an `always` answer holds for beside the call that was shown: the same command with other plain arguments. */
export const GrantMatchSchema = z.literal("start");

/** What exactly will run if the approval is given; the answer is bound to `digest`. */
export const ApprovalMetadataSchema = tolerant(() => ({
  tool: z.string(),
  input: JsonObjectSchema,
  preview: z.string().optional(),
  reason: z.string().optional(),
  digest: z.string(),
  expiresAt: TimestampSchema.optional(),
}));
export type ApprovalMetadata = z.infer<typeof ApprovalMetadataSchema>;

const cut = {
  /** The text is the beginning of a longer one. */
  truncated: z.literal(true).optional(),
  /** The `artifact` item that names the file with all of it. */
  artifactItemId: z.string().optional(),
};
/** What a model's provider put beside what the model said, such as a signature; by the provider's name. It means nothing to others. */
const ProviderMetadataSchema = z.record(z.string(), JsonObjectSchema);

/**
 * What a summary stands for (extension `compact`): all that was said up to the end of a turn; with `step`, of that turn only its steps up to this
 * one, and not its user's message. The agent is given the summary in its place; the log keeps all of it.
 */
const SummarySchema = tolerant(() => ({
  turnId: z.string(),
  step: z.int().nonnegative().optional(),
  /** How many messages of the user and the assistant, and calls of tools, it stands for. */
  messages: z.int().nonnegative(),
  calls: z.int().nonnegative(),
  /** What making it has used. */
  usage: UsageSchema.optional(),
}));
export type Summary = z.infer<typeof SummarySchema>;

/** The `data` of each item type. */
export const ItemDataSchemas = {
  user_message: tolerant(() => ({
    content: z.array(InputPartSchema),
    /** The agent and the model that the turn was started with. */
    agent: z.string().optional(),
    model: ModelRefSchema.optional(),
    /** What a policy said of it. */
    judgement: PromptJudgementSchema.optional(),
    /** Kept from the model: not allowed, or not allowed yet. */
    withheld: z.literal(true).optional(),
    /** `thread.compact` began the turn: the agent is to make a summary, and is not given this message. */
    compact: z.literal(true).optional(),
  })),
  assistant_message: tolerant(() => ({
    text: z.string(),
    reasoning: z.literal(true).optional(),
    step: z.int().nonnegative().optional(),
    ...cut,
    providerMetadata: ProviderMetadataSchema.optional(),
    /** The text is a summary of what was said before. */
    summary: SummarySchema.optional(),
  })),
  // Not of `tolerant`: null is an output.
  tool_exec: object(() => ({
    tool: z.string(),
    input: JsonObjectSchema,
    status: ToolStatusSchema,
    output: JsonValueSchema.optional(),
    error: z.string().optional(),
    code: z.string().optional(),
    /** The call's id at the model. */
    callId: z.string().optional(),
    /** Which of the turn's model calls asked for it, counted from 0. */
    step: z.int().nonnegative().optional(),
    /** Its place among several calls of its step, from 0: they end in any order. */
    index: z.int().nonnegative().optional(),
    providerMetadata: ProviderMetadataSchema.optional(),
    /** The `requestId` of the approval that allowed it. */
    approvedBy: z.string().optional(),
    /** What a policy said of it. A block and a question say their reasons in `error` and in the approval, too. */
    judgement: ToolJudgementSchema.optional(),
  })),
  tool_log: tolerant(() => ({
    toolItemId: z.string(),
    stream: z.enum(["stdout", "stderr"]),
    /** Set where it is not what the tool printed: lines of its log, what it does, or parts of its result as JSON, one a line. */
    channel: z.enum(["log", "status", "partial_result"]).optional(),
    text: z.string(),
    ...cut,
  })),
  approval: tolerant(() => ({
    requestId: z.string(),
    permission: z.string(),
    metadata: ApprovalMetadataSchema,
    toolItemId: z.string().optional(),
    decision: ApprovalDecisionSchema.optional(),
    resolvedBy: z.string().optional(),
    reason: z.string().optional(),
    /** With `reject`: the user's reason. */
    note: z.string().optional(),
    /** With `always`: how far it reaches. */
    scope: GrantScopeSchema.optional(),
    /** With `always`. @default exactly what was shown */
    match: GrantMatchSchema.optional(),
    /** The `clientRequestId` of the answer. */
    clientRequestId: z.string().optional(),
    /** Where a call or a prompt was allowed: proves to a later server of this user that it was, and of what. */
    seal: z.string().optional(),
  })),
  artifact: tolerant(() => ({
    kind: z.string(),
    path: z.string().optional(),
    uri: z.string().optional(),
    mimeType: z.string(),
    sizeBytes: z.int().nonnegative(),
    sha256: z.string().optional(),
    /** The tool call whose output it holds. */
    toolItemId: z.string().optional(),
  })),
} as const satisfies Record<ItemType, z.ZodType>;

/** The `data` of an item of type `T`. */
export type ItemData<T extends ItemType = ItemType> = z.infer<(typeof ItemDataSchemas)[T]>;

/** An item of one type (section "Item"). */
export interface ItemOf<T extends ItemType> {
  itemId: string;
  threadId: string;
  turnId: string;
  type: T;
  data?: ItemData<T> | undefined;
}

/** One thing that was said, done, asked or made in a turn. */
export type Item = { [T in ItemType]: ItemOf<T> }[ItemType];

const itemSchemas = Object.entries(ItemDataSchemas).map(([type, data]) =>
  tolerant(() => ({
    itemId: z.string(),
    threadId: z.string(),
    turnId: z.string(),
    type: z.literal(type),
    data: data.optional(),
  })),
);

export const ItemSchema = discriminatedUnion(
  "type",
  itemSchemas as [(typeof itemSchemas)[number]],
) as z.ZodType as z.ZodType<Item>;
