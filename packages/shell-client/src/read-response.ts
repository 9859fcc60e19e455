import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type ActionDirective,
  ActionDirectiveSchema,
  ContinuationSchema,
  majorOf,
  OPENHARNESS_VERSION,
  parseActionDirective,
  type ShellResponse,
  ShellResponseSchema,
  withMessageText,
} from "@harnesskit/protocol/openharness";
import { copyJson, defined, isObject, JsonError } from "@harnesskit/wire/json";
import { directiveDigest } from "./ask-user.ts";
import type { ShellClientLimits } from "./limits.ts";
import { ShellClientError, type ShellClientErrorReason } from "./shell-client-error.ts";
import type { PendingApproval } from "./shell-outcome.ts";

/** A frozen copy that no caller holds. Throws what `toError` makes of the problem. */
export const copyMessage = (
  value: unknown,
  bounds: { readonly maxBytes: number; readonly maxDepth: number },
  toError: (problem: JsonError["code"], cause: unknown) => Error,
): JsonObject => {
  try {
    return copyJson<JsonObject>(value, { ...bounds, freeze: true });
  } catch (error) {
    throw toError(JsonError.isInstance(error) ? error.code : "not_json", error);
  }
};

const invalidResponse = (
  message: string,
  reason: ShellClientErrorReason,
  more: { path?: string; cause?: unknown } = {},
) => new ShellClientError("invalid_response", message, { reason, ...more });

/** With the string of a message under both of its names, so that an executor may read either. */
const frozen = (directive: ActionDirective): ActionDirective => {
  const whole = withMessageText(directive);
  if (whole !== directive) Object.freeze(whole.payload);
  return Object.freeze(whole);
};

const ownMajor = majorOf(OPENHARNESS_VERSION);

/** A response, and what is wrong with those of its directives that are not valid, by their places. */
export interface ReadResponse {
  readonly response: ShellResponse;
  readonly invalid: ReadonlyMap<number, string>;
}

/** What is left of a directive that is not valid: its type and its payload, as far as they are there. */
const remainsOf = (given: unknown): JsonObject => {
  const { action_type: type, payload } = isObject(given) ? given : {};
  const name = typeof type === "string" && type !== "" ? type : "invalid";
  return defined({ action_type: name, payload: isObject(payload) ? (payload as JsonObject) : undefined });
};

/** A message with the remains of its directives that are not valid in their places. */
const withRemains = (message: JsonObject, invalid: Map<number, string>): JsonObject => {
  const { response } = message;
  if (!isObject(response) || !Array.isArray(response.action_directives)) return message;
  const directives = response.action_directives.map((given, index) => {
    const parsed = parseActionDirective(given);
    if ("data" in parsed) return given;
    invalid.set(index, parsed.path.split(".", 1)[0] || "an object is expected");
    return remainsOf(given);
  });
  return { ...message, response: { ...response, action_directives: directives } };
};

/**
 * Makes a response of what came back: a copy that is the shell's alone, whose directives are frozen, each message under both
 * of its names. Throws a
 * `ShellClientError`: `protocol_version_unsupported` or `invalid_response`.
 */
export const readResponse = (raw: unknown, requestId: string, limits: ShellClientLimits): ReadResponse => {
  if (raw === undefined) throw invalidResponse("the engine gave no response", "no_response");
  const copyLimits = { maxBytes: limits.maxResponseBytes, maxDepth: limits.maxDepth };
  const copy = copyMessage(raw, copyLimits, (problem, cause) =>
    invalidResponse("what came back is not JSON, too large, or too deep", problem, { cause }),
  );
  // The version comes first, because another one may mean other messages.
  const version = typeof copy === "object" && copy !== null ? copy.protocol_version : undefined;
  const major = typeof version === "string" ? majorOf(version) : undefined;
  if (major !== undefined && major !== ownMajor) {
    throw new ShellClientError(
      "protocol_version_unsupported",
      "the engine answered in another major version of the protocol",
    );
  }
  const invalid = new Map<number, string>();
  let parsed = ShellResponseSchema.safeParse(copy);
  if (!parsed.success && isObject(copy)) parsed = ShellResponseSchema.safeParse(withRemains(copy, invalid));
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
    throw invalidResponse("what came back is not a valid OpenHarness response", "schema", { path });
  }
  const response = parsed.data;
  if (response.request_id !== undefined && response.request_id !== requestId) {
    throw invalidResponse("what came back is the response to another request", "other_request_id");
  }
  const directives = response.response.action_directives ?? [];
  if (directives.length > limits.maxDirectives) {
    throw invalidResponse(`a response has ${limits.maxDirectives} directives at most`, "too_many_directives");
  }
  response.response.action_directives &&= directives.map(frozen);
  return { response, invalid };
};

/**
 * Reads a pending approval that may come out of a store. Rejects with `invalid_request` for anything else, and with
 * `approval_mismatch` where the digest is not of the directive: then what was shown may not be what would be answered.
 */
export const readPending = async (given: unknown, limits: ShellClientLimits): Promise<PendingApproval> => {
  const none = (cause?: unknown) =>
    new ShellClientError("invalid_request", "not a valid pending approval", { reason: "schema", cause });
  const copyLimits = { maxBytes: limits.maxResponseBytes, maxDepth: limits.maxDepth };
  const copy = copyMessage(given, copyLimits, (_problem, cause) => none(cause));
  const { directive, continuation, digest } = typeof copy === "object" && copy !== null ? copy : {};
  const read = ActionDirectiveSchema.safeParse(directive);
  const next = ContinuationSchema.safeParse(continuation);
  if (!read.success || !next.success || typeof digest !== "string") throw none();
  const actual = await directiveDigest(read.data).catch((cause: unknown) => {
    throw none(cause);
  });
  if (actual === digest) return { directive: read.data, digest, continuation: next.data };
  throw new ShellClientError(
    "approval_mismatch",
    "the digest of the pending approval is not of its directive",
  );
};
