import { AsyncLocalStorage } from "node:async_hooks";
import type { ToolCall } from "./tool-call.ts";

/** Which call the running code belongs to, also in timers and promises that its tool left behind. */
export const callScope = new AsyncLocalStorage<ToolCall>();
