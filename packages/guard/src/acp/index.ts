export { type ActionJudge, type ActionJudgeOptions, createActionJudge } from "../proxy/action-judge.ts";
export { maxAcpMessageBytes, type ProxyLimits, proxyLimits } from "../proxy/limits.ts";
export type { EditPreview } from "./acp-peers.ts";
export { type AcpProxy, type AcpProxyOptions, createAcpProxy } from "./acp-proxy.ts";
export type { AcpAskingRule } from "./asking.ts";
