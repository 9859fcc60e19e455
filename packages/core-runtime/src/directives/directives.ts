import type { AuditEntryInput } from "@harnesskit/audit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { HarnessError, randomId } from "@harnesskit/wire";
import { type Clock, isoTime } from "@harnesskit/wire/time";
import type { AuditTrail } from "../audit-trail.ts";
import { type CallResult, coreResult } from "../call-result.ts";
import { canonicalDigest } from "../canonical-digest.ts";
import { isInPeriod, toPeriod } from "../records/record-fields.ts";
import { type Directive, type DirectiveRequest, toDirective } from "./directive.ts";

/** Directives that ended are kept for a while, so that a late call learns how its directive ended. */
const maxEnded = 256;

/** Issues and revokes the directives of a core. They end with it. */
export interface Directives {
  /** Issues one. Throws `invalid_argument` for a field that no directive may have. */
  issue(request: DirectiveRequest): Directive;
  /** Those that can be used, and the last that ended. */
  list(): readonly Directive[];
  /**
   * No call that has not been sent uses it; the same again changes nothing. Throws `directive_unknown`.
   *
   * @param by who revokes it: a name for the record
   */
  revoke(id: string, by: string): Directive;
}

/** Why a directive does not back a call, and what its caller reads. */
const refusals = {
  missing: "the tool requires a directive",
  unknown: "the core knows no directive with this id",
  wrong_agent: "the directive is for a tool of another agent",
  wrong_tool: "the directive is for another tool",
  revoked: "the directive was revoked",
  not_yet_valid: "by this machine's clock the directive is issued in the future: set the clock",
  expired: "the directive has expired",
  wrong_input: "the directive is for another input",
  spent: "the directive was used as often as it may be",
} as const;
type Refusal = keyof typeof refusals;

/** A call that a directive is to back. */
interface BackedCall {
  readonly callId: string;
  readonly toolId: string;
  readonly input: JsonObject;
  readonly options: { readonly directiveId?: string | undefined };
}

/** The end of a call that no directive backs; `details.reason` says why, the message how to issue one. */
export const unbacked = (reason: Refusal): CallResult => {
  const advice = reason === "not_yet_valid" ? "" : ": issue one with core.directives.issue";
  return coreResult(RuntimeErrorCode.DirectiveRequired, `${refusals[reason]}${advice}`, {
    details: { reason },
  });
};

const agentOf = (toolId: string): string => toolId.slice(0, toolId.indexOf("/"));

const fits = (wanted: Directive["input"], input: JsonObject): boolean => {
  if ("digest" in wanted) return canonicalDigest(input) === wanted.digest;
  return wanted.fields.every(
    ({ name, digest }) => Object.hasOwn(input, name) && canonicalDigest(input[name]) === digest,
  );
};

const problemOf = (
  directive: Directive | undefined,
  { toolId, input }: BackedCall,
  now: number,
): Refusal | undefined => {
  if (!directive) return "unknown";
  if (agentOf(directive.tool_id) !== agentOf(toolId)) return "wrong_agent";
  if (directive.tool_id !== toolId) return "wrong_tool";
  if (directive.revoked_at !== undefined) return "revoked";
  const period = toPeriod(directive.issued_at, directive.until);
  if (!(period.from <= now)) return "not_yet_valid";
  if (!isInPeriod(period, now)) return "expired";
  return fits(directive.input, input) ? undefined : "wrong_input";
};

/** The directives of one core, by their ids. */
export class IssuedDirectives implements Directives {
  readonly #audit: AuditTrail;
  readonly #clock: Clock;
  readonly #directives = new Map<string, Directive>();

  constructor(audit: AuditTrail, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
  }

  issue(request: DirectiveRequest): Directive {
    const now = this.#clock.now();
    const made = toDirective(request, randomId("dir"), isoTime(now));
    const ended = this.list().filter((each) => isEnded(each, now));
    for (const { id } of ended.slice(0, -maxEnded)) this.#directives.delete(id);
    this.#directives.set(made.id, made);
    const { until, max_uses, issued_by: actor } = made;
    const { causation_id } = request;
    this.#record("directive.issued", made, { actor, causation_id, details: { until, max_uses } });
    return made;
  }

  list(): readonly Directive[] {
    return [...this.#directives.values()];
  }

  revoke(id: string, by: string): Directive {
    const found = this.#directives.get(id);
    if (!found) throw new HarnessError("directive_unknown", "there is no directive with this id");
    if (found.revoked_at !== undefined) return found;
    const revoked_at = isoTime(this.#clock.now());
    const revoked = { ...found, revoked_at, revoked_by: by.slice(0, 256) || "unknown" };
    this.#directives.set(id, revoked);
    this.#record("directive.revoked", revoked, { details: { by } });
    return revoked;
  }

  /** How the call ends that its directive does not back, apart from how often that was used. */
  refuse(call: BackedCall): CallResult | undefined {
    const found = this.#directives.get(call.options.directiveId ?? "");
    const problem = problemOf(found, call, this.#clock.now());
    return problem && unbacked(problem);
  }

  /** Uses the call's directive, if it names one, as the call is sent; or how the call ends. */
  use(call: BackedCall): CallResult | undefined {
    const { directiveId } = call.options;
    if (directiveId === undefined) return undefined;
    const refused = this.refuse(call);
    const found = this.#directives.get(directiveId);
    if (refused || !found) return refused;
    if (found.uses >= found.max_uses) return unbacked("spent");
    const used = { ...found, uses: found.uses + 1 };
    this.#directives.set(directiveId, used);
    this.#record("directive.used", used, { call_id: call.callId, details: { uses: used.uses } });
    return undefined;
  }

  #record(action: string, { id, tool_id }: Directive, entry: Omit<AuditEntryInput, "action">): void {
    const details = { directive_id: id, ...entry.details };
    const about = { action, outcome: "ok" as const, agent_id: agentOf(tool_id), tool_id };
    this.#audit.record({ ...about, ...entry, details });
  }
}

/** No call can use it any more. */
const isEnded = ({ uses, max_uses, revoked_at, until }: Directive, now: number): boolean =>
  uses >= max_uses || revoked_at !== undefined || !(now < Date.parse(until));
