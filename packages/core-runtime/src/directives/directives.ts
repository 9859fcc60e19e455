import type { AuditEntryInput, AuditSink } from "@harnesskit/audit";
import { HarnessError, randomId } from "@harnesskit/wire";
import { type Clock, isoTime, systemClock } from "@harnesskit/wire/time";
import { checkDirectivesOptions, checkFileDirectivesOptions } from "../option-names.ts";
import { type FileStoreOptions, RecordFile } from "../records/record-file.ts";
import { createMemoryRecords, type RecordLimits, type RecordStore } from "../records/record-store.ts";
import { type Directive, DirectiveSchema } from "./directive.ts";
import { type DirectiveRequest, toDirective } from "./directive-request.ts";
import {
  type BackedCall,
  type DirectiveRefusal,
  directiveProblem,
  isEnded,
  isSpent,
} from "./judge-directive.ts";

/** Where issued directives are. */
export type DirectiveStore = RecordStore<Directive>;

/** Directives that ended are kept for a while, so that a late call learns how its directive ended. */
const maxEnded = 256;

/** Issues and revokes directives. */
export interface Directives {
  /**
   * Issues one and records it. Rejects with `invalid_argument`, with `buffer_full` when there are `maxRecords`, and as the
   * store does.
   */
  issue(request: DirectiveRequest): Promise<Directive>;
  /** Those that can be used, and the last that ended. Rejects as the store does. */
  list(): Promise<readonly Directive[]>;
  /**
   * No later call uses it; the same again changes nothing. A call that has used it before is sent. Rejects with
   * `directive_unknown`, and as the store does.
   *
   * @param by who revokes it: a name for the record
   */
  revoke(id: string, by: string): Promise<Directive>;
}

export interface DirectivesOptions {
  /** Where the directives are kept. */
  readonly store: DirectiveStore;
  /** Records each issue, use and revocation. @default nowhere */
  readonly audit?: Pick<AuditSink, "record"> | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
  /** @default random ids */
  readonly createId?: ((prefix: string) => string) | undefined;
}

/** A change of the one directive that has this id. */
const replaced = (directives: readonly Directive[], next: Directive): readonly Directive[] =>
  directives.map((each) => (each.id === next.id ? next : each));

export class IssuedDirectives implements Directives {
  readonly #options: DirectivesOptions;
  readonly #clock: Clock;

  constructor(options: DirectivesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async issue(request: DirectiveRequest): Promise<Directive> {
    const { store, createId = randomId } = this.#options;
    const now = this.#clock.now();
    const made = toDirective(request, createId("dir"), isoTime(now));
    await store.change((directives) => {
      const ended = directives.filter((each) => isEnded(each, now));
      ended.sort((a, b) => Date.parse(a.issued_at) - Date.parse(b.issued_at));
      const dropped = new Set(ended.slice(0, Math.max(0, ended.length - maxEnded)));
      return { items: [...directives.filter((each) => !dropped.has(each)), made], result: made };
    });
    const { causation_id } = request;
    const { until, max_uses, issued_by: actor } = made;
    this.#record("directive.issued", made, { actor, causation_id, details: { until, max_uses } });
    return made;
  }

  async list(): Promise<readonly Directive[]> {
    return await this.#options.store.list();
  }

  async revoke(id: string, by: string): Promise<Directive> {
    const revoked_at = isoTime(this.#clock.now());
    const revoked = await this.#options.store.change((directives) => {
      const found = directives.find((each) => each.id === id);
      if (!found) throw new HarnessError("directive_unknown", "there is no directive with this id");
      if (found.revoked_at !== undefined) return { result: found };
      const next = { ...found, revoked_at, revoked_by: by.slice(0, 256) || "unknown" };
      return { items: replaced(directives, next), result: next };
    });
    this.#record("directive.revoked", revoked, { details: { by } });
    return revoked;
  }

  /** Whether the directive backs the call, apart from how often it was used. Changes nothing. */
  async check(id: string, call: BackedCall): Promise<DirectiveRefusal | undefined> {
    const found = (await this.list()).find((each) => each.id === id);
    return directiveProblem(found, call, this.#clock.now());
  }

  /**
   * Uses the directive once for the call, in one step with the check that it may be used: it is on disk before this
   * resolves. `isWanted` is asked in that step.
   */
  async use(
    id: string,
    call: BackedCall & { readonly callId: string },
    isWanted: () => boolean,
  ): Promise<DirectiveRefusal | "used" | "unwanted"> {
    const { outcome, used } = await this.#options.store.change<{
      readonly outcome: DirectiveRefusal | "used" | "unwanted";
      readonly used?: Directive | undefined;
    }>((directives) => {
      const found = directives.find((each) => each.id === id);
      const problem = directiveProblem(found, call, this.#clock.now());
      if (problem || !found) return { result: { outcome: problem ?? "unknown" } };
      if (isSpent(found)) return { result: { outcome: "spent" } };
      if (!isWanted()) return { result: { outcome: "unwanted" } };
      const next = { ...found, uses: found.uses + 1 };
      return { items: replaced(directives, next), result: { outcome: "used", used: next } };
    });
    if (used) this.#record("directive.used", used, { call_id: call.callId, details: { uses: used.uses } });
    return outcome;
  }

  /** The call that has used the directive was certainly not sent. */
  async giveBack(id: string, callId: string): Promise<void> {
    const given = await this.#options.store.change((directives) => {
      const found = directives.find((each) => each.id === id);
      if (!found || found.uses === 0) return { result: undefined };
      const next = { ...found, uses: found.uses - 1 };
      return { items: replaced(directives, next), result: next };
    });
    if (given)
      this.#record("directive.given_back", given, { call_id: callId, details: { uses: given.uses } });
  }

  #record(action: string, { id, tool_id }: Directive, entry: Omit<AuditEntryInput, "action">): void {
    const { details, ...rest } = entry;
    const agent_id = tool_id.slice(0, tool_id.indexOf("/"));
    const all = { directive_id: id, ...details };
    this.#options.audit?.record({ action, outcome: "ok", agent_id, tool_id, ...rest, details: all });
  }
}

/** Issues directives into a store that cores share. A core has its own as `core.directives`. Throws `invalid_argument` for invalid options. */
export const createDirectives = (options: DirectivesOptions): Directives =>
  new IssuedDirectives(checkDirectivesOptions(options));

/** Directives that end with the process. */
export const createMemoryDirectives = (limits?: Partial<Pick<RecordLimits, "maxRecords">>): DirectiveStore =>
  createMemoryRecords<Directive>([], limits);

/**
 * Directives in a file (JSON, 0600, sorted by tool and time) that several processes use: a use is on disk before its call is
 * sent. A file that cannot be used backs no call: see `RecordFileError`. Throws `invalid_argument` for invalid options.
 */
export const createFileDirectives = (options: FileStoreOptions): DirectiveStore => {
  const { path, limits } = checkFileDirectivesOptions(options);
  return new RecordFile<Directive>(
    path,
    {
      name: "directives",
      schema: DirectiveSchema,
      key: ({ tool_id, issued_at, id }) => `${tool_id} ${issued_at} ${id}`,
    },
    limits,
  );
};
