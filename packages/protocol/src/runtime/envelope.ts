import * as z from "zod";
import { boundedString } from "../checked.ts";
import { JsonObjectSchema } from "../envelope/json.ts";
import { tolerant } from "../null-as-absent.ts";
import { Rfc3339Schema } from "../rfc3339.ts";
import { RUNTIME_PROTOCOL_VERSION } from "./limits.ts";

/** An id of a message, request, call or session. */
export const RuntimeIdSchema = boundedString(256);

/** Who is behind a message or a call (section 3.2). To an agent it is metadata only, never an authorization. */
export const ActorSchema = tolerant(() => ({
  type: z.enum(["human", "agent", "system"]),
  id: RuntimeIdSchema,
  display: z.string().optional(),
}));
export type Actor = z.infer<typeof ActorSchema>;

/** What went wrong (section 3.3). Nothing in it is secret; `debug` is left out unless requested. */
export const RuntimeErrorSchema = tolerant(() => ({
  /** For programs, see `RuntimeErrorCode`. */
  code: boundedString(256),
  /** For people. */
  message: z.string(),
  details: JsonObjectSchema.optional(),
  /** Whether the same call may succeed if it is made again. */
  retryable: z.boolean().optional(),
  /** The component that noticed, such as `core.router`. */
  where: z.string().optional(),
  debug: JsonObjectSchema.optional(),
}));
export type RuntimeError = z.infer<typeof RuntimeErrorSchema>;

/** What ties a message to others (section 3.1). An agent echoes all but `in_reply_to` in what belongs to one call. */
const correlationFields = {
  /** The `id` of the message that this one answers. */
  in_reply_to: RuntimeIdSchema.optional(),
  /** The logical request that this message belongs to. */
  request_id: RuntimeIdSchema.optional(),
  /** The wider story: a conversation, a mission, a workflow. */
  correlation_id: RuntimeIdSchema.optional(),
  /** What caused this directly: a directive, a call, an event. */
  causation_id: RuntimeIdSchema.optional(),
};

const fieldsBesideType = {
  id: RuntimeIdSchema,
  ts: Rfc3339Schema,
  ...correlationFields,
  actor: ActorSchema.optional(),
  error: RuntimeErrorSchema.optional(),
};

/** What any message looks like before its type and version are known here (section 3). */
export const RuntimeEnvelopeSchema = tolerant(() => ({
  v: z.int(),
  type: boundedString(256),
  ...fieldsBesideType,
  payload: JsonObjectSchema,
}));
export type RuntimeEnvelope = z.infer<typeof RuntimeEnvelopeSchema>;

/** The schema of the messages of one type. `narrowed` replaces fields of the envelope. */
export const messageSchema = <
  Type extends string,
  Payload extends z.ZodType,
  Narrowed extends z.core.$ZodLooseShape = Record<never, never>,
>(
  type: Type,
  payload: Payload,
  narrowed: Narrowed = {} as Narrowed,
) =>
  tolerant(() => {
    const fields = {
      v: z.literal(RUNTIME_PROTOCOL_VERSION),
      type: z.literal(type),
      ...fieldsBesideType,
      payload,
    };
    return { ...fields, ...narrowed } as Omit<typeof fields, keyof Narrowed> & Narrowed;
  });
