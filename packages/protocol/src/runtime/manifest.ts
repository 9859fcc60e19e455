import * as z from "zod";
import { object } from "../fields.ts";
import { defaultRuntimeLimits } from "./limits.ts";
import { AgentIdSchema, SemanticVersionSchema } from "./session.ts";

/** The name of the file that describes an agent, in the directory that its command runs in. */
export const AGENT_MANIFEST_FILE = "opensentience.agent.json";

/** What a core does about an agent that ended, where the manifest does not say. */
export const defaultRestartPolicy = {
  policy: "on-failure",
  initial_backoff_ms: 200,
  max_backoff_ms: 30_000,
  max_burst: 5,
  burst_window_ms: 60_000,
  stable_after_ms: 30_000,
} as const;

/** Longer than this no one waits for an agent's tools. */
const maxStartTimeoutMs = 660_000;

const backoff = z.int().nonnegative();
const positive = z.int().positive();

/** The `description` and the `default` of a field; editors show them through the published schema file. */
const field = <Schema extends z.ZodType>(schema: Schema, description: string, byDefault?: unknown) =>
  schema.meta(byDefault === undefined ? { description } : { description, default: byDefault }).optional();

/**
 * When and how a core starts an agent again that ended. Each field's `description` says what it means, and
 * {@link defaultRestartPolicy} holds what is left out.
 */
export const RestartPolicySchema = object(() => ({
  policy: field(
    z.enum(["never", "on-failure", "always"]),
    "When the agent is started again. on-failure: unless it exited with 0 or was asked to end.",
    defaultRestartPolicy.policy,
  ),
  initial_backoff_ms: field(
    backoff,
    "The first wait, doubled with each further restart, in milliseconds.",
    defaultRestartPolicy.initial_backoff_ms,
  ),
  max_backoff_ms: field(backoff, "The longest wait, in milliseconds.", defaultRestartPolicy.max_backoff_ms),
  max_burst: field(
    positive,
    "Restarts within burst_window_ms after which the core gives up.",
    defaultRestartPolicy.max_burst,
  ),
  burst_window_ms: field(positive, "In milliseconds.", defaultRestartPolicy.burst_window_ms),
  stable_after_ms: field(
    positive,
    "Time of running after which the wait starts small again, in milliseconds.",
    defaultRestartPolicy.stable_after_ms,
  ),
}));
export type RestartPolicy = z.infer<typeof RestartPolicySchema>;

/** Limits that an agent asks for; a core may set lower ones, never higher. */
export const AgentLimitsSchema = object(() => ({
  max_inflight_requests: field(
    positive,
    "Calls that run at once.",
    defaultRuntimeLimits.max_inflight_requests,
  ),
  max_tool_input_bytes: field(
    positive,
    "Bytes of one call's input as JSON.",
    defaultRuntimeLimits.max_tool_input_bytes,
  ),
  max_tool_output_bytes: field(
    positive,
    "Bytes of one result's output as JSON.",
    defaultRuntimeLimits.max_tool_output_bytes,
  ),
  max_inflight_per_tool: field(z.record(z.string(), positive), "Calls of one tool at once, by its name."),
}));
export type AgentLimits = z.infer<typeof AgentLimitsSchema>;

/**
 * `opensentience.agent.json`: how a core starts an agent and what it may do. Published for editors as
 * `schema/agent-manifest.json`. Each field's `description` says what it means.
 */
export const AgentManifestSchema = object(() => ({
  $schema: field(z.string(), "Where an editor finds this schema. Cores ignore it."),
  id: AgentIdSchema.describe("The agent's id, the part of its tools' ids before the slash."),
  version: SemanticVersionSchema.describe("Semantic version of the agent, such as 1.4.0."),
  command: z
    .tuple([z.string().min(1)], z.string())
    .describe("The program and its arguments; no shell reads it. It runs in the manifest's directory."),
  name: field(z.string().max(256), "What people call the agent."),
  description: field(z.string().max(4096), "What the agent is for."),
  env: field(
    z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)),
    "Names of further environment variables of the core that the process gets.",
  ),
  permissions: field(
    z.array(z.string().min(1).max(256)),
    "What its tools need, such as fs.write; a core calls a tool only if each permission that it needs is granted. fs.read is granted by default.",
  ),
  start_timeout_ms: field(
    positive.max(maxStartTimeoutMs),
    "How long the agent may take, from the start of its process, to connect, and from then on to register its tools, in milliseconds. What a core gives to all agents holds where it is left out.",
  ),
  restart: field(RestartPolicySchema, "When and how the agent is started again."),
  limits: field(AgentLimitsSchema, "Limits that the agent asks for; a core may set lower ones."),
}));
export type AgentManifest = z.infer<typeof AgentManifestSchema>;
