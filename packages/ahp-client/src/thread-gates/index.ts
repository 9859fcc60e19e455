export { createThreadGates, type ThreadGates, type ThreadGatesOptions } from "./thread-gates.ts";
export type {
  ThreadCall,
  ThreadCallOutcome,
  ThreadJudgement,
  ThreadPrompt,
  ThreadTurn,
  ThreadTurnEnd,
  ThreadVerdict,
} from "./thread-types.ts";
