import { judgeCommand } from "../../shell/judge-command.ts";
import { judgePath } from "../../shell/judge-path.ts";
import { joinPath } from "../../shell/resolve-path.ts";
import type { ShellJudgement } from "../../shell/verdict.ts";
import { ownOf } from "../cel/event-view.ts";
import type { PolicyFunction, PolicyFunctionCall } from "../cel/policy-function.ts";
import type { CodingAgentOptions } from "./coding-agent-functions.ts";
import { toShellLists } from "./shell-lists.ts";

const toMap = ({ verdict, reasons, programs, paths, secrets, network }: ShellJudgement) => ({
  verdict,
  why: reasons[0]?.text ?? "it only reads",
  codes: reasons.map(({ code }) => code),
  programs,
  outside: paths.some(({ outside }) => outside),
  secret: secrets || paths.some(({ secret }) => secret),
  network,
});

const notUnderstood = (why: string) => ({
  ...toMap({ verdict: "unknown", reasons: [], programs: [], paths: [], secrets: false, network: false }),
  why,
});

const directoryOf = (cwd: unknown, workspace: string): string | undefined => {
  if (cwd === undefined) return workspace;
  return typeof cwd === "string" ? joinPath(workspace, cwd) : undefined;
};

const judge = (args: unknown, { workspace, lists }: PolicyFunctionCall, home: string | undefined) => {
  const command = ownOf(args, "command");
  if (typeof command !== "string") return notUnderstood("there is no text of a command");
  const directory = directoryOf(ownOf(args, "cwd"), workspace);
  if (directory === undefined) return notUnderstood("cwd is no path");
  const places = { workspace, directory, lists: toShellLists(lists), ...(home !== undefined && { home }) };
  const judged = toMap(judgeCommand(command, places));
  // What names no path works where it starts.
  return { ...judged, outside: judged.outside || judgePath(".", places).outside };
};

/** `command(map): map`: what the command in a tool's arguments would do. */
export const commandFunction = ({ home }: CodingAgentOptions): PolicyFunction => ({
  signature: "command(map): map",
  call: ([args], call) => judge(args, call, home),
});
