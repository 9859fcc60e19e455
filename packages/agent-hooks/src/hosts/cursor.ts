import { JsonValueSchema } from "@harnesskit/protocol/envelope";
import type { Resolved } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import * as z from "zod";
import type { Host, HostToolCall } from "../host.ts";
import { alike } from "../protection.ts";
import { type HookCommand, hooksText, plainEntries, toSeconds } from "../settings/host-settings.ts";
import { parseObjectText } from "./json-text.ts";

const text = z.string().nullish();

/** The input of Cursor's hooks; each event fills a part of it. */
const CursorInputSchema = z.object({
  conversation_id: z.string().min(1),
  hook_event_name: z.string().min(1),
  generation_id: text,
  model: text,
  cursor_version: text,
  workspace_roots: z.array(z.string()).nullish(),
  cwd: text,
  tool_name: z.string().min(1).nullish(),
  tool_input: JsonValueSchema.optional(),
  tool_use_id: text,
  tool_output: JsonValueSchema.optional(),
  command: text,
  url: text,
  prompt: text,
  reason: text,
});
type CursorInput = z.infer<typeof CursorInputSchema>;

/** `beforeShellExecution` has a command and no tool; in `beforeMCPExecution` the tool's name is the server's own. */
const cursorCall = (input: CursorInput): HostToolCall | undefined => {
  const { hook_event_name: event, command, tool_name: name } = input;
  const id = input.tool_use_id ?? undefined;
  if (event === "beforeShellExecution") {
    return typeof command === "string" ? { name: "Shell", input: { command }, id } : undefined;
  }
  if (!name) return undefined;
  const own = event === "beforeMCPExecution" ? `MCP:${name}` : name;
  return { name: own, input: parseObjectText(input.tool_input ?? {}), id };
};

const entries = ({ command, timeoutMs }: Resolved<HookCommand>) =>
  plainEntries(["preToolUse", "postToolUse", "beforeSubmitPrompt", "sessionStart", "sessionEnd"], {
    command,
    timeout: toSeconds(timeoutMs),
    failClosed: true,
  });

const header = { version: 1 };

/** Cursor. Its own words: https://cursor.com/docs/agent/hooks */
export const cursor: Host = {
  id: "cursor",
  name: "Cursor",
  checked: "documentation of 2026-08-25; not run",
  events: {
    preToolUse: { ahp: "pre_action", blocks: true, modifies: "whole" },
    beforeShellExecution: { ahp: "pre_action", blocks: true, asks: true },
    beforeMCPExecution: { ahp: "pre_action", blocks: true, asks: true },
    postToolUse: { ahp: "post_action" },
    beforeSubmitPrompt: { ahp: "pre_prompt", blocks: true },
    sessionStart: { ahp: "session_start" },
    sessionEnd: { ahp: "session_end" },
  },
  read(value) {
    const input = CursorInputSchema.parse(value);
    const { model, cursor_version: version, reason, generation_id: turn } = input;
    return {
      event: input.hook_event_name,
      session: input.conversation_id,
      cwd: input.cwd || input.workspace_roots?.[0] || undefined,
      workspace: input.workspace_roots?.[0] || undefined,
      tool: cursorCall(input),
      prompt: input.prompt ?? undefined,
      result: input.tool_output ?? undefined,
      details: defined({
        model: model || undefined,
        host_version: version || undefined,
        reason: reason || undefined,
        turn_id: turn || undefined,
      }),
    };
  },
  tools: {
    Shell: { tool: "bash", rename: { working_directory: "cwd" }, strings: ["command"] },
    Read: { tool: "read", rename: { file_path: "path" }, strings: ["file_path"] },
    Write: { tool: "write", rename: { file_path: "path" }, strings: ["file_path"] },
    Grep: { tool: "grep", strings: ["pattern"] },
  },
  // Its names `MCP:TOOL` do not name the server.
  write(verdict, event) {
    if (event === "beforeSubmitPrompt") {
      return verdict.kind === "block"
        ? { continue: false, user_message: verdict.reason }
        : { continue: true };
    }
    const gates = event === "preToolUse" || event.startsWith("before");
    switch (verdict.kind) {
      case "pass":
        return gates ? { permission: "allow" } : {};
      case "modify":
        return { permission: "allow", updated_input: verdict.input };
      default: {
        const { kind, reason } = verdict;
        return { permission: kind === "ask" ? "ask" : "deny", user_message: reason, agent_message: reason };
      }
    }
  },
  timing: { defaultMs: 30_000, field: "timeout", unit: "s" },
  failures: {
    ...alike({ documented: "runs", withSettings: "blocked" }),
    silent_exit: { documented: "blocked" },
    garbage: { documented: "unknown", withSettings: "blocked" },
    untrusted: { documented: "unknown" },
  },
  settings: {
    kind: "json",
    files: ["~/.cursor/hooks.json", ".cursor/hooks.json"],
    comments: false,
    header,
    entries,
    managed: (command) => ({
      place:
        "Linux: /etc/cursor/hooks.json\nmacOS: /Library/Application Support/Cursor/hooks.json\n" +
        "Windows: C:\\ProgramData\\Cursor\\hooks.json",
      text: hooksText(header, entries(command)),
    }),
  },
};
