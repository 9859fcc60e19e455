import { type Clock, type CreateId, checkNumber, randomId, systemClock } from "@harnesskit/wire";
import { freezeJson, maxMessageDepth } from "@harnesskit/wire/json";
import * as z from "zod";
import type { ApprovalFilter, ApprovalStore, AskResult, PageOptions } from "./approval-store.ts";
import type { ApprovalBacking, ApprovalTable } from "./approval-table.ts";
import { ApprovalError, type RefusalCode } from "./errors.ts";
import { findGrant, type Grant, grantProblem, grantTerms, isInForce } from "./grant.ts";
import { type ApprovalLimits, approvalLimits } from "./limits.ts";
import { newRecord, parse, parseJson, type ReadQuestion, readQuestion } from "./question.ts";
import { type ApprovalRecord, ApprovalStatusSchema, EffectSchema, IdSchema } from "./record.ts";
import { findRepeat } from "./repeat.ts";
import { ApprovalEventSchema, lapse, transition } from "./transition.ts";
import { watchRecords } from "./watch-records.ts";

export interface ApprovalStoreOptions {
  /** See {@link ApprovalLimits}. */
  readonly limits?: Partial<ApprovalLimits>;
  /** Time. Processes that share a store must agree on it. @default that of the system */
  readonly clock?: Clock;
  /** Makes the ids of records (`apr`) and grants (`grant`). @default random */
  readonly createId?: CreateId;
}

/** Of identical questions, those newest that a repeated one is compared with. */
const maxIdentical = 100;
/** UTF-8 bytes of an event: the longest pattern and note with room. */
const maxEventBytes = 65_536;

const FilterSchema = z.object({
  status: ApprovalStatusSchema.optional(),
  effect: EffectSchema.optional(),
  agent: IdSchema.optional(),
  session: IdSchema.optional(),
});

const refusals: Readonly<Record<RefusalCode, string>> = {
  already_answered: "the question was answered before",
  wrong_digest: "the digest is not that of the question: what was shown or will be done is something else",
  expired: "the question has expired",
  withdrawn: "the question was withdrawn",
  not_answered: "the question is not answered yet",
  already_taken: "the answer was taken before",
  not_claimed: "the action was not claimed",
  not_claimant: "another claimant has the action",
  already_reported: "the outcome was reported before",
  grant_mismatch: "the pattern does not match the action in question",
  preview_cut: "the preview is cut: the action can be allowed once, not for always",
};

const refuse = (code: RefusalCode, record: ApprovalRecord): ApprovalError =>
  new ApprovalError(code, refusals[code], record);

const full = (name: keyof ApprovalLimits, limits: ApprovalLimits): ApprovalError =>
  new ApprovalError("store_full", `${name} of ${limits[name]} is reached`);

const notFound = (what: string): ApprovalError =>
  new ApprovalError("not_found", `there is no ${what} with this id`);

/**
 * A store over a backing: the rules of approvals once, for every kind of storage. Throws `invalid_argument` for limits that are not
 * valid.
 */
export const createApprovalStore = (
  backing: ApprovalBacking,
  options: ApprovalStoreOptions = {},
): ApprovalStore => {
  const { clock = systemClock, createId = randomId } = options;
  const limits = approvalLimits.resolve(options.limits);
  const waiting = new Set<() => void>();
  const closing = new AbortController();

  const wake = () => {
    for (const each of [...waiting]) each();
  };

  const put = (table: ApprovalTable, record: ApprovalRecord): ApprovalRecord => {
    const numbered = freezeJson({ ...record, seq: table.nextSeq() }, { maxDepth: maxMessageDepth });
    table.put(numbered);
    return numbered;
  };

  /** What time has done, before anything else happens. */
  const settle = (table: ApprovalTable, nowMs: number) => {
    for (const record of table.due(nowMs)) put(table, lapse(record, nowMs));
    table.dropEnded(nowMs - limits.retentionMs, limits.maxRecords);
  };

  const write = async <T>(work: (table: ApprovalTable, nowMs: number) => T): Promise<T> => {
    const result = await backing.write((table) => {
      const nowMs = clock.now();
      settle(table, nowMs);
      return work(table, nowMs);
    });
    wake();
    return result;
  };

  const read = async <T>(work: (table: ApprovalTable) => T): Promise<T> => {
    if (await backing.read((table) => table.due(clock.now()).length > 0)) await write(() => {});
    return backing.read(work);
  };

  const makeRoom = (table: ApprovalTable, { origin }: ReadQuestion, nowMs: number) => {
    const open = table.countOpen();
    if (open >= Math.min(limits.maxOpen, limits.maxRecords)) throw full("maxOpen", limits);
    if (table.countOpen(origin) >= limits.maxOpenPerSession) throw full("maxOpenPerSession", limits);
    table.dropEnded(nowMs - limits.retentionMs, limits.maxRecords - 1);
  };

  const ask = (table: ApprovalTable, question: ReadQuestion, nowMs: number): AskResult => {
    const { origin, digest } = question;
    const identical = table.identical({ agent: origin.agent, session: origin.session, digest }, maxIdentical);
    const found = findRepeat(identical, origin.callId, nowMs);
    if (found !== undefined) return { record: found, how: "found" };
    makeRoom(table, question, nowMs);
    const grant = findGrant(table.grants(), question, nowMs);
    const record = newRecord(question, { id: createId("apr"), seq: 1 }, nowMs, limits, grant);
    return { record: put(table, record), how: grant === undefined ? "created" : "granted" };
  };

  /** Removes grants that are over: those before the retention, and if need be the oldest. */
  const grantRoom = (table: ApprovalTable, nowMs: number) => {
    const grants = table.grants();
    const over = grants.filter((grant) => !isInForce(grant, nowMs));
    const endOf = ({ revoked, expiresAtMs }: Grant) => revoked?.atMs ?? expiresAtMs;
    const surplus = grants.length + 1 - limits.maxGrants;
    if (over.length < surplus) throw full("maxGrants", limits);
    for (const [index, grant] of over.entries()) {
      if (index < surplus || endOf(grant) < nowMs - limits.retentionMs) table.removeGrant(grant.id);
    }
  };

  const apply = (
    table: ApprovalTable,
    id: string,
    event: z.output<typeof ApprovalEventSchema>,
    nowMs: number,
  ) => {
    const record = table.get(id);
    if (record === undefined) throw notFound("approval");
    const next = transition(record, event, nowMs, limits);
    if (!next.ok) throw refuse(next.code, next.record);
    if (event.type !== "answer" || event.always === undefined) return put(table, next.record);
    const terms = grantTerms(record, event.always, nowMs, limits.grantMs);
    const problem = grantProblem(record, terms);
    if (problem !== undefined) throw refuse(problem, record);
    grantRoom(table, nowMs);
    const { by } = event;
    const grant = {
      ...terms,
      id: createId("grant"),
      seq: table.nextSeq(),
      by,
      createdAtMs: nowMs,
      approvalId: id,
    };
    table.putGrant(freezeJson(grant, { maxDepth: maxMessageDepth }));
    const answer = next.record.answer && { ...next.record.answer, gaveGrantId: grant.id };
    return put(table, { ...next.record, answer });
  };

  const store: ApprovalStore = {
    async ask(question) {
      const checked = await readQuestion(question, limits);
      return write((table, nowMs) => ask(table, checked, nowMs));
    },
    async apply(id, event) {
      const checked = parseJson(ApprovalEventSchema, event, "event", maxEventBytes);
      if (checked.type === "answer" && checked.always !== undefined && checked.decision === "reject") {
        return parse(z.never(), checked.always, "event.always of a rejection");
      }
      const key = parse(IdSchema, id, "id");
      return write((table, nowMs) => apply(table, key, checked, nowMs));
    },
    async get(id) {
      const key = parse(IdSchema, id, "id");
      return read((table) => table.get(key));
    },
    async page(pageOptions: PageOptions = {}) {
      const { afterSeq = 0, limit = limits.maxPage, ...rest } = pageOptions;
      const filter = parse(FilterSchema, rest, "filter") as ApprovalFilter;
      checkNumber("afterSeq", afterSeq, { min: 0 });
      checkNumber("limit", limit, { max: limits.maxPage });
      const records = await read((table) => table.page(filter, afterSeq, limit));
      return { records, nextSeq: records.at(-1)?.seq ?? afterSeq };
    },
    watch: (watchOptions) =>
      watchRecords(store, { waiting, clock, limits, closed: closing.signal }, watchOptions),
    grants: () => backing.read((table) => table.grants()),
    async revokeGrant(id, by) {
      const [key, revoker] = [parse(IdSchema, id, "id"), parse(IdSchema, by, "by")];
      return write((table, nowMs) => {
        const grant = table.grants().find((each) => each.id === key);
        if (grant === undefined) throw notFound("grant");
        if (grant.revoked !== undefined) return grant;
        const revoked = { ...grant, seq: table.nextSeq(), revoked: { by: revoker, atMs: nowMs } };
        table.putGrant(freezeJson(revoked, { maxDepth: maxMessageDepth }));
        for (const record of table.unusedOfGrant(key)) {
          const event = { type: "withdraw", by: revoker, reason: "its grant was revoked" } as const;
          put(table, transition(record, event, nowMs, limits).record);
        }
        return revoked;
      });
    },
    async close() {
      closing.abort();
      wake();
      await backing.close();
    },
  };
  return store;
};
