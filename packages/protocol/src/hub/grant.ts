import * as z from "zod";
import { JsonValueSchema } from "../envelope/json.ts";
import { object } from "../fields.ts";
import {
  DigestSchema,
  DurationMsSchema,
  IdSchema,
  SequenceSchema,
  TimeMsSchema,
  WordsSchema,
} from "./values.ts";

const maxPatternFields = 32;
/** Characters of a pattern as JSON: it is always shown whole. */
const maxPatternLength = 4000;

/**
 * What one field of an input may be. `is`: exactly this value. `under`: a path equal to this directory or below it, without `..`;
 * links are not followed. `startsWith`: a string that goes on with plain characters only, so that a command cannot be continued with
 * another. `any`: any value, or the field is absent.
 */
const FieldPatternSchema = z.union([
  z.strictObject({ is: JsonValueSchema }),
  z.strictObject({ under: z.string().min(1) }),
  z.strictObject({ startsWith: z.string().min(1) }),
  z.strictObject({ any: z.literal(true) }),
]);
export type FieldPattern = z.infer<typeof FieldPatternSchema>;

/** By field of the input. A field that is not named must be absent. */
export const InputPatternSchema = z
  .record(IdSchema, FieldPatternSchema)
  .refine((pattern) => Object.keys(pattern).length <= maxPatternFields, "too many fields")
  .refine((pattern) => JSON.stringify(pattern).length <= maxPatternLength, "too long");
export type InputPattern = z.infer<typeof InputPatternSchema>;

/** What a grant allows: all that a human must see before giving it. */
export const GrantTermsSchema = object(() => ({
  agent: IdSchema,
  /** Absent: all sessions, of the directory where one is named. */
  session: IdSchema.optional(),
  /** Only where the agent works in this directory, as it says; in all its sessions there. */
  directory: WordsSchema.optional(),
  tool: IdSchema,
  /** Exactly one subject, or all inputs of the tool that match. */
  match: z.union([z.strictObject({ digest: DigestSchema }), z.strictObject({ input: InputPatternSchema })]),
  expiresAtMs: TimeMsSchema,
}));
export type GrantTerms = z.infer<typeof GrantTermsSchema>;

/** A stored `always` answer. */
export const GrantSchema = GrantTermsSchema.extend({
  id: IdSchema,
  seq: SequenceSchema,
  by: IdSchema,
  createdAtMs: TimeMsSchema,
  /** The question that it was given for. */
  approvalId: IdSchema,
  revoked: z.object({ by: IdSchema, atMs: TimeMsSchema }).optional(),
});
export type Grant = z.infer<typeof GrantSchema>;

/** The request for a grant, in an answer. Agent and tool are those of the question. */
export const AlwaysSchema = z.strictObject({
  /** `workspace`: the agent, wherever it works in the directory of the question, which must name one. */
  reach: z.enum(["session", "workspace", "agent"]),
  /** @default exactly this subject */
  input: InputPatternSchema.optional(),
  /** At most the limit `grantMs`, which is the default. */
  forMs: DurationMsSchema.optional(),
});
export type Always = z.infer<typeof AlwaysSchema>;
