import {
  type ApprovalRecord,
  ApprovalRecordSchema,
  ApprovalStatusSchema,
  EffectSchema,
  type Grant,
  GrantSchema,
  IdSchema,
} from "@harnesskit/protocol/hub";
import {
  type Clock,
  type CreateId,
  checkNumber,
  randomId,
  sharedSignal,
  systemClock,
} from "@harnesskit/wire";
import { activeTrace, approvalSpan, startSpan } from "@harnesskit/wire/trace";
import * as z from "zod";
import { ApprovalRules } from "./approval-rules.ts";
import type { ApprovalFilter, ApprovalStore } from "./approval-store.ts";
import type { ApprovalBacking, ApprovalTable } from "./approval-table.ts";
import { ApprovalError } from "./errors.ts";
import { type ApprovalLimits, approvalLimits } from "./limits.ts";
import { checkApprovalStoreOptions } from "./option-names.ts";
import { parseBounded, parseValue, readQuestion } from "./question.ts";
import { awaited, type MaybePromise, runSteps, type Steps } from "./steps.ts";
import { ApprovalEventSchema } from "./transition.ts";

export interface ApprovalStoreOptions {
  /** Limits to override. @default each as {@link ApprovalLimits} states */
  readonly limits?: Partial<ApprovalLimits> | undefined;
  /**
   * Time. Processes that share a store must agree on it, unless the storage has a clock of its own: then it is for waiting only.
   * @default that of the system
   */
  readonly clock?: Clock | undefined;
  /** Makes the ids of records (`apr`) and grants (`grant`). @default random */
  readonly createId?: CreateId | undefined;
}

/** UTF-8 bytes of an event: the longest pattern and note, with room. */
const maxEventBytes = 65_536;

const FilterSchema = z.object({
  status: ApprovalStatusSchema.optional(),
  effect: EffectSchema.optional(),
  agent: IdSchema.optional(),
  session: IdSchema.optional(),
});

/**
 * Reports an approval that has its answer, from its question to its answer, whichever processes were there meanwhile. It belongs to
 * what asked, and links to what answered. To be called once, after the answer is stored.
 */
const traceApproval = (record: ApprovalRecord): void => {
  const { id: approvalId, origin, subject, risk, rule, status, answer, trace } = record;
  const isByGrant = answer?.grantId !== undefined;
  const span = startSpan(() =>
    approvalSpan({
      tool: subject.tool,
      approvalId,
      conversationId: origin.session,
      input: subject.input,
      answer: status,
      more: {
        "harness.approval.risk": risk.level,
        "harness.approval.rule": rule.id,
        "harness.approval.is_by_grant": isByGrant,
      },
      parent: trace,
      links: status === "expired" || isByGrant ? [] : [activeTrace()],
      startedAtMs: record.createdAtMs,
    }),
  );
  span?.end(undefined, status === "expired" ? record.expiresAtMs : (answer?.atMs ?? record.changedAtMs));
};

/**
 * A store over a backing: the rules of approvals once, for every kind of storage. Throws `invalid_argument` for limits that are not
 * valid.
 */
export const createApprovalStore = (
  backing: ApprovalBacking,
  options: ApprovalStoreOptions = {},
): ApprovalStore => {
  checkApprovalStoreOptions(options);
  const { clock = systemClock, createId = randomId } = options;
  const limits = approvalLimits.resolve(options.limits);
  const rules = new ApprovalRules(limits, createId);
  const waiting = new Set<() => void>();
  const closing = new AbortController();
  const wake = () => {
    for (const each of [...waiting]) each();
  };

  function* settled<T>(
    table: ApprovalTable,
    work: (nowMs: number) => Steps<T>,
    expired: ApprovalRecord[],
  ): Steps<T> {
    const nowMs = table.now === undefined ? clock.now() : yield* awaited(table.now());
    expired.push(...(yield* rules.settle(table, nowMs)));
    return yield* work(nowMs);
  }

  const write = async <T>(work: (table: ApprovalTable, nowMs: number) => Steps<T>): Promise<T> => {
    let expired: ApprovalRecord[] = [];
    const result = await backing.write((table) => {
      // A transaction may be tried again.
      expired = [];
      return runSteps(settled(table, (nowMs) => work(table, nowMs), expired));
    });
    for (const record of expired) traceApproval(record);
    wake();
    return result;
  };

  const read = async <T>(work: (table: ApprovalTable) => MaybePromise<T>): Promise<T> => {
    const due = await backing.read((table) => table.due(table.now === undefined ? clock.now() : undefined));
    if (due.length > 0) await write(function* () {});
    return backing.read(work);
  };

  /** Reads pages after the last record that was read, and waits for a write or the next poll where there is none: it keeps no queue, and a slow reader costs nothing. */
  async function* watch({
    afterSeq = 0,
    signal,
  }: Parameters<ApprovalStore["watch"]>[0] = {}): AsyncGenerator<ApprovalRecord, void, undefined> {
    checkNumber("afterSeq", afterSeq, { min: 0 });
    let after = afterSeq;
    if (waiting.size >= limits.maxWatchers) {
      throw new ApprovalError("store_full", `maxWatchers of ${limits.maxWatchers} is reached`);
    }
    let isChanged = false;
    let onChange: (() => void) | undefined;
    const changed = () => {
      isChanged = true;
      onChange?.();
    };
    waiting.add(changed);
    const stopListening = backing.onChange?.(changed);
    if (signal) sharedSignal(signal).addEventListener("abort", changed);
    const isOver = () => signal?.aborted === true || closing.signal.aborted;
    try {
      while (!isOver()) {
        isChanged = false;
        const { records, nextSeq } = await store.page({ afterSeq: after }).catch((error: unknown) => {
          if (isOver()) return { records: [], nextSeq: after };
          throw error;
        });
        for (const record of records) {
          if (isOver()) return;
          yield record;
        }
        after = nextSeq;
        if (records.length > 0 || isChanged) continue;
        await new Promise<void>((resolve) => {
          const cancel = clock.after(limits.watchPollMs, resolve);
          onChange = () => {
            cancel();
            resolve();
          };
        });
        onChange = undefined;
      }
    } finally {
      waiting.delete(changed);
      stopListening?.();
      signal?.removeEventListener("abort", changed);
    }
  }

  const store: ApprovalStore = {
    async ask(question, { others = [] } = {}) {
      const checked = await readQuestion(question, limits);
      const { trace = activeTrace() } = checked;
      const asked = trace === undefined ? checked : { ...checked, trace };
      const result = await write((table, nowMs) => rules.ask(table, asked, nowMs, others));
      if (result.how === "granted") traceApproval(result.record);
      return result;
    },
    async apply(id, event) {
      const key = parseValue(IdSchema, id, "id");
      const checked = parseBounded(ApprovalEventSchema, event, "event", maxEventBytes);
      const record = await write((table, nowMs) => rules.apply(table, key, checked, nowMs));
      const isAnswer = checked.type === "answer" || (checked.type === "withdraw" && !record.answer);
      if (isAnswer) traceApproval(record);
      return record;
    },
    async get(id) {
      const key = parseValue(IdSchema, id, "id");
      return read((table) => table.get(key));
    },
    async page({ afterSeq = 0, limit = limits.maxPage, ...rest } = {}) {
      const filter = parseValue(FilterSchema, rest, "filter") as ApprovalFilter;
      checkNumber("afterSeq", afterSeq, { min: 0 });
      checkNumber("limit", limit, { max: limits.maxPage });
      // Read before the page, so that no change falls between the two.
      const isFiltered = Object.keys(filter).length > 0;
      const lastSeq = isFiltered ? await read((table) => table.lastSeq()) : afterSeq;
      const records = await read((table) => table.page(filter, afterSeq, limit));
      const passedSeq = records.length < limit ? Math.max(afterSeq, lastSeq) : afterSeq;
      return { records, nextSeq: Math.max(records.at(-1)?.seq ?? afterSeq, passedSeq) };
    },
    watch,
    grants: () => backing.read((table) => table.grants()),
    async revokeGrant(id, by) {
      const [key, revoker] = [parseValue(IdSchema, id, "id"), parseValue(IdSchema, by, "by")];
      return write((table, nowMs) => rules.revokeGrant(table, key, revoker, nowMs));
    },
    async restore({ records = [], grants = [] }) {
      const [given, givenGrants] = [
        parseValue(z.array(ApprovalRecordSchema).max(limits.maxPage), records, "records"),
        parseValue(z.array(GrantSchema).max(limits.maxPage), grants, "grants"),
      ];
      return write((table) => rules.restore(table, given as ApprovalRecord[], givenGrants as Grant[]));
    },
    async close() {
      closing.abort();
      wake();
      await backing.close();
    },
  };
  return store;
};
