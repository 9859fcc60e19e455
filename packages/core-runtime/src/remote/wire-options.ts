import type { CallOptions } from "../call-options.ts";

/** The options of a call that a client may say, and what they are called on the wire. */
const wireNames = {
  timeoutMs: "timeout_ms",
  idempotencyKey: "idempotency_key",
  context: "context",
  requestId: "request_id",
  correlationId: "correlation_id",
  causationId: "causation_id",
  directiveId: "directive_id",
  declarationDigest: "declaration_digest",
} as const satisfies { readonly [Name in keyof CallOptions]?: string };

const pairs = Object.entries(wireNames) as [keyof typeof wireNames, string][];

export const toWireOptions = (options: CallOptions): Record<string, unknown> =>
  Object.fromEntries(pairs.map(([name, wireName]) => [wireName, options[name]]));

/** `given` was checked against its schema. */
export const callOptionsOf = (given: Readonly<Record<string, unknown>>): CallOptions =>
  Object.fromEntries(pairs.map(([name, wireName]) => [name, given[wireName]]));
