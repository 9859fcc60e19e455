export {
  ActionJudge,
  type ActionJudgeOptions,
  type ActionOutcome,
  type ActionRuling,
  type DecideOptions,
  type ProxiedAction,
} from "../proxy/action-judge.ts";
export { maxProxyMessageBytes, type ProxyLimits, proxyLimits } from "../proxy/limits.ts";
export { McpProxy, type McpProxyOptions } from "./mcp-proxy.ts";
export {
  acceptTool,
  type PinState,
  PinsError,
  type ToolDeclaration,
  ToolPins,
  type ToolPinsOptions,
  type WaitingTool,
  waitingTools,
} from "./tool-pins.ts";
