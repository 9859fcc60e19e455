import * as z from "zod";
import { checked, WholeSchema } from "../checked.ts";
import type { JsonObject } from "../envelope/json.ts";
import { discriminatedUnion } from "../fields.ts";
import { tolerant } from "../null-as-absent.ts";
import { type Capabilities, ShellCapability } from "./capabilities.ts";
import { OpenValueSchema } from "./open-object.ts";
import { ownField } from "./parsed.ts";
import { ShellAuthSchema } from "./request.ts";

/** The profile of `openharness.streaming` that this package describes (docs/shells.md), and its version. */
export const STREAMING_PROFILE = "dev.harnesskit.stream";
export const STREAMING_VERSION = 1;

/** The value of the capability `openharness.streaming`, of a shell and of an engine. */
export const StreamingCapabilitySchema = tolerant(() => ({
  profile: z.literal(STREAMING_PROFILE),
  /** The versions of the profile; the highest that both sides name is used. */
  versions: z.array(z.number()).min(1),
}));

/** What this package's version of the profile is declared with. */
export const streamingCapability: JsonObject = Object.freeze({
  profile: STREAMING_PROFILE,
  versions: Object.freeze([STREAMING_VERSION]) as unknown as number[],
});

/** Whether capabilities name the profile in a version that is known here. A bare `true` does not: it names no profile. */
export const agreesOnStreaming = (capabilities: Capabilities | undefined): boolean => {
  if (capabilities === undefined || !Object.hasOwn(capabilities, ShellCapability.Streaming)) return false;
  const parsed = StreamingCapabilitySchema.safeParse(capabilities[ShellCapability.Streaming]);
  return parsed.success && parsed.data.versions.includes(STREAMING_VERSION);
};

const frame = {
  /** Names the stream; 128 random bits at least. */
  stream_id: z.string().min(1),
  /** From 0, one more for each frame that is sent, without gaps. */
  seq: WholeSchema,
};

/** The first frame of a stream, with `seq` 0. */
export const StreamOpenedSchema = tolerant(() => ({
  ...frame,
  type: z.literal("opened"),
  /** The request that the stream answers. */
  request_id: z.string().min(1),
  /** Of the profile. */
  version: WholeSchema,
}));

/** More of a message that the final response may have. A preview: it is shown and never carried out. */
export const StreamTextSchema = tolerant(() => ({
  ...frame,
  type: z.literal("text"),
  /** Which message; unique in the stream. */
  message_id: z.string().min(1),
  delta: z.string(),
}));

/** How far the engine has got with a directive that the final response may have. */
export const StreamProgressSchema = tolerant(() => ({
  ...frame,
  type: z.literal("progress"),
  /** Which directive; unique in the stream. */
  directive_id: z.string().min(1),
  state: z.enum(["running", "done", "failed"]),
  /** For the user. */
  message: z.string().optional(),
  action_type: z.string().min(1).optional(),
  /** From 0 to 1. */
  fraction: checked(z.number(), (value) => value >= 0 && value <= 1, "expected a number from 0 to 1", {
    minimum: 0,
    maximum: 1,
  }).optional(),
}));

/** The last frame. `response` is the response that the request would have got without a stream. */
export const StreamEndSchema = tolerant(() => ({
  ...frame,
  type: z.literal("end"),
  response: OpenValueSchema,
}));

/** One message of a stream, from an engine to a shell. */
export const StreamFrameSchema = discriminatedUnion("type", [
  StreamOpenedSchema,
  StreamTextSchema,
  StreamProgressSchema,
  StreamEndSchema,
]);
export type StreamFrame = z.infer<typeof StreamFrameSchema>;
export type StreamOpened = z.infer<typeof StreamOpenedSchema>;
export type StreamText = z.infer<typeof StreamTextSchema>;
export type StreamProgress = z.infer<typeof StreamProgressSchema>;
export type StreamEnd = z.infer<typeof StreamEndSchema>;

/** A frame of a type that is not known: it counts in the sequence and is not shown. */
export interface UnknownStreamFrame {
  readonly stream_id: string;
  readonly seq: number;
  readonly type: "unknown";
}

const UnknownFrameSchema = tolerant(() => ({ ...frame, type: z.string() }));
const knownTypes: ReadonlySet<string> = new Set(["opened", "text", "progress", "end"]);

/** Ends the work of a stream. Its `end` has a response with the error `cancelled`, unless the work was done first. */
export const StreamCancelSchema = tolerant(() => ({
  type: z.literal("stream.cancel"),
  stream_id: z.string().min(1),
  /** As the request that opened the stream had it. */
  session_id: z.string().optional(),
  /** As the request that opened the stream had it. */
  auth: ShellAuthSchema.optional(),
}));
export type StreamCancel = z.infer<typeof StreamCancelSchema>;

/** Requests and responses have a `protocol_version`; messages of streams have none. */
const isUnversioned = (message: unknown): boolean => ownField(message, "protocol_version") === undefined;

/** The cancellation of a stream that a message of a shell is. Undefined for any other message. */
export const parseStreamCancel = (message: unknown): StreamCancel | undefined =>
  ownField(message, "type") === "stream.cancel" && isUnversioned(message)
    ? StreamCancelSchema.safeParse(message).data
    : undefined;

/** Whether a message of an engine is a frame, well-formed or not. */
export const isStreamFrame = (message: unknown): boolean =>
  ownField(message, "stream_id") !== undefined && isUnversioned(message);

/** Parses a frame. Undefined for what is not valid. Never throws for JSON. */
export const parseStreamFrame = (message: unknown): StreamFrame | UnknownStreamFrame | undefined => {
  const type = ownField(message, "type");
  if (typeof type === "string" && knownTypes.has(type)) return StreamFrameSchema.safeParse(message).data;
  const unknown = UnknownFrameSchema.safeParse(message).data;
  return unknown && { stream_id: unknown.stream_id, seq: unknown.seq, type: "unknown" };
};
