export type { HookReply } from "./hook-frames.ts";
export { runHook } from "./run-hook.ts";
