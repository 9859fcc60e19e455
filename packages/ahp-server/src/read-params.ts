import {
  type AhpEvent,
  ahpMethods,
  type HandshakeParams,
  isUsualEvent,
  type QueryParams,
} from "@harnesskit/protocol/ahp";
import type * as z from "zod";
import type { AhpServerLimits } from "./limits.ts";
import { invalidParams } from "./refusal.ts";

const describeIssue = ({ path, message }: z.core.$ZodIssue): string => {
  const where = path.map(String).join(".");
  return (where === "" ? message : `${where}: ${message}`).slice(0, 300);
};

/** Parses, or throws -32602 that says what is wrong first, and where. */
export const parseWith = <T>(
  schema: z.ZodType<T>,
  value: unknown,
  what: string,
  reason = "invalid_params",
): T => {
  let parsed: z.ZodSafeParseResult<T>;
  try {
    parsed = schema.safeParse(value);
  } catch {
    // Checks of lengths throw for an object whose `length` has no number.
    throw invalidParams(reason, `Invalid ${what}`);
  }
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === "custom" && issue.params?.code === "too_deep")
    throw invalidParams("too_deep", `Invalid ${what}: it nests too deeply`);
  throw invalidParams(reason, `Invalid ${what}${issue ? `: ${describeIssue(issue)}` : ""}`);
};

const checkIds = (
  params: { session_id: string; agent_id: string },
  { maxIdLength }: AhpServerLimits,
): void => {
  if (params.session_id.length <= maxIdLength && params.agent_id.length <= maxIdLength) return;
  const limit = maxIdLength;
  throw invalidParams("id_too_long", `An id has more than ${limit} characters`, { limit });
};

/** The params of `ahp/event`, its payload not yet checked by its type. */
export const readEvent = (params: unknown, limits: AhpServerLimits): AhpEvent => {
  const event = isUsualEvent(params) ? params : parseWith(ahpMethods["ahp/event"].params, params, "event");
  checkIds(event, limits);
  return event;
};

/** The params of `ahp/query`. */
export const readQuery = (params: unknown, limits: AhpServerLimits): QueryParams => {
  const query = parseWith(ahpMethods["ahp/query"].params, params, "query");
  checkIds(query, limits);
  return query;
};

/** The params of `ahp/handshake`. They are kept as long as the connection, and so are bounded. */
export const readHandshake = (params: unknown, limits: AhpServerLimits): HandshakeParams => {
  const handshake = parseWith(ahpMethods["ahp/handshake"].params, params, "handshake");
  const { protocol_version: version, agent_info: info } = handshake;
  let length = version.length + info.framework.length + info.version.length;
  for (const capability of info.capabilities) length += capability.length + 1;
  const limit = limits.maxHandshakeLength;
  if (length > limit) {
    throw invalidParams("handshake_too_long", `A handshake has more than ${limit} characters`, { limit });
  }
  checkIds(handshake, limits);
  return handshake;
};

/** The list in the params of `ahp/batch`: only its size is checked. */
export const readBatchList = (params: unknown, { batchSize }: AhpServerLimits): readonly unknown[] => {
  const events: unknown =
    typeof params === "object" && params !== null ? (params as { events?: unknown }).events : undefined;
  if (!Array.isArray(events)) throw invalidParams("invalid_params", "Invalid batch: events: expected array");
  if (events.length > batchSize) {
    throw invalidParams("batch_too_large", `A batch has at most ${batchSize} events`, { limit: batchSize });
  }
  return events;
};
