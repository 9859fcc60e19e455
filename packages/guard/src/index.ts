export { createGuard, type Guard, type GuardOptions, type HookRequest, terminalTarget } from "./guard.ts";
export type { GuardHarness, HarnessAnswer, HookContext } from "./harness-line.ts";
export { createHookListener, type HookListenerOptions } from "./hook-listener.ts";
export { createHookRoute, type HookRoute, type HookRouteOptions } from "./hook-route.ts";
export { type GuardLimits, guardLimits } from "./limits.ts";
