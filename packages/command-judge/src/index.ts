export { judgeCommand } from "./judge-command.ts";
export type { CommandVerdict } from "./judgement.ts";
export { judgePath } from "./paths/judge-path.ts";
export { type CommandJudge, commandJudge, type JudgeFunction } from "./policy/command-judge.ts";
export { isSameCommand } from "./same-command.ts";
