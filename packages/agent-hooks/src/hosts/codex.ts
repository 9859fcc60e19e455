import type { Resolved } from "@harnesskit/wire";
import { readMcpName } from "../actions.ts";
import type { Host } from "../host.ts";
import { alike } from "../protection.ts";
import { type HookCommand, toSeconds } from "../settings/host-settings.ts";
import { readSnakeCase } from "./snake-case-input.ts";

const registered = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd"] as const;

/** Codex waits no longer than this for a hook of `SessionEnd`, and warns of more. */
const sessionEndSeconds = 3;

const timeoutOf = (event: string, timeoutMs: number): number =>
  event === "SessionEnd" ? Math.min(sessionEndSeconds, toSeconds(timeoutMs)) : toSeconds(timeoutMs);

const entries = ({ command, timeoutMs }: Resolved<HookCommand>) =>
  Object.fromEntries(
    registered.map((event) => [
      event,
      { hooks: [{ type: "command", command, timeout: timeoutOf(event, timeoutMs) }] },
    ]),
  );

/** A basic string of TOML: JSON's escapes are among TOML's, but for a solidus, which JSON.stringify leaves as it is. */
const tomlString = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007F");

const requirementsText = ({ command, timeoutMs }: Resolved<HookCommand>): string => {
  const hook = (event: string) =>
    `\n[[hooks.${event}]]\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = ${tomlString(command)}\n` +
    `timeout = ${timeoutOf(event, timeoutMs)}\n`;
  return `allow_managed_hooks_only = true\n${registered.map(hook).join("")}`;
};

const version = "0.169.0";

/** Codex. Its own words: https://developers.openai.com/codex/hooks */
export const codex: Host = {
  id: "codex",
  name: "Codex",
  checked: `runs of ${version} against a scripted model`,
  events: {
    PreToolUse: { ahp: "pre_action", blocks: true, modifies: "command" },
    PostToolUse: { ahp: "post_action" },
    UserPromptSubmit: { ahp: "pre_prompt", blocks: true },
    Stop: { ahp: "post_response" },
    SessionStart: { ahp: "session_start" },
    SessionEnd: { ahp: "session_end" },
  },
  read: readSnakeCase,
  tools: {
    Bash: { tool: "bash", strings: ["command"] },
    apply_patch: { tool: "edit", rename: { command: "patch" }, strings: ["command"], patch: "patch" },
  },
  readMcpName,
  write(verdict, event) {
    // Codex fails the hook, and runs the tool, for an `ask`, an `allow` without `updatedInput` and a refusal without a reason.
    if (verdict.kind === "pass") return undefined;
    if (verdict.kind !== "modify" && event === "UserPromptSubmit")
      return { decision: "block", reason: verdict.reason };
    const decided =
      verdict.kind === "modify"
        ? { permissionDecision: "allow", updatedInput: verdict.input }
        : { permissionDecision: "deny", permissionDecisionReason: verdict.reason };
    return { hookSpecificOutput: { hookEventName: event, ...decided } };
  },
  timing: { defaultMs: 600_000, field: "timeout", unit: "s" },
  failures: alike({ documented: "runs", observed: { effect: "runs", version } }),
  settings: {
    kind: "json",
    files: ["~/.codex/hooks.json", ".codex/hooks.json"],
    comments: false,
    header: {},
    entries,
    managed: (command) => ({
      place: "requirements.toml, which an administrator distributes to Codex",
      text: requirementsText(command),
    }),
  },
};
