import type { Resolved } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { Host } from "../host.ts";
import { alike, type FailureEffect, type FailureFact } from "../protection.ts";
import { type HookCommand, hooksText, matcherEntries } from "../settings/host-settings.ts";
import { readSnakeCase } from "./snake-case-input.ts";

const hookName = "harnesskit";

const entries = ({ command, timeoutMs }: Resolved<HookCommand>) =>
  matcherEntries(
    {
      BeforeTool: ".*",
      AfterTool: ".*",
      BeforeAgent: undefined,
      SessionStart: undefined,
      SessionEnd: undefined,
    },
    { name: hookName, type: "command", command, timeout: timeoutMs },
  );

const fact = (documented: FailureEffect, effect: FailureEffect = documented): FailureFact => ({
  documented,
  observed: { effect, version: "0.61.0" },
});

const path = { file_path: "path" };

/** Gemini CLI. Its own words: docs/hooks/reference.md in its package. */
export const geminiCli: Host = {
  id: "gemini-cli",
  name: "Gemini CLI",
  checked: "runs of 0.61.0 against a scripted model, and the documentation in its package",
  events: {
    BeforeTool: { ahp: "pre_action", blocks: true, modifies: "whole" },
    AfterTool: { ahp: "post_action" },
    BeforeAgent: { ahp: "pre_prompt", blocks: true },
    AfterAgent: { ahp: "post_response" },
    SessionStart: { ahp: "session_start" },
    SessionEnd: { ahp: "session_end" },
  },
  read: readSnakeCase,
  tools: {
    run_shell_command: { tool: "bash", rename: { dir_path: "cwd" }, strings: ["command"] },
    read_file: { tool: "read", rename: path, strings: ["file_path"] },
    list_directory: { tool: "read", rename: { dir_path: "path" }, strings: ["dir_path"] },
    write_file: { tool: "write", rename: path, strings: ["file_path", "content"] },
    replace: { tool: "edit", rename: path, strings: ["file_path"] },
    glob: { tool: "glob", rename: { dir_path: "path" }, strings: ["pattern"] },
    grep_search: { tool: "grep", rename: { dir_path: "path" }, strings: ["pattern"] },
    search_file_content: { tool: "grep", rename: { dir_path: "path" }, strings: ["pattern"] },
    google_web_search: { tool: "web_search", strings: ["query"] },
  },
  // Its names `mcp_SERVER_TOOL` do not say where the server's name ends: `mcp_context` does.
  write(verdict, event) {
    switch (verdict.kind) {
      case "pass":
        return undefined;
      case "modify":
        // One path of the program merges this with the arguments and another replaces them: it has all arguments.
        return { decision: "allow", hookSpecificOutput: { hookEventName: event, tool_input: verdict.input } };
      default:
        return { decision: "deny", reason: verdict.reason };
    }
  },
  timing: { defaultMs: 60_000, field: "timeout", unit: "ms" },
  failures: {
    ...alike(fact("runs")),
    silent_exit: fact("blocked", "runs"),
    missing: fact("runs", "blocked"),
  },
  settings: {
    kind: "json",
    files: ["~/.gemini/settings.json", ".gemini/settings.json"],
    comments: true,
    header: {},
    switchedOff({ hooksConfig }) {
      if (!isObject(hooksConfig)) return undefined;
      const { enabled, disabled } = hooksConfig;
      if (enabled === false) return '"hooksConfig.enabled" is false';
      return Array.isArray(disabled) && disabled.includes(hookName)
        ? `"hooksConfig.disabled" names ${hookName}`
        : undefined;
    },
    entries,
    managed: (command) => ({
      place:
        "Linux: /etc/gemini-cli/settings.json\nmacOS: /Library/Application Support/GeminiCli/settings.json\n" +
        "Windows: C:\\ProgramData\\gemini-cli\\settings.json",
      text: hooksText({ hooksConfig: { enabled: true } }, entries(command)),
    }),
  },
};
