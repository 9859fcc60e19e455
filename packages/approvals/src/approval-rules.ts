import type { Always, ApprovalRecord, Grant } from "@harnesskit/protocol/hub";
import type { CreateId } from "@harnesskit/wire";
import { freezeJson, maxMessageDepth } from "@harnesskit/wire/json";
import type { AskResult } from "./approval-store.ts";
import type { ApprovalTable } from "./approval-table.ts";
import { ApprovalError, refusalError } from "./errors.ts";
import { findGrant, grantProblem, grantTerms, isInForce } from "./grant.ts";
import type { ApprovalLimits } from "./limits.ts";
import { newRecord, type ReadQuestion } from "./question.ts";
import { awaited, type Steps } from "./steps.ts";
import { type ApprovalEvent, findRepeat, lapse, transition } from "./transition.ts";

/** Of identical questions, how many of the newest a repeated one is compared with. */
const maxIdentical = 100;

const frozen = <T>(value: T): T => freezeJson(value, { maxDepth: maxMessageDepth });

const notFound = (what: string) => new ApprovalError("not_found", `there is no ${what} with this id`);

/**
 * What a store does to the rows of one transaction, at one time, as steps: `runSteps` runs them on any storage. Whatever is refused is
 * refused before the first row is changed; only `settle` may have happened.
 */
export class ApprovalRules {
  readonly #limits: ApprovalLimits;
  readonly #createId: CreateId;

  constructor(limits: ApprovalLimits, createId: CreateId) {
    this.#limits = limits;
    this.#createId = createId;
  }

  #full(name: keyof ApprovalLimits): ApprovalError {
    return new ApprovalError("store_full", `${name} of ${this.#limits[name]} is reached`);
  }

  *#put(table: ApprovalTable, record: ApprovalRecord): Steps<ApprovalRecord> {
    const numbered = frozen({ ...record, seq: yield* awaited(table.nextSeq()) });
    yield* awaited(table.put(numbered));
    return numbered;
  }

  /** What time has done: records lapse, and old ones are removed. Before anything else. Returns the questions that expired. */
  *settle(table: ApprovalTable, nowMs: number): Steps<ApprovalRecord[]> {
    const expired: ApprovalRecord[] = [];
    for (const record of yield* awaited(table.due(nowMs))) {
      const next = yield* this.#put(table, lapse(record, nowMs));
      if (record.status === "pending") expired.push(next);
    }
    yield* awaited(table.dropEnded(nowMs - this.#limits.retentionMs, this.#limits.maxRecords));
    return expired;
  }

  *ask(
    table: ApprovalTable,
    question: ReadQuestion,
    nowMs: number,
    others: readonly string[],
  ): Steps<AskResult> {
    const { agent, session, callId } = question.origin;
    const identical = yield* awaited(
      table.identical({ agent, session, digest: question.digest }, maxIdentical),
    );
    const own = identical.filter(({ id }) => !others.includes(id));
    const found = findRepeat(own, callId, nowMs);
    if (found !== undefined) return { record: found, how: "found" };
    const { maxOpen, maxRecords, maxOpenPerSession, retentionMs } = this.#limits;
    const open = yield* awaited(table.countOpen());
    if (open >= Math.min(maxOpen, maxRecords)) throw this.#full("maxOpen");
    const openOfSession = yield* awaited(table.countOpen({ agent, session }));
    if (openOfSession >= maxOpenPerSession) throw this.#full("maxOpenPerSession");
    yield* awaited(table.dropEnded(nowMs - retentionMs, maxRecords - 1));
    const grant = findGrant(yield* awaited(table.grants()), question, nowMs);
    const record = newRecord(question, this.#createId("apr"), nowMs, this.#limits, grant);
    return { record: yield* this.#put(table, record), how: grant === undefined ? "created" : "granted" };
  }

  /** Throws `not_found`, the code of a refusal, and `store_full`. */
  *apply(table: ApprovalTable, id: string, event: ApprovalEvent, nowMs: number): Steps<ApprovalRecord> {
    const record = yield* awaited(table.get(id));
    if (record === undefined) throw notFound("approval");
    const next = transition(record, event, nowMs, this.#limits);
    if (!next.ok) throw refusalError(next.code, next.record);
    if (event.type !== "answer" || event.always === undefined) return yield* this.#put(table, next.record);
    const { id: gaveGrantId } = yield* this.#give(table, record, event.always, event.by, nowMs);
    return yield* this.#put(table, {
      ...next.record,
      answer: next.record.answer && { ...next.record.answer, gaveGrantId },
    });
  }

  *#give(
    table: ApprovalTable,
    record: ApprovalRecord,
    always: Always,
    by: string,
    nowMs: number,
  ): Steps<Grant> {
    const terms = grantTerms(record, always, nowMs, this.#limits.grantMs);
    const problem = grantProblem(record, terms);
    if (problem !== undefined) throw problem;
    yield* this.#makeRoomForGrant(table, nowMs);
    const seq = yield* awaited(table.nextSeq());
    const made = { id: this.#createId("grant"), seq, by, createdAtMs: nowMs };
    const grant = frozen({ ...terms, ...made, approvalId: record.id });
    yield* awaited(table.putGrant(grant));
    return grant;
  }

  /** Removes grants that ended before the retention, and if need be the oldest that have ended. */
  *#makeRoomForGrant(table: ApprovalTable, nowMs: number): Steps<void> {
    const grants = yield* awaited(table.grants());
    const ended = grants.filter((grant) => !isInForce(grant, nowMs));
    const surplus = grants.length + 1 - this.#limits.maxGrants;
    if (ended.length < surplus) throw this.#full("maxGrants");
    for (const [index, { id, revoked, expiresAtMs }] of ended.entries()) {
      const isOld = (revoked?.atMs ?? expiresAtMs) < nowMs - this.#limits.retentionMs;
      if (index < surplus || isOld) yield* awaited(table.removeGrant(id));
    }
  }

  /** Puts what is not there yet, and counts it. */
  *restore(
    table: ApprovalTable,
    records: readonly ApprovalRecord[],
    grants: readonly Grant[],
  ): Steps<number> {
    let added = 0;
    const known = new Set((yield* awaited(table.grants())).map(({ id }) => id));
    for (const grant of grants) {
      if (known.has(grant.id)) continue;
      yield* awaited(table.putGrant(frozen({ ...grant, seq: yield* awaited(table.nextSeq()) })));
      added++;
    }
    for (const record of records) {
      if ((yield* awaited(table.get(record.id))) !== undefined) continue;
      yield* this.#put(table, record);
      added++;
    }
    return added;
  }

  /** Throws `not_found`. */
  *revokeGrant(table: ApprovalTable, id: string, by: string, nowMs: number): Steps<Grant> {
    const grant = (yield* awaited(table.grants())).find((each) => each.id === id);
    if (grant === undefined) throw notFound("grant");
    if (grant.revoked !== undefined) return grant;
    const seq = yield* awaited(table.nextSeq());
    const revoked = frozen({ ...grant, seq, revoked: { by, atMs: nowMs } });
    yield* awaited(table.putGrant(revoked));
    for (const record of yield* awaited(table.unusedOfGrant(id))) {
      const event = { type: "withdraw", by, reason: "its grant was revoked" } as const;
      yield* this.#put(table, transition(record, event, nowMs, this.#limits).record);
    }
    return revoked;
  }
}
