export { type HookFrame, type HookReply, maxHookFrameBytes, maxHookInputBytes } from "./hook-frames.ts";
export { type HookStreams, type RunHookOptions, runHook } from "./run-hook.ts";
