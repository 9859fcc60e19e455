import type { Resolved } from "@harnesskit/wire";
import { readMcpName } from "../actions.ts";
import type { Host } from "../host.ts";
import { alike } from "../protection.ts";
import { type HookCommand, hooksText, matcherEntries, toSeconds } from "../settings/host-settings.ts";
import { permissionAnswer } from "./permission-answer.ts";
import { readSnakeCase } from "./snake-case-input.ts";

const path = { file_path: "path" };

const entries = ({ command, timeoutMs }: Resolved<HookCommand>) =>
  matcherEntries(
    {
      PreToolUse: "*",
      PostToolUse: "*",
      PostToolUseFailure: "*",
      PermissionRequest: "*",
      UserPromptSubmit: undefined,
      SessionStart: undefined,
      SessionEnd: undefined,
    },
    // `onFailure` is known from 2.1.295 on.
    { type: "command", command, timeout: toSeconds(timeoutMs), onFailure: "block" },
  );

const version = "2.1.332";
const decisionWords = { allow: "allow", ask: "ask", block: "deny" } as const;

/** Claude Code. Its own words: https://code.claude.com/docs/en/hooks */
export const claudeCode: Host = {
  id: "claude-code",
  name: "Claude Code",
  checked: `runs of ${version} against a scripted model, and the documentation of 2.1.240`,
  minimum: {
    version: "2.1.295",
    reason: "it ignores `onFailure`, and runs the tool when a hook crashes, is missing or takes too long",
  },
  events: {
    PreToolUse: { ahp: "pre_action", blocks: true, asks: true, modifies: "whole" },
    PostToolUse: { ahp: "post_action" },
    PostToolUseFailure: { ahp: "post_action" },
    PermissionRequest: { ahp: "pre_action", blocks: true, asksUser: true },
    UserPromptSubmit: { ahp: "pre_prompt", blocks: true },
    Stop: { ahp: "post_response" },
    SessionStart: { ahp: "session_start" },
    SessionEnd: { ahp: "session_end" },
  },
  read: readSnakeCase,
  // Copilot CLI runs the hooks of a project's Claude Code settings. What it writes has no transcript, or is in its own form.
  runBy: (input) =>
    typeof input.hookName === "string" ||
    (typeof input.timestamp === "string" && input.transcript_path === undefined)
      ? "copilot-cli"
      : undefined,
  tools: {
    Bash: { tool: "bash", strings: ["command"] },
    // Runs a command in the background and hands its lines to the model.
    Monitor: { tool: "bash", strings: ["command"] },
    PowerShell: { tool: "powershell", strings: ["command"] },
    Read: { tool: "read", rename: path, strings: ["file_path"] },
    Write: { tool: "write", rename: path, strings: ["file_path", "content"] },
    Edit: { tool: "edit", rename: path, strings: ["file_path"] },
    MultiEdit: { tool: "edit", rename: path, strings: ["file_path"] },
    NotebookEdit: { tool: "edit", rename: { notebook_path: "path" }, strings: ["notebook_path"] },
    Glob: { tool: "glob", strings: ["pattern"] },
    Grep: { tool: "grep", rename: { glob: "include" }, strings: ["pattern"] },
    WebFetch: { tool: "fetch", strings: ["url"] },
    WebSearch: { tool: "web_search", strings: ["query"] },
  },
  bookkeeping: [
    ...["Agent", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ListAgents", "ReportFindings"],
    ...[
      "ScheduleWakeup",
      "SendMessage",
      "Skill",
      "StructuredOutput",
      "Task",
      "TaskCreate",
      "TaskGet",
      "TaskList",
    ],
    ...["TaskOutput", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch"],
  ],
  readMcpName,
  write(verdict, event) {
    if (verdict.kind === "pass") return undefined;
    if (event === "PermissionRequest") return permissionAnswer(verdict);
    if (event === "UserPromptSubmit") {
      return "reason" in verdict && verdict.kind !== "allow"
        ? { decision: "block", reason: verdict.reason }
        : undefined;
    }
    const [permissionDecision, permissionDecisionReason] =
      verdict.kind === "modify"
        ? ["allow", "changed by the guard"]
        : [decisionWords[verdict.kind], verdict.reason];
    const changed = verdict.kind === "modify" && { updatedInput: verdict.input };
    const decided = { permissionDecision, permissionDecisionReason, ...changed };
    return { hookSpecificOutput: { hookEventName: event, ...decided } };
  },
  timing: { defaultMs: 600_000, field: "timeout", unit: "s" },
  gaps: [
    "a file that a prompt mentions with @ is read without a hook",
    "what is typed into a program that runs in the background has no hook",
  ],
  refusesBy: "exit",
  failures: {
    ...alike({ documented: "runs", withSettings: "blocked", observed: { effect: "blocked", version } }),
    silent_exit: { documented: "blocked", observed: { effect: "blocked", version } },
    // `onFailure` does not see it: a hook that ends with 0 has not failed.
    garbage: { documented: "runs", observed: { effect: "runs", version } },
    // With `-p` it runs the hooks of a project that its user has not trusted.
    untrusted: { documented: "runs", observed: { effect: "blocked", version } },
  },
  settings: {
    kind: "json",
    files: ["~/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"],
    comments: false,
    header: {},
    switchedOff: ({ disableAllHooks }) =>
      disableAllHooks === true ? '"disableAllHooks" is true' : undefined,
    entries,
    managed: (command) => ({
      place:
        "Linux: /etc/claude-code/managed-settings.json\nmacOS: /Library/Application Support/ClaudeCode/managed-settings.json",
      text: hooksText({ allowManagedHooksOnly: true }, entries(command)),
    }),
  },
};
