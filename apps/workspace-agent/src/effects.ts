/** What running a tool may do. */
export type ToolEffects = "read" | "write" | "execute";
