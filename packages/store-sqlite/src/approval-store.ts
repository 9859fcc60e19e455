import {
  type ApprovalLimits,
  type ApprovalStore,
  type ApprovalStoreOptions,
  createApprovalStore,
} from "@harnesskit/approvals";
import { SqliteApprovalTable } from "./approval-table.ts";
import { checkApprovalStoreOptions } from "./option-names.ts";
import { StoreFile } from "./store-file.ts";
import { type FileLimits, resolveOptions, type SqliteStoreOptions, splitLimits } from "./store-options.ts";

export type SqliteApprovalStoreLimits = ApprovalLimits & FileLimits;

export interface SqliteApprovalStoreOptions
  extends Omit<SqliteStoreOptions, "limits">,
    Pick<ApprovalStoreOptions, "createId"> {
  /** Limits to override. @default each as {@link SqliteApprovalStoreLimits} states */
  readonly limits?: Partial<SqliteApprovalStoreLimits> | undefined;
}

/**
 * Opens the approvals in a SQLite file, and creates the file if it does not exist. It may be the file of an open `openSqliteStore`, and
 * several processes may have it open. Each write is on the disk when its call resolves, unless `sync` is `"none"`. Rejects as
 * `openSqliteStore` does; the calls of the store also reject with the `StoreError`s of that.
 */
export const openApprovalStore = async (options: SqliteApprovalStoreOptions): Promise<ApprovalStore> => {
  checkApprovalStoreOptions(options);
  const limits = splitLimits(options.limits ?? {});
  const resolved = resolveOptions({ ...options, limits: limits.file });
  return StoreFile.openFor(resolved, (file) => {
    const table = new SqliteApprovalTable(file);
    return createApprovalStore(
      {
        // The table returns no promises: work ends within its transaction.
        read: async (work) => await file.read(() => work(table)),
        write: async (work) => await file.write(() => work(table), resolved.sync !== "none"),
        close: async () => file.close(() => {}),
      },
      { limits: limits.own, clock: options.clock, createId: options.createId },
    );
  });
};
