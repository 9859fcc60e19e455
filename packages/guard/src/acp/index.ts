export { ActionJudge, type ActionJudgeOptions } from "../proxy/action-judge.ts";
export { maxAcpMessageBytes, type ProxyLimits, proxyLimits } from "../proxy/limits.ts";
export { AcpProxy, type AcpProxyOptions } from "./acp-proxy.ts";
