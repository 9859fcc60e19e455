import * as z from "zod";
import { tolerant } from "../null-as-absent.ts";

/** Milliseconds since the epoch. */
export const TimestampSchema = z.number().nonnegative();

/** A conversation with an agent in a directory (section "Thread"). `threadId` is the session's id. */
export const ThreadSchema = tolerant(() => ({
  threadId: z.string(),
  title: z.string(),
  /** Empty on a server without directories. */
  directory: z.string(),
  time: tolerant(() => ({
    created: TimestampSchema,
    updated: TimestampSchema,
    /** When it was archived; absent for a thread that is not (extension `archive`). */
    archived: TimestampSchema.optional(),
  })),
  /** The thread whose history it began with, up to and including that event (extension `fork`). */
  forkedFrom: tolerant(() => ({ threadId: z.string(), seq: z.int().positive() })).optional(),
  /** How many prompts wait for the end of the active turn; absent for none (extension `queue`). */
  queued: z.int().positive().optional(),
  /** A turn has begun and not ended, on a server that goes on with interrupted turns. */
  hasOpenTurn: z.literal(true).optional(),
}));
export type Thread = z.infer<typeof ThreadSchema>;

/** How a turn stands. Every status but `running` is final. */
export const TurnStatusSchema = z.enum(["running", "completed", "cancelled", "error"]);
export type TurnStatus = z.infer<typeof TurnStatusSchema>;

/** Tokens that a turn has used, as the model's provider counts them. */
export const UsageSchema = tolerant(() => ({
  inputTokens: z.number().nonnegative().optional(),
  outputTokens: z.number().nonnegative().optional(),
  totalTokens: z.number().nonnegative().optional(),
  /** Of the input: what the provider read from its cache, and what it wrote to it. */
  cacheReadTokens: z.number().nonnegative().optional(),
  cacheWriteTokens: z.number().nonnegative().optional(),
  /** The model of the last request, by its name at the provider. */
  modelId: z.string().optional(),
}));
export type Usage = z.infer<typeof UsageSchema>;

/** One prompt and everything that the agent does about it (section "Turn"). */
export const TurnSchema = tolerant(() => ({
  turnId: z.string(),
  threadId: z.string(),
  status: TurnStatusSchema,
  time: tolerant(() => ({ started: TimestampSchema, completed: TimestampSchema.optional() })),
  usage: UsageSchema.optional(),
  /** The `clientRequestId` of its start, and the digest of what was asked with it. */
  clientRequestId: z.string().optional(),
  requestDigest: z.string().optional(),
  /** Where it belongs in a trace, where its server is traced: `traceparent` and `tracestate` of W3C Trace Context. */
  _meta: z.unknown().optional(),
}));
export type Turn = z.infer<typeof TurnSchema>;

/** A model by its provider and its name there. */
export const ModelRefSchema = tolerant(() => ({ providerID: z.string().min(1), modelID: z.string().min(1) }));
export type ModelRef = z.infer<typeof ModelRefSchema>;

/** Text of the prompt. */
export const TextInputSchema = tolerant(() => ({ type: z.literal("text"), text: z.string() }));

/** A file that the prompt refers to; the agent reads it within the workspace's rules. */
export const FileInputSchema = tolerant(() => ({
  type: z.literal("file"),
  path: z.string().min(1).optional(),
  uri: z.string().min(1).optional(),
  mimeType: z.string().optional(),
}))
  .refine((file) => (file.path === undefined) !== (file.uri === undefined), {
    message: "a file has either a path or a uri",
  })
  // The refinement in the words of JSON Schema, for the published schema files.
  .meta({
    oneOf: ["path", "uri"].map((name) => ({ required: [name], properties: { [name]: { type: "string" } } })),
  });
export type FileInput = z.infer<typeof FileInputSchema>;

/** One part of a turn's input. */
export const InputPartSchema = z.union([TextInputSchema, FileInputSchema]);
export type InputPart = z.infer<typeof InputPartSchema>;

/** What `turn.start` does while a turn is active (extension `queue`). */
export const WhenBusySchema = z.enum(["reject", "queue", "interrupt"]);
export type WhenBusy = z.infer<typeof WhenBusySchema>;

/** A prompt that waits for the end of the active turn. It has the id of the turn that it will be (extension `queue`). */
export const QueuedTurnSchema = tolerant(() => ({
  turnId: z.string(),
  threadId: z.string(),
  input: z.array(InputPartSchema),
  /** The name of the agent that it asked for. */
  agent: z.string().optional(),
  model: ModelRefSchema.optional(),
  time: tolerant(() => ({ queued: TimestampSchema })),
  /** The active turn that it interrupted: it begins before the prompts that interrupted none. */
  interrupts: z.string().optional(),
  /** The `clientRequestId` of its request, and the digest of what was asked with it. */
  clientRequestId: z.string().optional(),
  requestDigest: z.string().optional(),
  /** Where it belongs in a trace, as in a turn. */
  _meta: z.unknown().optional(),
}));
export type QueuedTurn = z.infer<typeof QueuedTurnSchema>;
