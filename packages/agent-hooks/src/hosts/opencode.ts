import { JsonValueSchema } from "@harnesskit/protocol/envelope";
import * as z from "zod";
import type { Host } from "../host.ts";
import { alike } from "../protection.ts";
import { opencodePlugin } from "./opencode-plugin.ts";

const text = z.string().nullish();

/** What the plugin file writes to its command. */
const OpencodeInputSchema = z.object({
  event: z.string().min(1),
  sessionID: z.string().min(1),
  tool: z.string().min(1).nullish(),
  callID: text,
  args: JsonValueSchema.optional(),
  output: JsonValueSchema.optional(),
  error: text,
  exit: z.number().nullish(),
  directory: text,
});

const path = { filePath: "path" };

/** opencode, through a plugin file. Its own words: https://opencode.ai/docs/plugins */
export const opencode: Host = {
  id: "opencode",
  name: "opencode",
  checked: "runs of 1.18.33 against a scripted model, and the documentation",
  minimum: { version: "1.18.33", reason: "plugins in older versions were not checked" },
  events: {
    "tool.execute.before": { ahp: "pre_action", blocks: true, modifies: "whole" },
    "tool.execute.after": { ahp: "post_action" },
    "tool.execute.failed": { ahp: "post_action" },
  },
  read(value) {
    const input = OpencodeInputSchema.parse(value);
    return {
      event: input.event,
      session: input.sessionID,
      cwd: input.directory || undefined,
      tool: input.tool
        ? { name: input.tool, input: input.args ?? {}, id: input.callID ?? undefined }
        : undefined,
      result: input.output ?? undefined,
      error: input.error ?? undefined,
      exitCode: input.exit ?? undefined,
      details: {},
    };
  },
  tools: {
    bash: { tool: "bash", rename: { workdir: "cwd" }, strings: ["command"] },
    read: { tool: "read", rename: path, strings: ["filePath"] },
    write: { tool: "write", rename: path, strings: ["filePath", "content"] },
    edit: { tool: "edit", rename: path, strings: ["filePath"] },
    glob: { tool: "glob", strings: ["pattern"] },
    grep: { tool: "grep", strings: ["pattern"] },
    list: { tool: "read", strings: ["path"] },
    apply_patch: { tool: "edit", rename: { patchText: "patch" }, strings: ["patchText"], patch: "patch" },
    webfetch: { tool: "fetch", strings: ["url"] },
  },
  bookkeeping: ["invalid", "plan_enter", "plan_exit", "question", "skill", "task", "todoread", "todowrite"],
  write(verdict) {
    switch (verdict.kind) {
      case "pass":
      case "allow":
        return { decision: "allow" };
      case "modify":
        return { decision: "allow", args: verdict.input };
      default:
        return { decision: "deny", reason: verdict.reason };
    }
  },
  timing: { defaultMs: 30_000, field: "timeoutMs in the plugin file", unit: "ms" },
  gaps: ["where its own settings ask for a tool, its user is asked besides: a plugin cannot answer that"],
  refusesBy: "exit",
  // The plugin refuses the call for every failure of its command.
  failures: {
    ...alike({ documented: "unknown", withSettings: "blocked" }),
    untrusted: { documented: "unknown" },
  },
  settings: {
    kind: "plugin",
    files: ["~/.config/opencode/plugins/harnesskit.js", ".opencode/plugins/harnesskit.js"],
    plugin: opencodePlugin,
  },
};
