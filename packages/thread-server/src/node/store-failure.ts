import { systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { StoreError } from "../errors.ts";

/** Words a failure of the file system: which one, never where. The original is kept as `cause`. */
export const toStoreError = (error: unknown): StoreError => {
  if (StoreError.isInstance(error)) return error;
  const code = systemErrorCode(error);
  if (code === "ENOSPC" || code === "EDQUOT")
    return new StoreError("store_full", "The disk is full", { cause: error });
  if (UnsafeFileError.isInstance(error)) {
    const message = `A file of .harness ${error.problem}; see \`harness doctor\``;
    return new StoreError("store_failed", message, { cause: error });
  }
  const what = code === undefined ? "" : ` (${code})`;
  return new StoreError("store_failed", `The thread could not be read or written${what}`, { cause: error });
};
