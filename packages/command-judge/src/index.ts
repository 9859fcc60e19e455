export { judgeCommand } from "./judge-command.ts";
export type { CommandJudgement, CommandPath, CommandReason, CommandVerdict } from "./judgement.ts";
export { judgePath } from "./paths/judge-path.ts";
export type { PathJudgement, RealPath } from "./paths/resolve-path.ts";
export type { JudgedPlaces, JudgeLists } from "./places.ts";
export {
  type CommandJudge,
  type CommandJudgeOptions,
  commandJudge,
  type JudgeContext,
  type JudgedAction,
  type JudgeFunction,
} from "./policy/command-judge.ts";
export { isSameCommand } from "./same-command.ts";
