import * as z from "zod";
import { boundedString } from "../checked.ts";
import { JsonObjectSchema } from "../envelope/json.ts";
import { discriminatedUnion, object } from "../fields.ts";
import { tolerant } from "../null-as-absent.ts";
import { Rfc3339Schema } from "../rfc3339.ts";
import { messageSchema, RuntimeErrorSchema, RuntimeIdSchema } from "./envelope.ts";

/** Who calls a tool (section 4.3.1). To an agent it is metadata only, never an authorization. */
export const CallerSchema = object(() => ({
  type: z.enum(["human", "agent", "system"]),
  id: RuntimeIdSchema,
}));
export type Caller = z.infer<typeof CallerSchema>;

/** What a call is about (section 4.3.1). Never secret. */
export const CallContextSchema = tolerant(() => ({
  project_root: z.string().optional(),
  resource_paths: z.array(z.string()).optional(),
  ui: JsonObjectSchema.optional(),
  /** Where the call belongs in a trace: W3C Trace Context. One that is malformed is ignored. */
  traceparent: z.unknown().optional(),
  tracestate: z.unknown().optional(),
}));
export type CallContext = z.infer<typeof CallContextSchema>;

/** The core wants a tool to run (section 4.3.1). `request_id` is always set. */
export const CoreToolCallSchema = messageSchema(
  "core.tool.call",
  tolerant(() => ({
    call_id: RuntimeIdSchema,
    tool_id: z.string().max(257),
    input: JsonObjectSchema,
    /** Time that the call may take, in milliseconds. */
    timeout_ms: z.int().positive().optional(),
    /** The same key means the same call: it may be made again without a second effect. */
    idempotency_key: boundedString(256).optional(),
    caller: CallerSchema.optional(),
    context: CallContextSchema.optional(),
  })),
  { request_id: RuntimeIdSchema },
);
export type CoreToolCall = z.infer<typeof CoreToolCallSchema>;

const streamed = {
  call_id: RuntimeIdSchema,
  /** Counts the call's stream messages, from 1. */
  seq: z.int().positive(),
  /** No stream message of this call follows; its result does. */
  done: z.boolean().optional(),
};
const TextDataSchema = object(() => ({ text: z.string() }));

/** What a running call says before its result (section 4.3.2). */
export const AgentToolStreamSchema = messageSchema(
  "agent.tool.stream",
  discriminatedUnion("channel", [
    tolerant(() => ({ ...streamed, channel: z.literal("stdout"), data: TextDataSchema })),
    tolerant(() => ({ ...streamed, channel: z.literal("stderr"), data: TextDataSchema })),
    tolerant(() => ({ ...streamed, channel: z.literal("log"), data: TextDataSchema })),
    tolerant(() => ({ ...streamed, channel: z.literal("status"), data: TextDataSchema })),
    tolerant(() => ({
      ...streamed,
      channel: z.literal("partial_result"),
      data: z.object({ json: JsonObjectSchema }),
    })),
  ]),
);
export type AgentToolStream = z.infer<typeof AgentToolStreamSchema>;

/**
 * An output in place of one that is too large for a message (section 7): it is in a file that the agent removes when it
 * ends. Stands for any output, whatever the tool's `output_schema` says.
 */
export const OutputReferenceSchema = object(() => ({
  output_file: z.object({
    /** Absolute path of a JSON file. */
    path: z.string(),
    size_bytes: z.int().nonnegative(),
    /** Of the file, in hexadecimal digits. */
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  truncated: z.literal(true),
}));
export type OutputReference = z.infer<typeof OutputReferenceSchema>;

/** How a call ended. */
export const CallStatusSchema = z.enum(["succeeded", "failed", "canceled"]);

/** The end of a call, sent exactly once (section 4.3.3). */
export const AgentToolResultSchema = messageSchema(
  "agent.tool.result",
  tolerant(() => ({
    call_id: RuntimeIdSchema,
    status: CallStatusSchema,
    output: JsonObjectSchema.optional(),
    error: RuntimeErrorSchema.optional(),
    started_at: Rfc3339Schema.optional(),
    finished_at: Rfc3339Schema.optional(),
    metrics: JsonObjectSchema.optional(),
  })),
);
export type AgentToolResult = z.infer<typeof AgentToolResultSchema>;

/** The core wants a call to stop (section 4.4.1). */
export const CoreToolCancelSchema = messageSchema(
  "core.tool.cancel",
  tolerant(() => ({
    call_id: RuntimeIdSchema,
    reason: z.string().optional(),
    /** Time until which it should have stopped, in milliseconds from now. */
    deadline_ms: z.int().nonnegative().optional(),
  })),
);
export type CoreToolCancel = z.infer<typeof CoreToolCancelSchema>;

/** The agent heard it; the result still follows (section 4.4.2). */
export const AgentToolCancelAckSchema = messageSchema(
  "agent.tool.cancel_ack",
  tolerant(() => ({
    call_id: RuntimeIdSchema,
    /** False for a call that is unknown or has ended. */
    accepted: z.boolean(),
    note: z.string().optional(),
  })),
);
