import { judgeCommand } from "../judge-command.ts";
import type { CommandJudgement } from "../judgement.ts";
import { joinPath } from "../paths/resolve-path.ts";
import type { JudgeContext, JudgeFunction } from "./command-judge.ts";
import { toJudgeLists } from "./judge-lists.ts";
import { ownOf } from "./own-of.ts";

const onlyReads = "it only reads: the policy knows every program and option in it";

const toMap = ({ verdict, reasons, programs, paths, secrets, network }: CommandJudgement) => ({
  verdict,
  why: reasons[0]?.text ?? (network ? "it only asks a service of this machine" : onlyReads),
  codes: reasons.map(({ code }) => code),
  programs,
  outside: paths.some(({ outside }) => outside),
  secret: secrets || paths.some(({ secret }) => secret),
  network,
});

const notKnown = (why: string) => ({
  verdict: "unknown",
  why,
  codes: ["not-a-command"],
  programs: [],
  outside: false,
  secret: false,
  network: false,
});

const judge = (args: unknown, { workspace, lists }: JudgeContext, home: string | undefined) => {
  const command = ownOf(args, "command");
  if (typeof command !== "string") return notKnown("the argument command is not a string");
  const cwd = ownOf(args, "cwd") ?? ".";
  const directory = typeof cwd === "string" ? joinPath(workspace, cwd) : undefined;
  if (directory === undefined) return notKnown("the argument cwd is not a path");
  const places = { workspace, directory, lists: toJudgeLists(lists), ...(home !== undefined && { home }) };
  return toMap(judgeCommand(command, places));
};

/** `command(map): map`: what the command in a tool's arguments would do. */
export const commandFunction = (home: string | undefined): JudgeFunction => ({
  signature: "command(map): map",
  call: ([args], context) => judge(args, context, home),
});
