import type { Actor, CallContext, Caller } from "@harnesskit/protocol/runtime";
import { defineOptions, InvalidArgumentError, type OptionNames } from "@harnesskit/wire";
import type { CoreLimits } from "./core-limits.ts";

/** Options of a call. */
export interface CallOptions {
  /** Time until the call ends with `tool.timeout`, waiting for a slot included. @default 120000 */
  readonly timeoutMs?: number | undefined;
  /** Cancels the call. @default never */
  readonly signal?: AbortSignal | undefined;
  /** The same key and input mean the same call: its remembered result is returned again. @default none: each call is a new one */
  readonly idempotencyKey?: string | undefined;
  /** Who calls, for the agent. Metadata only. @default none */
  readonly caller?: Caller | undefined;
  /** Who is behind the message, for the agent. Metadata only. @default none */
  readonly actor?: Actor | undefined;
  /** What the call is about, for the agent. Never secret. @default none */
  readonly context?: CallContext | undefined;
  /** The logical request that the call belongs to. @default the call's id */
  readonly requestId?: string | undefined;
  /** The wider context: a conversation, a mission, a workflow. @default the request's id */
  readonly correlationId?: string | undefined;
  /** What caused the call directly. @default the directive's id, if there is one */
  readonly causationId?: string | undefined;
  /**
   * The issued directive that asks for the call, which uses it once; a tool with `requires_directive` needs one. It must be
   * for this tool and input, in force, and not spent. @default none
   */
  readonly directiveId?: string | undefined;
  /**
   * The `declaration_digest` of the tool that the call is meant for. If the tool has another one, the call is not made and
   * ends with `tool.changed`. @default any
   */
  readonly declarationDigest?: string | undefined;
}

const names: OptionNames<CallOptions> = {
  timeoutMs: false,
  signal: false,
  idempotencyKey: false,
  caller: false,
  actor: false,
  context: false,
  requestId: false,
  correlationId: false,
  causationId: false,
  directiveId: false,
  declarationDigest: false,
};
const checkNames = defineOptions<CallOptions>("call", names);

const ids: ReadonlySet<string> = new Set<keyof CallOptions>([
  "idempotencyKey",
  "requestId",
  "correlationId",
  "causationId",
  "directiveId",
  "declarationDigest",
]);

const isUsableId = (value: unknown): boolean =>
  value === undefined || (typeof value === "string" && value !== "" && value.length <= 256);

/** Throws `invalid_argument` for options that cannot be used. */
export const checkCallOptions = (options: CallOptions, { maxTimeoutMs }: CoreLimits): void => {
  const { timeoutMs = 1 } = options;
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > maxTimeoutMs) {
    throw new InvalidArgumentError(`timeoutMs must be an integer from 1 to ${maxTimeoutMs}`);
  }
  // Most calls have no options.
  for (const name in options) {
    // Not for each call: it takes microseconds.
    if (!Object.hasOwn(names, name)) checkNames(options);
    if (!ids.has(name) || isUsableId(options[name as keyof CallOptions])) continue;
    throw new InvalidArgumentError(`${name} must be a string of 1 to 256 characters`);
  }
};
