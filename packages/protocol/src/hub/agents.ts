import * as z from "zod";
import { object } from "../fields.ts";
import { TimeMsSchema } from "./values.ts";

/** How a client is held to its answers, by what was seen of it. */
const ProtectionSchema = object(() => ({
  /**
   * `gate`: it asks, and no action was seen that it did not ask about; `partial`: it asks, and did some actions without; `hook`: a hook of
   * another vendor's agent; `notify`: only reports; `unknown`.
   */
  kind: z.enum(["gate", "partial", "hook", "notify", "unknown"]),
  /** In words: what was seen, or what the agent does where the hub cannot be reached. */
  detail: z.string().optional(),
}));
export type Protection = z.infer<typeof ProtectionSchema>;

/** An agent that has spoken to this hub, all its sessions together. */
export const AgentStateSchema = object(() => ({
  agent: z.string(),
  /** What it runs on, as its last handshake says. */
  framework: z.string(),
  version: z.string(),
  isConnected: z.boolean(),
  /** Open connections; 0 for an agent over HTTP, which is connected while it was heard of within the last minute. */
  connections: z.int().nonnegative(),
  /** How it is connected, or was last: "unix", "websocket", "http". */
  transport: z.string(),
  firstSeenMs: TimeMsSchema,
  lastSeenMs: TimeMsSchema,
  protection: ProtectionSchema,
  /** Sessions, actions, those that were not judged, and those that wait for a human, as far as they are kept. */
  sessions: z.int().nonnegative(),
  actions: z.int().nonnegative(),
  unjudged: z.int().nonnegative(),
  waiting: z.int().nonnegative(),
  /** Sessions that can be stopped and told something now: `agents.control`. */
  controllable: z.array(z.string()),
  /** Tools of it that no table of `@harnesskit/agent-hooks` has, as its hooks name them, with their calls since the hub has started. */
  unknownTools: z.array(z.object({ tool: z.string(), calls: z.int().positive() })),
}));
export type AgentState = z.infer<typeof AgentStateSchema>;

/** What was counted of an agent's session. */
export const HubSessionStateSchema = object(() => ({
  agent: z.string(),
  session: z.string(),
  /** Where it works, if the agent says so. */
  workspace: z.string().optional(),
  /** What it was asked first, one safe line. */
  title: z.string().optional(),
  firstSeenMs: TimeMsSchema,
  lastSeenMs: TimeMsSchema,
  actions: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  refused: z.int().nonnegative(),
  /** Of which it is not known whether they happened. */
  unknown: z.int().nonnegative(),
  running: z.int().nonnegative(),
  unjudged: z.int().nonnegative(),
  waiting: z.int().nonnegative(),
}));
export type HubSessionState = z.infer<typeof HubSessionStateSchema>;
