import {
  type ApprovalBacking,
  type ApprovalStore,
  type ApprovalStoreOptions,
  type ApprovalTable,
  createApprovalStore,
} from "@harnesskit/approvals";
import { StoreError } from "@harnesskit/graph";
import { ApprovalReader } from "./approval-table.ts";
import { ApprovalWrites } from "./approval-writes.ts";
import type { Database } from "./database.ts";
import type { Wakes } from "./wakes.ts";

export interface ApprovalsOptions extends Pick<ApprovalStoreOptions, "limits" | "createId"> {
  /** The time that judges. @default the database's */
  readonly nowMs?: (() => number) | undefined;
}

/** Work that calls one method, in the clothes of a table that can be written. */
const readerOf = (database: Database, nowMs: (() => number) | undefined): ApprovalTable =>
  new ApprovalReader((...args) => database.query(...args), nowMs) as unknown as ApprovalTable;

/** Approvals of a database. Its `close` ends watchers and calls, and leaves the connections open. */
export const createApprovals = (
  database: Database,
  wakes: Wakes,
  options: ApprovalsOptions,
): ApprovalStore => {
  const { nowMs, limits, createId } = options;
  const { clock, limits: own } = database.options;
  const reader = readerOf(database, nowMs);
  const writes = new ApprovalWrites(database, { nowMs, maxLength: own.maxValueLength }, () =>
    wakes.changed("approvals", ""),
  );
  let isClosed = false;
  const checkOpen = () => {
    if (isClosed) throw new StoreError("store_closed", "the store is closed");
  };
  const backing: ApprovalBacking = {
    async read(work) {
      checkOpen();
      return await work(reader);
    },
    async write(work) {
      checkOpen();
      return writes.run(work);
    },
    onChange: (listener) => wakes.listen("approvals", "", listener),
    async close() {
      isClosed = true;
    },
  };
  return createApprovalStore(backing, {
    clock,
    limits: { watchPollMs: 1000, ...limits },
    createId,
  });
};
