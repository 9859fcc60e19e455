import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Resolved } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { readMcpName } from "../actions.ts";
import type { Host } from "../host.ts";
import { alike } from "../protection.ts";
import { type HookCommand, toSeconds } from "../settings/host-settings.ts";
import { permissionAnswer } from "./permission-answer.ts";
import { readSnakeCase } from "./snake-case-input.ts";

const registered = [
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "UserPromptSubmit",
  "SessionStart",
  "SessionEnd",
] as const;

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

const version = "0.171.0";

/** Its models see the tools of subagents by one of two names. */
const agentTools = ["spawn_agent", "wait_agent", "send_input", "resume_agent", "close_agent", "list_agents"];

/** Codex. Its own words: https://developers.openai.com/codex/hooks */
export const codex: Host = {
  id: "codex",
  name: "Codex",
  checked: `runs of ${version} against a scripted model`,
  minimum: { version: "0.169.0", reason: "hooks of older versions were not checked" },
  events: {
    PreToolUse: { ahp: "pre_action", blocks: true, modifies: "command" },
    PermissionRequest: { ahp: "pre_action", blocks: true, asksUser: true },
    PostToolUse: { ahp: "post_action" },
    UserPromptSubmit: { ahp: "pre_prompt", blocks: true },
    Stop: { ahp: "post_response" },
    SessionStart: { ahp: "session_start" },
    SessionEnd: { ahp: "session_end" },
  },
  read(input) {
    const read = readSnakeCase(input);
    const { tool_input: given } = input;
    if (read.event !== "PermissionRequest" || !read.tool || !isObject(given)) return read;
    // Why the model asks for more rights, which is not in the call's input.
    const { description: _why, ...own } = given as JsonObject;
    return { ...read, tool: { ...read.tool, input: own } };
  },
  tools: {
    Bash: { tool: "bash", strings: ["command"] },
    view_image: { tool: "read", strings: ["path"] },
    apply_patch: { tool: "edit", rename: { command: "patch" }, strings: ["command"], patch: "patch" },
  },
  bookkeeping: [
    ...agentTools.flatMap((name) => [name, `multi_agent_v1${name}`]),
    ...["update_plan", "request_user_input", "get_goal", "create_goal", "update_goal"],
  ],
  readMcpName,
  write(verdict, event) {
    if (event === "PermissionRequest") return permissionAnswer(verdict);
    // Codex fails the hook, and runs the tool, for an `ask`, an `allow` without `updatedInput` and a refusal without a reason. What is
    // allowed is said when Codex asks for its user's permission.
    if (verdict.kind === "pass" || verdict.kind === "allow") return undefined;
    if (verdict.kind !== "modify" && event === "UserPromptSubmit")
      return { decision: "block", reason: verdict.reason };
    const decided =
      verdict.kind === "modify"
        ? { permissionDecision: "allow", updatedInput: verdict.input }
        : { permissionDecision: "deny", permissionDecisionReason: verdict.reason };
    return { hookSpecificOutput: { hookEventName: event, ...decided } };
  },
  timing: { defaultMs: 600_000, field: "timeout", unit: "s" },
  gaps: [
    "what is typed into a running program (write_stdin) has no hook: an approved bash, python3 or ssh is an unsupervised shell",
    "a command that still runs when its tool returns, and a view_image that fails, are not reported",
    "whether a command has failed is not reported: its output is",
  ],
  refusesBy: "exit",
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
