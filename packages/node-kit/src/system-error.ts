/** The operating system's code of an error, such as `ENOENT`; undefined for an error without one. */
export const systemErrorCode = (error: unknown): string | undefined => {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
};

/** True for the error of a file that does not exist. */
export const isMissing = (error: unknown): error is NodeJS.ErrnoException =>
  systemErrorCode(error) === "ENOENT";

/** True for the error of a file that exists already. */
export const isExisting = (error: unknown): boolean => systemErrorCode(error) === "EEXIST";

/** What work on a file resolves with; undefined where it rejects because nothing is there. */
export const ifPresent = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
