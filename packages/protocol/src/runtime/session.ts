import * as z from "zod";
import { JsonObjectSchema } from "../envelope/json.ts";
import { tolerant } from "../null-as-absent.ts";
import { messageSchema, RuntimeErrorSchema, RuntimeIdSchema } from "./envelope.ts";

/** The id of an agent, as its manifest has it. It has no slash: the first slash of a tool's id ends it. */
export const AgentIdSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);

/** A version after Semantic Versioning 2.0.0. */
export const SemanticVersionSchema = z
  .string()
  .max(256)
  .regex(
    /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/,
    "is not a semantic version such as 1.4.0",
  );

/** The first message on a connection (section 4.1.1). */
export const AgentHelloSchema = messageSchema(
  "agent.hello",
  tolerant(() => ({
    /** Secret: the token that the core gave the process at its launch. */
    session_token: z.string().max(1024),
    agent_id: z.string().max(256),
    /** A semantic version; any string is read, so that an older agent is not shut out. */
    agent_version: z.string().max(256),
    /** `sha256:` and the hex digest of the bytes of `opensentience.agent.json`. */
    manifest_hash: z.string().max(256).optional(),
    protocol: z.object({
      supported_versions: z.array(z.int()).max(64),
      capabilities: z.array(z.string().max(128)).max(64),
    }),
    sdk: z.object({ name: z.string().max(128), version: z.string().max(128) }).optional(),
  })),
);
export type AgentHello = z.infer<typeof AgentHelloSchema>;

/** The core lets the agent in (section 4.1.2). One with an `error` is a {@link CoreRefusal}. */
export const CoreWelcomeSchema = messageSchema(
  "core.welcome",
  tolerant(() => ({
    accepted_version: z.int(),
    session_id: RuntimeIdSchema,
    heartbeat_interval_ms: z.int().positive(),
    max_frame_bytes: z.int().positive(),
    server: z.object({ core_version: z.string(), instance_id: z.string() }),
  })),
  { error: z.never().optional() },
);
export type CoreWelcome = z.infer<typeof CoreWelcomeSchema>;

/** The core does not let the agent in (sections 4.1.2, 6.1): a welcome with an error, after which it closes. */
export const CoreRefusalSchema = messageSchema("core.welcome", JsonObjectSchema, {
  error: RuntimeErrorSchema,
});
export type CoreRefusal = z.infer<typeof CoreRefusalSchema>;

/** The core will close the connection (section 4.1.3). */
export const CoreGoodbyeSchema = messageSchema(
  "core.goodbye",
  tolerant(() => ({
    reason: z.string(),
    /** How long to wait before connecting again, in milliseconds. Without it: do not come back. */
    retry_after_ms: z.int().nonnegative().optional(),
  })),
);
export type CoreGoodbye = z.infer<typeof CoreGoodbyeSchema>;

/** Sent once every `heartbeat_interval_ms` (section 4.5.1). */
export const AgentHeartbeatSchema = messageSchema(
  "agent.heartbeat",
  tolerant(() => ({
    session_id: RuntimeIdSchema,
    uptime_ms: z.int().nonnegative(),
    inflight_calls: z.int().nonnegative(),
    status: z.enum(["ok", "degraded", "unhealthy"]),
    details: JsonObjectSchema.optional(),
  })),
);
export type AgentHeartbeat = z.infer<typeof AgentHeartbeatSchema>;

/** Are you there? (section 4.5.2) */
export const CorePingSchema = messageSchema("core.ping", z.object({}));

/** The answer to a ping, with its `id` in `in_reply_to` (section 4.5.2). */
export const AgentPongSchema = messageSchema("agent.pong", z.object({}));

/** The core answers a message that it cannot take and whose sender waits (section 6.2). */
export const CoreErrorSchema = messageSchema("core.error", z.object({}), { error: RuntimeErrorSchema });

/** The agent answers a message that it cannot take and whose sender waits (section 6.2). */
export const AgentErrorSchema = messageSchema("agent.error", z.object({}), { error: RuntimeErrorSchema });
