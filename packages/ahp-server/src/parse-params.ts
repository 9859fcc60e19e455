import {
  type AhpEvent,
  ahpMethods,
  type HandshakeParams,
  type QueryParams,
  quickSafeParse,
} from "@harnesskit/protocol/ahp";
import type { ResolvedLimits } from "./limits.ts";
import { invalidParams, Refusal, type RefusalReason } from "./refusal.ts";

/** What this package uses of a zod schema. */
export interface Schema<T> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const problemOf = ({ path, message }: Issue): string => {
  const where = path.map(String).join(".");
  return (where === "" ? message : `${where}: ${message}`).slice(0, 300);
};

/** Parses, or says with -32602 what is wrong first, and where. */
export const parseWith = <T>(
  schema: Schema<T>,
  value: unknown,
  what: string,
  reason: RefusalReason = "invalid_params",
): T | Refusal => {
  let parsed: ReturnType<Schema<T>["safeParse"]>;
  try {
    parsed = quickSafeParse(schema, value);
  } catch {
    // Deeper than the stack: only for values that no codec has bounded.
    return invalidParams("too_deep", `Invalid ${what}: it nests too deeply`);
  }
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return invalidParams(reason, `Invalid ${what}${issue ? `: ${problemOf(issue)}` : ""}`);
};

const checkIds = <T extends { readonly session_id: string; readonly agent_id: string }>(
  params: T,
  { maxIdLength }: ResolvedLimits,
): T | Refusal => {
  if (params.session_id.length <= maxIdLength && params.agent_id.length <= maxIdLength) return params;
  return invalidParams("id_too_long", `An id has more than ${maxIdLength} characters`, {
    limit: maxIdLength,
  });
};

/** The params of `ahp/event`, its payload not yet judged by its type. */
export const readEvent = (params: unknown, limits: ResolvedLimits): AhpEvent | Refusal => {
  const event = parseWith(ahpMethods["ahp/event"].params, params, "event");
  return event instanceof Refusal ? event : checkIds(event, limits);
};

/** The params of `ahp/query`. */
export const readQuery = (params: unknown, limits: ResolvedLimits): QueryParams | Refusal => {
  const query = parseWith(ahpMethods["ahp/query"].params, params, "query");
  return query instanceof Refusal ? query : checkIds(query, limits);
};

/** The params of `ahp/handshake`. They are kept as long as the connection, and so are bounded. */
export const readHandshake = (params: unknown, limits: ResolvedLimits): HandshakeParams | Refusal => {
  const handshake = parseWith(ahpMethods["ahp/handshake"].params, params, "handshake");
  if (handshake instanceof Refusal) return handshake;
  const { protocol_version: version, agent_info: info } = handshake;
  let length = version.length + info.framework.length + info.version.length;
  for (const capability of info.capabilities) length += capability.length + 1;
  if (length > limits.maxHandshakeLength) {
    const limit = limits.maxHandshakeLength;
    return invalidParams("handshake_too_long", `A handshake has more than ${limit} characters`, { limit });
  }
  return checkIds(handshake, limits);
};

/** The list in the params of `ahp/batch`: only its size is judged, before anything of it is looked at. */
export const readBatch = (params: unknown, { batchSize }: ResolvedLimits): readonly unknown[] | Refusal => {
  const events: unknown =
    typeof params === "object" && params !== null ? (params as { events?: unknown }).events : undefined;
  if (!Array.isArray(events)) return invalidParams("invalid_params", "Invalid batch: events: expected array");
  if (events.length > batchSize) {
    return invalidParams("batch_too_large", `A batch has at most ${batchSize} events`, { limit: batchSize });
  }
  return events;
};
