export { type AgentProfile, defaultAgent } from "./agent-profile.ts";
export type { UnattendedPolicy } from "./approval-policy.ts";
export type { ConnectOptions } from "./connections.ts";
export { StoreError, TurnError } from "./errors.ts";
export type { FlushPolicy } from "./event-log.ts";
export type {
  ItemJudgement,
  Judgement,
  Modification,
} from "./judgement.ts";
export { createMemoryThreadStore } from "./memory-thread-store.ts";
export { isPreviewCut } from "./preview-cut.ts";
export type { JudgedPrompt, PromptGate, PromptVerdict } from "./prompt-gate.ts";
export type { ThreadServerOptions } from "./server-settings.ts";
export { createThreadServer, type ThreadServer } from "./thread-server.ts";
export type {
  ArtifactWriter,
  KeptClaim,
  ReadEventsOptions,
  ThreadClaim,
  ThreadLease,
  ThreadStore,
} from "./thread-store.ts";
export { ToolError } from "./tool-error.ts";
export { askGate, type ToolGate, type ToolVerdict, undecidedCodes } from "./tool-gate.ts";
export type { PreparedCall, Tool, ToolEffects, ToolExecution, ToolScope } from "./tools.ts";
export type { ObservedEnd, ObservedTurn, TurnObserver } from "./turn-observer.ts";
export type {
  ArtifactInput,
  JudgedCall,
  MessageWriter,
  ToolOutcome,
  ToolRequest,
  TurnContext,
  TurnRequest,
  TurnRunner,
} from "./turn-runner.ts";
