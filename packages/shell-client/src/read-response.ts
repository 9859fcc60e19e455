import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type ActionDirective,
  majorOf,
  OPENHARNESS_VERSION,
  type ShellResponse,
  ShellResponseSchema,
  withMessageText,
} from "@harnesskit/protocol/openharness";
import { copyJson } from "./copy-json.ts";
import type { ResolvedLimits } from "./limits.ts";
import { ShellClientError, type ShellClientErrorReason } from "./shell-client-error.ts";

const invalid = (
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

/**
 * Makes a response of what came back: a copy that is the shell's alone, whose directives are frozen, each message under both
 * of its names. Throws a
 * `ShellClientError`: `protocol_version_unsupported` or `invalid_response`.
 */
export const readResponse = (raw: unknown, requestId: string, limits: ResolvedLimits): ShellResponse => {
  if (raw === undefined) throw invalid("the engine gave no response", "no_response");
  const copyLimits = { maxLength: limits.maxResponseLength, maxDepth: limits.maxDepth };
  const copy = copyJson<JsonObject>(raw, copyLimits, (problem, cause) =>
    invalid("what came back is no JSON, too large, or too deep", problem, { cause }),
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
  const parsed = ShellResponseSchema.safeParse(copy);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
    throw invalid("what came back is no response of OpenHarness", "schema", { path });
  }
  const response = parsed.data;
  if (response.request_id !== undefined && response.request_id !== requestId) {
    throw invalid("what came back is the response to another request", "other_request_id");
  }
  const directives = response.response.action_directives ?? [];
  if (directives.length > limits.maxDirectives) {
    throw invalid(`a response has ${limits.maxDirectives} directives at most`, "too_many_directives");
  }
  if ((response.capability_denials ?? []).length > limits.maxDenials) {
    throw invalid(`a response denies ${limits.maxDenials} features at most`, "too_many_denials");
  }
  response.response.action_directives &&= directives.map(frozen);
  return response;
};
