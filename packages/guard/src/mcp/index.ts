export { ActionJudge, type ActionJudgeOptions } from "../proxy/action-judge.ts";
export { maxProxyMessageBytes, type ProxyLimits, proxyLimits } from "../proxy/limits.ts";
export type {
  ActionOutcome,
  ActionRuling,
  DecideOptions,
  LeftToClient,
  PromptRuling,
  ProxiedAction,
  ProxiedPrompt,
  Refusal,
} from "../proxy/rulings.ts";
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
