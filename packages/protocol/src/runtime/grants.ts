import * as z from "zod";
import { boundedString } from "../checked.ts";
import { Rfc3339Schema } from "../rfc3339.ts";
import { RuntimeIdSchema } from "./envelope.ts";
import { AgentIdSchema } from "./session.ts";
import { ToolIdSchema, ToolNameSchema } from "./tools.ts";

/** The permission that a tool needs unless it declares `side_effects: false`. */
export const SIDE_EFFECTS_PERMISSION = "side_effects";

/** What is granted to every agent: permissions to read. Names are compared exactly. */
export const readingPermissions: readonly string[] = Object.freeze(["fs.read"]);

/** A permission that can be granted: ASCII, so that no two names look the same. `*` has no meaning of its own. */
export const PermissionNameSchema = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.:/*@+=-]{0,255}$/);

/** Who calls, or is behind a call, as a grant or a directive names it. */
const PartySchema = z.strictObject({ type: z.enum(["human", "agent", "system"]), id: RuntimeIdSchema });

/**
 * One permission of one agent (section 4.3.1). What narrows it must match exactly; a call without a caller matches no
 * grant that names one. Unknown fields are refused: to ignore one could widen the grant.
 */
export const GrantSchema = z.strictObject({
  id: RuntimeIdSchema,
  agent_id: AgentIdSchema,
  permission: PermissionNameSchema,
  /** Names of the tools that it is for. Left out: all tools of the agent. */
  tools: z.array(ToolNameSchema).min(1).max(1024).optional(),
  /** Left out: whoever calls. */
  caller: PartySchema.optional(),
  /** Left out: whoever is behind the call. */
  actor: PartySchema.optional(),
  /** Left out: until it is revoked. */
  until: Rfc3339Schema.optional(),
  granted_at: Rfc3339Schema,
  granted_by: boundedString(256),
});
export type Grant = z.infer<typeof GrantSchema>;

const DigestSchema = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/**
 * What asks for calls of one tool (section 4.2.1, `requires_directive`): issued by someone, for exactly one input or for
 * some of its fields, for a time and a number of uses. Holds digests, never content.
 */
export const DirectiveSchema = z.strictObject({
  id: RuntimeIdSchema,
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
  issued_at: Rfc3339Schema,
  until: Rfc3339Schema,
  /** How many calls may use it. */
  max_uses: z.int().positive(),
  /** How many calls have used it. */
  uses: z.int().nonnegative(),
  revoked_at: Rfc3339Schema.optional(),
  revoked_by: boundedString(256).optional(),
});
export type Directive = z.infer<typeof DirectiveSchema>;
