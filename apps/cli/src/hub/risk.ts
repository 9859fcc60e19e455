import { isAbsolute, resolve } from "node:path";
import { type ApprovalRisk, isCommandTool, riskWithHidden } from "@harnesskit/approvals";
import { type CommandVerdict, judgeCommand } from "@harnesskit/command-judge";
import type { AnyEvent } from "@harnesskit/hub";
import { isObject } from "@harnesskit/wire/json";
import { io } from "../io.ts";

const levels: Readonly<Record<CommandVerdict, ApprovalRisk["level"]>> = {
  read: "low",
  write: "medium",
  network: "medium",
  execute: "medium",
  unknown: "unknown",
  exfiltration: "critical",
  privilege: "critical",
  destructive: "critical",
};

/** What a command runs of the workspace: its kind is known as that of `make` is, which the judge calls `execute`. */
const runsOfWorkspace: ReadonlySet<string> = new Set([
  "package-script",
  "runs-file",
  "runs-module",
  "runs-package",
]);

const toolLevels: ReadonlyMap<unknown, ApprovalRisk["level"]> = new Map([
  ["read", "low"],
  ["glob", "low"],
  ["grep", "low"],
  ["write", "medium"],
  ["edit", "medium"],
  ["fetch", "medium"],
  ["web_search", "medium"],
  ["prompt", "medium"],
]);

const maxReasons = 5;
/** Stands for a workspace that is not named: relative paths are inside of it. */
const someWorkspace = "/workspace";

const isAbsolutePath = (path: unknown): path is string => typeof path === "string" && isAbsolute(path);

const commandRisk = (command: string, cwd: unknown, given: string): ApprovalRisk => {
  const workspace = [given, cwd].find(isAbsolutePath) ?? someWorkspace;
  const directory = typeof cwd === "string" ? resolve(workspace, cwd) : workspace;
  const { verdict, reasons, secrets } = judgeCommand(command, { workspace, directory, home: io().home() });
  const isOfWorkspace = reasons.every((each) => each.verdict !== "unknown" || runsOfWorkspace.has(each.code));
  const known = verdict === "unknown" && isOfWorkspace ? "medium" : levels[verdict];
  const level = secrets && known !== "critical" ? "high" : known;
  return { level, reasons: reasons.slice(0, maxReasons).map(({ text }) => text) };
};

/**
 * How dangerous a call is, by its words alone: commands by what the judge of commands knows, files by the tool; any other is unknown. What
 * has hidden characters is at least high.
 */
export const riskOfCall = (
  tool: unknown,
  input: Readonly<Record<string, unknown>>,
  workspace: string,
): ApprovalRisk => {
  const { command, cwd } = input;
  const risk: ApprovalRisk =
    isCommandTool(tool) && typeof command === "string"
      ? commandRisk(command, cwd, workspace)
      : { level: toolLevels.get(tool) ?? "unknown", reasons: [] };
  return riskWithHidden(risk, input);
};

const saysItOnlyReads = (annotations: unknown): boolean =>
  isObject(annotations) && annotations.readOnlyHint === true && annotations.destructiveHint !== true;

/** The same of an event. */
export const riskOf = ({ event_type: type, payload, metadata }: AnyEvent): ApprovalRisk => {
  const { tool_name: tool, arguments: input, annotations } = isObject(payload) ? payload : {};
  const { workspace } = isObject(metadata) ? metadata : {};
  const subject = type === "pre_prompt" ? "prompt" : tool;
  const words = isObject(input) ? input : isObject(payload) ? payload : {};
  const risk = riskOfCall(subject, words, typeof workspace === "string" ? workspace : "");
  if (risk.level !== "unknown" || !saysItOnlyReads(annotations)) return risk;
  return { level: "medium", reasons: ["its MCP server says that it only reads"] };
};
