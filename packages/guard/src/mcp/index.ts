export { type ActionJudge, type ActionJudgeOptions, createActionJudge } from "../proxy/action-judge.ts";
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
export { createMcpProxy, type McpProxy, type McpProxyOptions } from "./mcp-proxy.ts";
export {
  acceptTool,
  openToolPins,
  type PinState,
  PinsError,
  type ToolDeclaration,
  type ToolPins,
  type ToolPinsOptions,
  type WaitingTool,
  waitingTools,
} from "./tool-pins.ts";
