export type { AnyEvent } from "./desk/read-event.ts";
export { createHub } from "./hub.ts";
export type { Hub, HubOptions } from "./hub-options.ts";
export type { HubLimits } from "./limits.ts";
