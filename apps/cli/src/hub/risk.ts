import { homedir } from "node:os";
import type { ApprovalRisk } from "@harnesskit/approvals";
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

const toolLevels: Readonly<Record<string, ApprovalRisk["level"]>> = {
  read: "low",
  glob: "low",
  grep: "low",
  write: "medium",
  edit: "medium",
};

const maxReasons = 5;

/** How dangerous an action is, by its words alone: commands by what the judge of commands knows, files by the tool. */
export const riskOf = ({ payload, metadata }: AnyEvent): ApprovalRisk => {
  const { tool_name: tool, arguments: input } = isObject(payload) ? payload : {};
  const { command } = isObject(input) ? input : {};
  const { workspace } = isObject(metadata) ? metadata : {};
  if (typeof command === "string") {
    const places = { workspace: typeof workspace === "string" ? workspace : "", home: homedir() };
    const { verdict, reasons, secrets } = judgeCommand(command, places);
    const level = secrets && levels[verdict] !== "critical" ? "high" : levels[verdict];
    return { level, reasons: reasons.slice(0, maxReasons).map(({ text }) => text) };
  }
  return { level: (typeof tool === "string" && toolLevels[tool]) || "unknown", reasons: [] };
};
