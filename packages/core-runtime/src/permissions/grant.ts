import { isRfc3339 } from "@harnesskit/protocol/envelope";
import { AgentIdSchema, ToolNameSchema } from "@harnesskit/protocol/runtime";
import * as z from "zod";

/** The permission that a tool needs unless it declares `side_effects: false`. */
export const SIDE_EFFECTS_PERMISSION = "side_effects";

/** What is granted to every agent: permissions to read. Names are compared exactly. */
export const readingPermissions: readonly string[] = Object.freeze(["fs.read", "mcp.read"]);

/** A permission that can be granted: ASCII, so that no two names look the same. `*` has no meaning of its own. */
export const PermissionNameSchema = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.:/*@+=-]{0,255}$/);

/** A point in time as in RFC 3339. */
export const TimeSchema = z.string().refine(isRfc3339, { error: "expected a time as in RFC 3339" });

/** An id, or the name of the person or program that did something. */
const NameSchema = z.string().min(1).max(256);

/** Who calls, or is behind a call, as a grant or a directive names it. */
export const PartySchema = z.strictObject({ type: z.enum(["human", "agent", "system"]), id: NameSchema });

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

/** A clock may be set back by so much without effect on what is in force. */
const toleranceMs = 60_000;

/**
 * Whether a grant is in force. One with an end holds from when it was given, so that a clock that is set back does not
 * bring back what has expired.
 */
export const isInForce = ({ granted_at, until }: CoreGrant, now: number): boolean =>
  until === undefined || (Date.parse(granted_at) - toleranceMs <= now && now < Date.parse(until));
