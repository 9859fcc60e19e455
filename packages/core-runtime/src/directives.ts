import type { AuditEntryInput, AuditSink } from "@harnesskit/audit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type Caller, RuntimeErrorCode, ToolIdSchema } from "@harnesskit/protocol/runtime";
import { HarnessError, InvalidArgumentError, randomId } from "@harnesskit/wire";
import { isPlainObject } from "@harnesskit/wire/json";
import { type Clock, isoTime } from "@harnesskit/wire/time";
import * as z from "zod";
import { type CallResult, coreResult } from "./call-result.ts";
import { canonicalDigest } from "./canonical-digest.ts";
import { PartySchema, TimeSchema } from "./permissions/grant.ts";

/** What a directive is issued for. */
export interface DirectiveRequest {
  readonly tool_id: string;
  /** Exactly the input of the call. It is kept as a digest. */
  readonly input: JsonObject;
  readonly issued_by: Caller;
  /** RFC 3339; a time to come. */
  readonly until: string;
  /** How many calls may use it. @default 1 */
  readonly max_uses?: number | undefined;
  /** What it was issued for, such as an approval, for the audit only. */
  readonly causation_id?: string | undefined;
}

/**
 * What asks for calls of one tool (section 4.2.1, `requires_directive`): issued by someone, for exactly one input, for a
 * time and a number of uses. Holds a digest, never content.
 */
export interface Directive extends Required<Pick<DirectiveRequest, "tool_id" | "issued_by" | "until">> {
  readonly id: string;
  readonly issued_at: string;
  readonly max_uses: number;
  /** How many calls have used it. */
  readonly uses: number;
  readonly input_digest: string;
  readonly revoked_at?: string | undefined;
  readonly revoked_by?: string | undefined;
}

/** Issues and revokes the directives of a core. They end with it. */
export interface Directives {
  /** Issues one. Throws `invalid_argument` for a field that no directive may have. */
  issue(request: DirectiveRequest): Directive;
  /** Those that have not expired; expired ones until the next is issued. */
  list(): readonly Directive[];
  /**
   * No call that has not been sent uses it; the same again changes nothing. Throws `directive_unknown`.
   *
   * @param by who revokes it: a name for the record
   */
  revoke(id: string, by: string): Directive;
}

const RequestSchema = z.object({
  tool_id: ToolIdSchema,
  issued_by: PartySchema,
  until: TimeSchema,
  max_uses: z.int().positive().default(1),
});

/** Why a directive does not back a call, and what its caller reads. */
const refusals = {
  missing: "the tool requires a directive",
  unknown: "the core knows no directive with this id",
  wrong_tool: "the directive is for another tool",
  revoked: "the directive was revoked",
  expired: "the directive has expired",
  wrong_input: "the directive is for another input",
  spent: "the directive was used as often as it may be",
} as const;

/** A call that a directive is to back. */
interface BackedCall {
  readonly callId: string;
  readonly toolId: string;
  readonly input: JsonObject;
  readonly options: { readonly directiveId?: string | undefined };
  readonly tool: { readonly info: { readonly requires_directive?: boolean | undefined } };
}

/** The end of a call that no directive backs; `details.reason` says why, the message how to issue one. */
const unbacked = (reason: keyof typeof refusals): CallResult =>
  coreResult(
    RuntimeErrorCode.DirectiveRequired,
    `${refusals[reason]}: issue one with core.directives.issue`,
    { details: { reason } },
  );

interface Issued {
  directive: Directive;
  /** By `elapsedMs` of the clock: a clock that is set back does not bring back what has expired. */
  readonly dueMs: number;
}

/** The directives of one core, by their ids. */
export class IssuedDirectives implements Directives {
  readonly #audit: AuditSink | undefined;
  readonly #clock: Clock;
  readonly #issued = new Map<string, Issued>();

  constructor(audit: AuditSink | undefined, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
  }

  issue({ input, causation_id, ...request }: DirectiveRequest): Directive {
    const now = this.#clock.now();
    const elapsedMs = this.#clock.elapsedMs();
    const { data, error } = RequestSchema.safeParse(request);
    if (error) {
      const [issue] = error.issues;
      throw new InvalidArgumentError(`directive: ${issue?.path.join(".")} is not valid: ${issue?.message}`);
    }
    const input_digest = isPlainObject(input) ? canonicalDigest(input) : undefined;
    if (input_digest === undefined) {
      throw new InvalidArgumentError("directive: input must be a JSON object of valid Unicode");
    }
    const lifetimeMs = Date.parse(data.until) - now;
    // A leap second cannot be compared.
    if (!(lifetimeMs > 0)) throw new InvalidArgumentError("directive: until must be a time to come");
    for (const [id, issued] of this.#issued) if (this.#isExpired(issued)) this.#issued.delete(id);
    const directive = { id: randomId("dir"), issued_at: isoTime(now), ...data, uses: 0, input_digest };
    this.#issued.set(directive.id, { directive, dueMs: elapsedMs + lifetimeMs });
    const { until, max_uses, issued_by: actor } = directive;
    this.#record("directive.issued", directive, { actor, causation_id, details: { until, max_uses } });
    return directive;
  }

  list(): readonly Directive[] {
    return Array.from(this.#issued.values(), ({ directive }) => directive);
  }

  revoke(id: string, by: string): Directive {
    const found = this.#issued.get(id);
    if (!found) throw new HarnessError("directive_unknown", "there is no directive with this id");
    if (found.directive.revoked_at === undefined) {
      const revoked_at = isoTime(this.#clock.now());
      found.directive = { ...found.directive, revoked_at, revoked_by: by.slice(0, 256) || "unknown" };
      this.#record("directive.revoked", found.directive, { details: { by } });
    }
    return found.directive;
  }

  /** How the call ends that its directive does not back, apart from how often that was used; or that has none and needs one. */
  refuse({ tool, toolId, input, options: { directiveId } }: BackedCall): CallResult | undefined {
    if (directiveId === undefined) return tool.info.requires_directive ? unbacked("missing") : undefined;
    const found = this.#issued.get(directiveId);
    if (!found) return unbacked("unknown");
    const { tool_id, revoked_at, input_digest } = found.directive;
    if (tool_id !== toolId) return unbacked("wrong_tool");
    if (revoked_at !== undefined) return unbacked("revoked");
    if (this.#isExpired(found)) return unbacked("expired");
    return canonicalDigest(input) === input_digest ? undefined : unbacked("wrong_input");
  }

  /** Uses the call's directive, if it names one, as the call is sent; or how the call ends. */
  use(call: BackedCall): CallResult | undefined {
    const { directiveId } = call.options;
    if (directiveId === undefined) return undefined;
    const refused = this.refuse(call);
    const found = this.#issued.get(directiveId);
    if (refused || !found) return refused;
    const uses = found.directive.uses + 1;
    if (uses > found.directive.max_uses) return unbacked("spent");
    found.directive = { ...found.directive, uses };
    this.#record("directive.used", found.directive, { call_id: call.callId, details: { uses } });
    return undefined;
  }

  /** By either clock: while a machine sleeps, only the time of day goes on. */
  #isExpired({ directive, dueMs }: Issued): boolean {
    return this.#clock.elapsedMs() >= dueMs || this.#clock.now() >= Date.parse(directive.until);
  }

  #record(action: string, { id, tool_id }: Directive, entry: Omit<AuditEntryInput, "action">): void {
    const details = { directive_id: id, ...entry.details };
    const agent_id = tool_id.slice(0, tool_id.indexOf("/"));
    this.#audit?.record({ action, outcome: "ok", agent_id, tool_id, ...entry, details });
  }
}
