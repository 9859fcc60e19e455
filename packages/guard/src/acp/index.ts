export { type ActionJudge, createActionJudge } from "../proxy/action-judge.ts";
export { maxAcpMessageBytes } from "../proxy/limits.ts";
export type { EditPreview } from "./acp-peers.ts";
export { createAcpProxy } from "./acp-proxy.ts";
export type { AcpAskingRule } from "./asking.ts";
