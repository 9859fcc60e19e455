export type { ActionJudge } from "../proxy/action-judge.ts";
export { maxProxyMessageBytes } from "../proxy/limits.ts";
export { createMcpProxy } from "./mcp-proxy.ts";
export {
  acceptTool,
  openToolPins,
  PinsError,
  type ToolPins,
  type WaitingTool,
  waitingTools,
} from "./tool-pins.ts";
