/** The code of a system's error, such as `ENOENT`. */
export const systemErrorCode = (cause: unknown): string | undefined => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : undefined;
};
