import { StoreError } from "../errors.ts";

const codeOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

/** True for the error of a file that does not exist. */
export const isMissing = (error: unknown): boolean => codeOf(error) === "ENOENT";

/** True for the error of a file that exists already. */
export const isExisting = (error: unknown): boolean => codeOf(error) === "EEXIST";

/** Words a failure of the file system: which one, never where. The original is kept as `cause`. */
export const toStoreError = (error: unknown): StoreError => {
  if (StoreError.isInstance(error)) return error;
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT")
    return new StoreError("store_full", "The disk is full", { cause: error });
  const what = code === undefined ? "" : ` (${code})`;
  return new StoreError("store_failed", `The thread could not be read or written${what}`, { cause: error });
};
