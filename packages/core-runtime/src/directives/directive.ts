import { ToolIdSchema } from "@harnesskit/protocol/runtime";
import * as z from "zod";
import { NameSchema, PartySchema, TimeSchema } from "../records/record-fields.ts";

const DigestSchema = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/**
 * What asks for calls of one tool (section 4.2.1, `requires_directive`): issued by someone, for exactly one input or for
 * some of its fields, for a time and a number of uses. Holds digests, never content.
 */
export const DirectiveSchema = z.strictObject({
  id: NameSchema,
  tool_id: ToolIdSchema,
  /** The digest of the whole input, or of the values that some of its fields must have; the others are free. */
  input: z.union([
    z.strictObject({ digest: DigestSchema }),
    z.strictObject({
      fields: z
        .array(z.strictObject({ name: z.string(), digest: DigestSchema }))
        .min(1)
        .max(256),
    }),
  ]),
  issued_by: PartySchema,
  issued_at: TimeSchema,
  until: TimeSchema,
  /** How many calls may use it. */
  max_uses: z.int().positive(),
  /** How many calls have used it. */
  uses: z.int().nonnegative(),
  revoked_at: TimeSchema.optional(),
  revoked_by: NameSchema.optional(),
});
export type Directive = z.infer<typeof DirectiveSchema>;
