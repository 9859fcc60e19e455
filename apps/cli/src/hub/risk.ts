import { homedir } from "node:os";
import { type ApprovalRisk, isCommandTool } from "@harnesskit/approvals";
import { type CommandVerdict, judgeCommand } from "@harnesskit/command-judge";
import type { AnyEvent } from "@harnesskit/hub";
import { isObject } from "@harnesskit/wire/json";

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

const toolLevels: ReadonlyMap<unknown, ApprovalRisk["level"]> = new Map([
  ["read", "low"],
  ["glob", "low"],
  ["grep", "low"],
  ["write", "medium"],
  ["edit", "medium"],
]);

const maxReasons = 5;

/** How dangerous a call is, by its words alone: commands by what the judge of commands knows, files by the tool; any other is unknown. */
export const riskOfCall = (
  tool: unknown,
  { command }: Readonly<Record<string, unknown>>,
  workspace: string,
): ApprovalRisk => {
  if (!isCommandTool(tool) || typeof command !== "string") {
    return { level: toolLevels.get(tool) ?? "unknown", reasons: [] };
  }
  const { verdict, reasons, secrets } = judgeCommand(command, { workspace, home: homedir() });
  const level = secrets && levels[verdict] !== "critical" ? "high" : levels[verdict];
  return { level, reasons: reasons.slice(0, maxReasons).map(({ text }) => text) };
};

/** The same of an event. */
export const riskOf = ({ payload, metadata }: AnyEvent): ApprovalRisk => {
  const { tool_name: tool, arguments: input } = isObject(payload) ? payload : {};
  const { workspace } = isObject(metadata) ? metadata : {};
  return riskOfCall(tool, isObject(input) ? input : {}, typeof workspace === "string" ? workspace : "");
};
