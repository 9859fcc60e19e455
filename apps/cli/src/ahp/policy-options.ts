import { homedir } from "node:os";
import { type CommandJudge, commandJudge } from "@harnesskit/command-judge";

/** What policies of this command can call: the judge of shell commands and paths. */
export const policyOptions: CommandJudge = commandJudge({ home: homedir() });
