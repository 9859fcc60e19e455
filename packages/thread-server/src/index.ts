export {
  type PreparedCall,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolScope,
  tool,
} from "@harnesskit/wire/tool";
export type { ThreadConnectOptions } from "./connections.ts";
export { ThreadStoreError, TurnError } from "./errors.ts";
export type { ThreadFailureContext } from "./failures.ts";
export { findGrant, grantedBy } from "./find-grant.ts";
export { askGate, type JudgedPrompt, type PromptGate, type ToolGate, undecidedCodes } from "./gates.ts";
export { defaultAgent, type ThreadServerLimits, type ThreadServerOptions } from "./server-settings.ts";
export { createThreadServer, type ThreadServer } from "./thread-server.ts";
export type {
  AnswerSeal,
  ArtifactWriter,
  KeptClaim,
  ReadEventsOptions,
  ThreadClaim,
  ThreadLease,
  ThreadStore,
} from "./thread-store.ts";
export type { ObservedTurn, TurnObserver } from "./turn-observer.ts";
export type { AgentProfile, JudgedCall, TurnContext, TurnRunner } from "./turn-runner.ts";
