import { displayText } from "@harnesskit/wire";
import { HookError } from "./hook-error.ts";
import type { Host } from "./host.ts";
import { claudeCode } from "./hosts/claude-code.ts";
import { codex } from "./hosts/codex.ts";
import { copilotCli } from "./hosts/copilot-cli.ts";
import { cursor } from "./hosts/cursor.ts";
import { geminiCli } from "./hosts/gemini-cli.ts";
import { opencode } from "./hosts/opencode.ts";

/** All hosts. To add one, write its file and its recorded examples, and add it here. */
export const hosts: readonly Host[] = [claudeCode, codex, geminiCli, cursor, copilotCli, opencode];

/** The host with this id, such as "codex". Throws {@link HookError} (`unknown_host`). */
export const findHost = (id: string): Host => {
  const host = hosts.find((one) => one.id === id);
  if (host) return host;
  const known = hosts.map((one) => one.id).join(", ");
  throw new HookError(
    "unknown_host",
    `unknown host ${displayText(id, { maxLength: 100 })}; the hosts are ${known}`,
  );
};
