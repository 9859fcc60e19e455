import type { JsonObject } from "@harnesskit/protocol/envelope";
import { canonicalDigest } from "../canonical-digest.ts";
import { isInPeriod, toPeriod } from "../records/in-force.ts";
import type { Directive } from "./directive.ts";

/** Why a directive does not back a call. */
export type DirectiveRefusal =
  | "missing"
  | "unknown"
  | "wrong_agent"
  | "wrong_tool"
  | "revoked"
  | "not_yet_valid"
  | "expired"
  | "wrong_input"
  | "spent"
  | "unavailable";

/** What a caller reads. */
export const directiveRefusals: Readonly<Record<DirectiveRefusal, string>> = {
  missing: "the tool requires a directive",
  unknown: "the core knows no directive with this id",
  wrong_agent: "the directive is for a tool of another agent",
  wrong_tool: "the directive is for another tool",
  revoked: "the directive was revoked",
  not_yet_valid: "by this machine's clock the directive is issued in the future: set the clock",
  expired: "the directive has expired",
  wrong_input: "the directive is for another input",
  spent: "the directive was used as often as it may be",
  unavailable: "the directives cannot be read",
};

/** A call that a directive is to back. */
export interface BackedCall {
  readonly toolId: string;
  readonly input: JsonObject;
}

const fits = (wanted: Directive["input"], input: JsonObject): boolean => {
  if ("digest" in wanted) return canonicalDigest(input) === wanted.digest;
  return wanted.fields.every(
    ({ name, digest }) => Object.hasOwn(input, name) && canonicalDigest(input[name]) === digest,
  );
};

const agentOf = (toolId: string): string => toolId.slice(0, toolId.indexOf("/"));

/** Why the directive does not back the call, but for being spent; undefined where it does. */
export const directiveProblem = (
  directive: Directive | undefined,
  { toolId, input }: BackedCall,
  now: number,
): DirectiveRefusal | undefined => {
  if (!directive) return "unknown";
  if (agentOf(directive.tool_id) !== agentOf(toolId)) return "wrong_agent";
  if (directive.tool_id !== toolId) return "wrong_tool";
  if (directive.revoked_at !== undefined) return "revoked";
  const period = toPeriod(directive.issued_at, directive.until);
  if (!(period.from <= now)) return "not_yet_valid";
  if (!isInPeriod(period, now)) return "expired";
  return fits(directive.input, input) ? undefined : "wrong_input";
};

export const isSpent = ({ uses, max_uses }: Directive): boolean => uses >= max_uses;

/** No call can use it any more. */
export const isEnded = (directive: Directive, now: number): boolean =>
  isSpent(directive) || directive.revoked_at !== undefined || !(now < Date.parse(directive.until));
