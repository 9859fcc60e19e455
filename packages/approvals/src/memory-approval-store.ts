import type { ApprovalRecord, Grant } from "@harnesskit/protocol/hub";
import type { ApprovalFilter, ApprovalStore } from "./approval-store.ts";
import type { ApprovalBacking, ApprovalTable } from "./approval-table.ts";
import { type ApprovalStoreOptions, createApprovalStore } from "./create-approval-store.ts";
import { ApprovalError } from "./errors.ts";
import { dueAtMs } from "./transition.ts";

const matches = ({ status, effect, origin }: ApprovalRecord, filter: ApprovalFilter): boolean =>
  (filter.status ?? status) === status &&
  (filter.effect ?? effect) === effect &&
  (filter.agent ?? origin.agent) === origin.agent &&
  (filter.session ?? origin.session) === origin.session;

const hasEnded = (record: ApprovalRecord): boolean => dueAtMs(record) === undefined;

const createTable = (): ApprovalTable => {
  let seq = 0;
  /** In the order of `seq`: a changed record moves to the end. */
  const records = new Map<string, ApprovalRecord>();
  const grants = new Map<string, Grant>();
  const select = (where: (record: ApprovalRecord) => boolean) => [...records.values()].filter(where);
  return {
    nextSeq: () => ++seq,
    lastSeq: () => [...records.values()].at(-1)?.seq ?? 0,
    get: (id) => records.get(id),
    put(record) {
      records.delete(record.id);
      records.set(record.id, record);
    },
    identical: ({ agent, session, digest }, limit) =>
      select((record) => record.digest === digest && matches(record, { agent, session }))
        .reverse()
        .slice(0, limit),
    page: (filter, afterSeq, limit) =>
      select((record) => record.seq > afterSeq && matches(record, filter)).slice(0, limit),
    due: (nowMs = 0) => select((record) => (dueAtMs(record) ?? Number.POSITIVE_INFINITY) <= nowMs),
    countOpen: (of) =>
      select((record) => !hasEnded(record) && (of === undefined || matches(record, of))).length,
    dropEnded(beforeMs, keep) {
      const ended = select(hasEnded);
      const surplus = records.size - keep;
      for (const [index, { id, changedAtMs }] of ended.entries()) {
        if (index < surplus || changedAtMs < beforeMs) records.delete(id);
      }
    },
    unusedOfGrant: (grantId) =>
      select((record) => record.answer?.grantId === grantId && record.status === "approved" && !record.taken),
    grants: () => [...grants.values()],
    putGrant(grant) {
      grants.set(grant.id, grant);
    },
    removeGrant(id) {
      grants.delete(id);
    },
  };
};

/**
 * A store that lives as long as its process. Its work runs in one turn of the event loop, and refuses before it changes a row, so that it
 * needs no transactions. Throws `invalid_argument` for limits that are not valid.
 */
export const createMemoryApprovalStore = (options: ApprovalStoreOptions = {}): ApprovalStore => {
  const table = createTable();
  let isClosed = false;
  const run: ApprovalBacking["write"] = async (work) => {
    if (isClosed) throw new ApprovalError("store_closed", "the store is closed");
    return work(table);
  };
  const close = async () => {
    isClosed = true;
  };
  return createApprovalStore({ read: run, write: run, close }, options);
};
