import {
  type Actor,
  ActorSchema,
  type CallContext,
  CallContextSchema,
  type Caller,
  CallerSchema,
} from "@harnesskit/protocol/runtime";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { CoreLimits } from "./core-limits.ts";
import { exceedsBytes, measureJson } from "./measure-json.ts";

/** Options of a call. */
export interface CallOptions {
  /** Time until the call ends with `tool.timeout`, waiting for a place included. @default 120000 */
  readonly timeoutMs?: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** The same key and input mean the same call: its result is given again while it is remembered. */
  readonly idempotencyKey?: string;
  /** Who calls, for the agent. Metadata only. */
  readonly caller?: Caller;
  /** Who is behind the message, for the agent. Metadata only. */
  readonly actor?: Actor;
  /** What the call is about, for the agent. Never secret. */
  readonly context?: CallContext;
  /** The logical request that the call belongs to. @default the call's id */
  readonly requestId?: string;
  /** The wider story: a conversation, a mission, a workflow. @default the request's id */
  readonly correlationId?: string;
  /** What caused the call directly. @default the directive's id, if there is one */
  readonly causationId?: string;
  /** The directive that asks for the call; a tool with `requires_directive` needs one. */
  readonly directiveId?: string;
}

const checkId = (name: string, value: unknown): void => {
  if (value === undefined) return;
  if (typeof value !== "string" || value.length === 0 || value.length > 256) {
    throw new InvalidArgumentError(`${name} has to be a text of 1 to 256 characters`);
  }
};

/** Throws `invalid_argument` for options that cannot be used. */
export const checkCallOptions = (options: CallOptions, limits: CoreLimits): void => {
  const { timeoutMs, caller, actor, context } = options;
  if (timeoutMs !== undefined) {
    if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > limits.maxTimeoutMs) {
      throw new InvalidArgumentError(`timeoutMs has to be a whole number from 1 to ${limits.maxTimeoutMs}`);
    }
  }
  checkId("idempotencyKey", options.idempotencyKey);
  checkId("requestId", options.requestId);
  checkId("correlationId", options.correlationId);
  checkId("causationId", options.causationId);
  checkId("directiveId", options.directiveId);
  if (caller !== undefined && !CallerSchema.safeParse(caller).success) {
    throw new InvalidArgumentError("caller has to be { type, id }");
  }
  if (actor !== undefined && !ActorSchema.safeParse(actor).success) {
    throw new InvalidArgumentError("actor has to be { type, id, display? }");
  }
  if (context !== undefined) checkContext(context, limits);
};

const checkContext = (context: CallContext, limits: CoreLimits): void => {
  const measured = measureJson(context);
  if (!measured || exceedsBytes(context, measured.bytes, limits.maxContextBytes)) {
    throw new InvalidArgumentError(`context has to be JSON of at most ${limits.maxContextBytes} bytes`);
  }
  if (!CallContextSchema.safeParse(context).success) {
    throw new InvalidArgumentError("context has to be { project_root?, resource_paths?, ui? }");
  }
};
