export { createGuard, type Guard } from "./guard.ts";
export { createHookHandler } from "./hook-handler.ts";
export { createHookListener } from "./hook-listener.ts";
