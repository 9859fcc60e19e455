/** The operating system's name for an error (`EADDRINUSE`), if it has one. */
export const systemErrorCode = (cause: unknown): string | undefined => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : undefined;
};
