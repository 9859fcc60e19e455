export type { HumanAnswer } from "../human-answer.ts";
export {
  createThreadGates,
  type ThreadGates,
  type ThreadGatesOptions,
  threadGateCapabilities,
} from "./thread-gates.ts";
export type {
  ThreadCall,
  ThreadCallOutcome,
  ThreadJudgement,
  ThreadPrompt,
  ThreadRequest,
  ThreadTurn,
  ThreadTurnEnd,
  ThreadVerdict,
} from "./thread-types.ts";
