export { createGuard, type Guard, type GuardOptions, type HookRequest } from "./guard.ts";
export type { GuardHarness, HarnessAnswer, HookContext } from "./harness-line.ts";
export { createHookHandler, type HookHandler, type HookHandlerOptions } from "./hook-handler.ts";
export { createHookListener, type HookListenerOptions } from "./hook-listener.ts";
export { type GuardLimits, guardLimits } from "./limits.ts";
export { terminalTarget } from "./proxy/rulings.ts";
