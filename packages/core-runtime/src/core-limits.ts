import { defaultRuntimeLimits } from "@harnesskit/protocol/runtime";
import { InvalidArgumentError } from "@harnesskit/wire";

/** What a core takes at the most. A manifest may ask for less, never for more. */
export interface CoreLimits {
  /** Bytes of one frame, as told to agents; the channels enforce it. @default 4194304 (4 MiB) */
  readonly maxFrameBytes: number;
  /** Calls that one agent runs at once. @default 256 */
  readonly maxInflightRequests: number;
  /** Calls that wait for one agent, or for their authorization, beside those that run. @default 1024 */
  readonly maxQueuedCalls: number;
  /** Bytes of one call's input as JSON. @default 1048576 (1 MiB) */
  readonly maxToolInputBytes: number;
  /** Bytes of one result's output as JSON. @default 1048576 (1 MiB) */
  readonly maxToolOutputBytes: number;
  /** Bytes of one call's context as JSON. @default 65536 */
  readonly maxContextBytes: number;
  /** Bytes of the details of an agent's error as JSON; larger details are left out. @default 65536 */
  readonly maxErrorBytes: number;
  /** The longest `timeoutMs` of a call. @default 3600000 (one hour) */
  readonly maxTimeoutMs: number;
  /** Stream chunks of one call that wait for their reader; then the oldest are dropped. @default 256 */
  readonly maxStreamChunks: number;
  /** Bytes of stream chunks of one call that wait for their reader. @default 262144 */
  readonly maxStreamBytes: number;
  /** Tools of one agent. @default 1024 */
  readonly maxTools: number;
  /** Bytes of one tool's declaration as JSON. @default 262144 */
  readonly maxToolBytes: number;
  /** Characters of all declarations of one agent together. @default 8388608 */
  readonly maxRegistryLength: number;
  /** Subschemas in one schema of a tool. @default 500 */
  readonly maxSchemaNodes: number;
  /** How deep the subschemas of one schema nest. @default 32 */
  readonly maxSchemaDepth: number;
  /** Regular expressions in one schema of a tool. @default 64 */
  readonly maxPatterns: number;
  /** Characters of one regular expression. @default 1024 */
  readonly maxPatternLength: number;
  /** Steps that one validation may take. @default 2000000 */
  readonly maxValidationSteps: number;
  /** Compiled schemas that are kept; beyond, the one compiled first is dropped, and compiled anew if it is needed. @default 1024 */
  readonly maxCompiledSchemas: number;
  /** Idempotency keys that are remembered. @default 4096 */
  readonly maxIdempotencyKeys: number;
  /** Bytes of the results that are remembered with their keys. @default 16777216 (16 MiB) */
  readonly maxIdempotencyBytes: number;
  /** Connections that have not said hello yet. @default 64 */
  readonly maxUnauthenticatedConnections: number;
  /** Launches that are admitted at once. @default 1024 */
  readonly maxAdmissions: number;
  /** Invalid or misplaced messages of one session, after which it is closed. @default 100 */
  readonly maxInvalidMessages: number;
  /** Audit entries a minute that one agent can cause beside its calls; more are counted only. @default 120 */
  readonly maxAuditEventsPerMinute: number;
  /** Open watches of tools and health, each. @default 256 */
  readonly maxWatchers: number;
}

export const defaultCoreLimits: CoreLimits = {
  maxFrameBytes: defaultRuntimeLimits.max_frame_bytes,
  maxInflightRequests: defaultRuntimeLimits.max_inflight_requests,
  maxQueuedCalls: 1024,
  maxToolInputBytes: defaultRuntimeLimits.max_tool_input_bytes,
  maxToolOutputBytes: defaultRuntimeLimits.max_tool_output_bytes,
  maxContextBytes: 64 * 1024,
  maxErrorBytes: 64 * 1024,
  maxTimeoutMs: 60 * 60 * 1000,
  maxStreamChunks: 256,
  maxStreamBytes: 256 * 1024,
  maxTools: 1024,
  maxToolBytes: 256 * 1024,
  maxRegistryLength: 8 * 1024 * 1024,
  maxSchemaNodes: 500,
  maxSchemaDepth: 32,
  maxPatterns: 64,
  maxPatternLength: 1024,
  maxValidationSteps: 2_000_000,
  maxCompiledSchemas: 1024,
  maxIdempotencyKeys: 4096,
  maxIdempotencyBytes: 16 * 1024 * 1024,
  maxUnauthenticatedConnections: 64,
  maxAdmissions: 1024,
  maxInvalidMessages: 100,
  maxAuditEventsPerMinute: 120,
  maxWatchers: 256,
};

/** Throws `invalid_argument` unless `value` is a whole number from `min`. */
export const checkWholeNumber = (name: string, value: number, min: number): number => {
  if (!Number.isSafeInteger(value) || value < min) {
    throw new InvalidArgumentError(`${name} has to be a whole number from ${min}`);
  }
  return value;
};

/** The defaults with what the caller sets instead. Throws `invalid_argument` for a limit that is none. */
export const resolveLimits = (own: Partial<CoreLimits> = {}): CoreLimits => {
  const limits: Record<string, number> = { ...defaultCoreLimits };
  for (const name of Object.keys(defaultCoreLimits) as (keyof CoreLimits)[]) {
    const value = own[name];
    if (value !== undefined) limits[name] = checkWholeNumber(`limits.${name}`, value, 1);
  }
  return limits as unknown as CoreLimits;
};
