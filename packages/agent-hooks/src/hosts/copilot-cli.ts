import { type JsonObject, JsonValueSchema } from "@harnesskit/protocol/envelope";
import type { Resolved } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import * as z from "zod";
import type { HookInput, Host } from "../host.ts";
import { alike, type FailureEffect, type FailureFact } from "../protection.ts";
import { type HookCommand, hooksText, plainEntries, toSeconds } from "../settings/host-settings.ts";
import { parseObjectText } from "./json-text.ts";
import { readSnakeCase } from "./snake-case-input.ts";

const text = z.string().nullish();

/** The input of hooks with names in camel case. It has no name of the event. */
const CopilotInputSchema = z.object({
  sessionId: text,
  timestamp: JsonValueSchema.optional(),
  cwd: text,
  toolName: z.string().min(1).nullish(),
  toolArgs: JsonValueSchema.optional(),
  toolResult: JsonValueSchema.optional(),
  prompt: text,
  source: text,
  reason: text,
});
type CopilotInput = z.infer<typeof CopilotInputSchema>;

/** The event by its fields; `toolResult` is a field of the host's, beside the arguments that a model writes. */
const eventOf = ({ toolName, toolResult, prompt, reason, source }: CopilotInput): string => {
  if (toolName) return toolResult === undefined || toolResult === null ? "preToolUse" : "postToolUse";
  if (typeof prompt === "string" && typeof source !== "string") return "userPromptSubmitted";
  if (typeof reason === "string") return "sessionEnd";
  return typeof source === "string" ? "sessionStart" : "unknown";
};

const readCamelCase = (value: JsonObject, event: string | undefined): HookInput => {
  const input = CopilotInputSchema.parse(value);
  const { toolName: name, source, reason } = input;
  return {
    event: event ?? eventOf(input),
    session: input.sessionId || "copilot-cli",
    cwd: input.cwd || undefined,
    tool: name ? { name, input: parseObjectText(input.toolArgs ?? {}) } : undefined,
    prompt: input.prompt ?? undefined,
    result: input.toolResult ?? undefined,
    details: defined({ source: source || undefined, reason: reason || undefined }),
  };
};

const entries = ({ command, timeoutMs }: Resolved<HookCommand>) =>
  plainEntries(["preToolUse", "postToolUse", "userPromptSubmitted", "sessionStart", "sessionEnd"], {
    type: "command",
    bash: command,
    powershell: command,
    timeoutSec: toSeconds(timeoutMs),
  });

const fact = (effect: FailureEffect): FailureFact => ({
  documented: effect,
  observed: { effect, version: "1.0.102" },
});
const header = { version: 1 };
const path = { strings: ["path"] };

/** Copilot CLI. Its own words: https://docs.github.com/en/copilot/reference/hooks-reference */
export const copilotCli: Host = {
  id: "copilot-cli",
  name: "Copilot CLI",
  checked: "runs of 1.0.102 against a scripted model, and the documentation at github/docs 05da5bc",
  events: {
    preToolUse: { ahp: "pre_action", blocks: true, asks: true, modifies: "whole" },
    PreToolUse: { ahp: "pre_action", blocks: true, asks: true, modifies: "whole" },
    postToolUse: { ahp: "post_action" },
    PostToolUse: { ahp: "post_action" },
    userPromptSubmitted: { ahp: "pre_prompt" },
    UserPromptSubmit: { ahp: "pre_prompt" },
    sessionStart: { ahp: "session_start" },
    SessionStart: { ahp: "session_start" },
    sessionEnd: { ahp: "session_end" },
    SessionEnd: { ahp: "session_end" },
  },
  read: (input, event) =>
    typeof input.hook_event_name === "string" ? readSnakeCase(input) : readCamelCase(input, event),
  tools: {
    bash: { tool: "bash", strings: ["command"] },
    powershell: { tool: "powershell", strings: ["command"] },
    view: { tool: "read", ...path },
    create: { tool: "write", ...path },
    edit: { tool: "edit", ...path },
    glob: { tool: "glob", strings: ["pattern"] },
    grep: { tool: "grep", rename: { glob: "include" }, strings: ["pattern"] },
    web_fetch: { tool: "fetch", strings: ["url"] },
    // The names of events in Pascal case come with those of Claude Code's tools.
    Bash: { tool: "bash", strings: ["command"] },
    Read: { tool: "read", rename: { file_path: "path" }, strings: ["file_path"] },
    Write: { tool: "write", rename: { file_path: "path" }, strings: ["file_path"] },
    Edit: { tool: "edit", rename: { file_path: "path" }, strings: ["file_path"] },
  },
  // Its names `SERVER-TOOL` do not say where the server's name ends.
  write(verdict) {
    switch (verdict.kind) {
      case "pass":
        return undefined;
      case "modify":
        return { permissionDecision: "allow", modifiedArgs: verdict.input };
      default:
        return {
          permissionDecision: verdict.kind === "ask" ? "ask" : "deny",
          permissionDecisionReason: verdict.reason,
        };
    }
  },
  timing: { defaultMs: 30_000, field: "timeoutSec", unit: "s" },
  failures: {
    ...alike(fact("runs")),
    crash: fact("blocked"),
    silent_exit: fact("blocked"),
    missing: fact("blocked"),
  },
  settings: {
    kind: "json",
    files: ["~/.copilot/hooks/harnesskit.json", ".github/hooks/harnesskit.json"],
    comments: false,
    header,
    entries,
    managed: (command) => ({
      place: "/etc/github-copilot/policy.d/harnesskit.json (owned by root)",
      text: hooksText(header, entries(command)),
    }),
  },
};
