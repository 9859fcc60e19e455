import type { Resolved } from "@harnesskit/wire";
import { readMcpName } from "../actions.ts";
import type { Host } from "../host.ts";
import { alike } from "../protection.ts";
import { type HookCommand, hooksText, matcherEntries, toSeconds } from "../settings/host-settings.ts";
import { readSnakeCase } from "./snake-case-input.ts";

const path = { file_path: "path" };

const entries = ({ command, timeoutMs }: Resolved<HookCommand>) =>
  matcherEntries(
    {
      PreToolUse: "*",
      PostToolUse: "*",
      UserPromptSubmit: undefined,
      SessionStart: undefined,
      SessionEnd: undefined,
    },
    // `onFailure` is known from 2.1.295 on.
    { type: "command", command, timeout: toSeconds(timeoutMs), onFailure: "block" },
  );

/** Claude Code. Its own words: https://code.claude.com/docs/en/hooks */
export const claudeCode: Host = {
  id: "claude-code",
  name: "Claude Code",
  checked: "documentation of 2.1.240; types of the tools in the npm package 2.1.330; not run",
  events: {
    PreToolUse: { ahp: "pre_action", blocks: true, asks: true, modifies: "whole" },
    PostToolUse: { ahp: "post_action" },
    PostToolUseFailure: { ahp: "post_action" },
    UserPromptSubmit: { ahp: "pre_prompt", blocks: true },
    Stop: { ahp: "post_response" },
    SessionStart: { ahp: "session_start" },
    SessionEnd: { ahp: "session_end" },
  },
  read: readSnakeCase,
  tools: {
    Bash: { tool: "bash", strings: ["command"] },
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
  readMcpName,
  write(verdict, event) {
    if (verdict.kind === "pass") return undefined;
    if (event === "UserPromptSubmit") {
      return verdict.kind === "modify" ? undefined : { decision: "block", reason: verdict.reason };
    }
    const [permissionDecision, permissionDecisionReason] =
      verdict.kind === "modify"
        ? ["allow", "changed by the guard"]
        : [verdict.kind === "ask" ? "ask" : "deny", verdict.reason];
    const changed = verdict.kind === "modify" && { updatedInput: verdict.input };
    const decided = { permissionDecision, permissionDecisionReason, ...changed };
    return { hookSpecificOutput: { hookEventName: event, ...decided } };
  },
  timing: { defaultMs: 600_000, field: "timeout", unit: "s" },
  failures: {
    ...alike({ documented: "runs", withSettings: "blocked" }),
    silent_exit: { documented: "blocked", withSettings: "blocked" },
    untrusted: { documented: "runs" },
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
