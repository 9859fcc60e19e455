import * as z from "zod";
import { JsonObjectSchema, JsonValueSchema } from "../envelope/json.ts";
import { object } from "../fields.ts";
import { Rfc3339Schema } from "../rfc3339.ts";

const id = z.string().min(1);
const count = z.int().nonnegative();
const time = Rfc3339Schema;

/** What a suspended turn waits for. `metadata` belongs to the node that suspends; no other code reads it. */
export const SignalDescriptorSchema = object(() => ({
  signal_id: id,
  metadata: JsonObjectSchema.optional(),
}));
export type SignalDescriptor = z.infer<typeof SignalDescriptorSchema>;

/** A session as it is stored: the fields of the state that belong to it, in the version of the schema that wrote them. */
export const SessionRecordSchema = object(() => ({
  session_id: id,
  state: JsonObjectSchema,
  /** The version that the application gave its state; an empty string without one. */
  schema_version: z.string(),
  /** Grows with every write of any session of the store, and is never given twice. */
  version: z.int().positive(),
  created_at: time,
  updated_at: time,
}));
export type SessionRecord = z.infer<typeof SessionRecordSchema>;

/** A session without its state. */
export const SessionSummarySchema = SessionRecordSchema.omit({ state: true });
export type SessionSummary = z.infer<typeof SessionSummarySchema>;

export const SuspensionStatusSchema = z.enum(["suspended", "completed", "errored"]);
export type SuspensionStatus = z.infer<typeof SuspensionStatusSchema>;

/** A node that has run: its path of names, outermost first, and its step. */
export const CompletedPositionSchema = object(() => ({ namespace: z.array(z.string()).min(1), step: count }));
export type CompletedPosition = z.infer<typeof CompletedPositionSchema>;

/**
 * A list that is not kept again with a suspension: the first `length` items of the session's list of this name, to
 * which others may have been added since.
 */
export const SessionListSchema = object(() => ({ session_field: z.string(), length: count }));

/** The state of one graph at a pause, and the node in it that had not ended. */
export const SuspensionFrameSchema = object(() => ({
  node: z.string(),
  state: JsonObjectSchema,
  session_lists: z.record(z.string(), SessionListSchema),
}));
export type SuspensionFrame = z.infer<typeof SuspensionFrameSchema>;

/** A signal that arrived and was accepted. It may have been applied or not yet. */
export const AcceptedSignalSchema = z.object({ payload: JsonObjectSchema, accepted_at: time });

/** An invocation that paused, as it is kept: enough for another process to go on with it. */
export const SuspensionRecordSchema = object(() => ({
  invocation_id: id,
  correlation_id: id,
  session_id: id.nullable(),
  status: SuspensionStatusSchema,
  descriptor: SignalDescriptorSchema,
  /** The outermost node on the way to the one that suspended. */
  node_name: z.string(),
  /** The names of the nodes on the way to the one that suspended, outermost first, itself last. */
  namespace: z.array(z.string()).min(1),
  /** True: the suspending node counts as done. False: it runs again. */
  mark_node_completed: z.boolean(),
  attempt_index: count,
  completed_positions: z.array(CompletedPositionSchema),
  /** The step of the next node. */
  next_step: count,
  schema_version: z.string(),
  /** True: the session was saved with this state at the pause. */
  is_session_saved: z.boolean(),
  /** The graphs on the way to the node that suspended, outermost first. Empty once the invocation has ended. */
  frames: z.array(SuspensionFrameSchema),
  signal: AcceptedSignalSchema.nullable(),
  /** What the resuming code stored at the end: a reply that may not be delivered yet. */
  result: JsonValueSchema,
  /** True once the result needs no delivery any more. */
  is_delivered: z.boolean(),
  /** Grows with every write of this record. */
  revision: z.int().positive(),
  suspended_at: time,
  updated_at: time,
  /** Where the pause belongs in a trace: W3C Trace Context. Only of invocations that were traced. */
  trace: z.object({ traceparent: z.string(), tracestate: z.string().exactOptional() }).exactOptional(),
}));
export type SuspensionRecord = z.infer<typeof SuspensionRecordSchema>;

/** A suspension without the state. */
export const SuspensionSummarySchema = SuspensionRecordSchema.omit({
  frames: true,
  completed_positions: true,
});
export type SuspensionSummary = z.infer<typeof SuspensionSummarySchema>;
