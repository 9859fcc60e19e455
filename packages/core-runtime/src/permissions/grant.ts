import { AgentIdSchema, ToolNameSchema } from "@harnesskit/protocol/runtime";
import * as z from "zod";
import { NameSchema, PartySchema, TimeSchema } from "../records/record-fields.ts";

/** The permission that a tool needs unless it declares `side_effects: false`. */
export const SIDE_EFFECTS_PERMISSION = "side_effects";

/** What is granted to every agent: permissions to read. Names are compared exactly. */
export const readingPermissions: readonly string[] = Object.freeze(["fs.read", "mcp.read"]);

/** A permission that can be granted: ASCII, so that no two names look the same. `*` has no meaning of its own. */
export const PermissionNameSchema = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.:/*@+=-]{0,255}$/);

/**
 * One permission of one agent (section 4.3.1). What narrows it must match exactly; a call without a caller matches no
 * grant that names one. Unknown fields are refused: to ignore one could widen the grant.
 */
export const CoreGrantSchema = z.strictObject({
  id: NameSchema,
  agent_id: AgentIdSchema,
  permission: PermissionNameSchema,
  /** Names of the tools that it is for. Left out: all tools of the agent. */
  tools: z.array(ToolNameSchema).min(1).max(1024).optional(),
  /** Left out: whoever calls. */
  caller: PartySchema.optional(),
  /** Left out: whoever is behind the call. */
  actor: PartySchema.optional(),
  /** Left out: until it is revoked. */
  until: TimeSchema.optional(),
  granted_at: TimeSchema,
  granted_by: NameSchema,
});
export type CoreGrant = z.infer<typeof CoreGrantSchema>;
