import { acceptTool, type WaitingTool, waitingTools } from "@harnesskit/guard/mcp";
import { createTwoFilesPatch } from "diff";
import { CliError, ExitCode } from "../cli-error.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { oneLine, safeJson } from "../terminal/text.ts";
import { pinsDirectory } from "./mcp.ts";

export interface GuardToolsOptions {
  readonly accept?: readonly string[];
  readonly json?: true;
}

const pretty = (declaration: string): string => `${safeJson(JSON.parse(declaration), 2)}\n`;

/** What has changed, as a diff of the declarations. */
const toolText = ({ server, title, tool, digest, declaration, accepted }: WaitingTool): string => {
  const head = `${oneLine(tool, 200)} of ${oneLine(server, 200)} (${oneLine(title, 300)}): ${accepted === undefined ? "new" : "changed"}`;
  const [, ...lines] = createTwoFilesPatch(
    "accepted",
    "declared",
    accepted === undefined ? "" : pretty(accepted),
    pretty(declaration),
  ).split("\n");
  return `${head}\n${lines.join("\n")}accept it: harness guard tools --accept ${digest}\n`;
};

/** `harness guard tools`: the tools of MCP servers that wait to be accepted, and their acceptance. Returns the exit code. */
export const guardTools = async ({ accept = [], json }: GuardToolsOptions): Promise<ExitCode> => {
  const directory = pinsDirectory();
  const terminal = createTerminal();
  const accepted: WaitingTool[] = [];
  for (const digest of accept) {
    const tools = await acceptTool(directory, digest);
    if (tools.length === 0) {
      throw new CliError("not_waiting", `no tool with the digest ${oneLine(digest, 100)} waits`, {
        hint: "See which ones do: harness guard tools",
      });
    }
    accepted.push(...tools);
  }
  const waiting = await waitingTools(directory);
  if (json) {
    const shown = ({ declaration, accepted: before, ...tool }: WaitingTool) => ({
      ...tool,
      declaration: JSON.parse(declaration) as unknown,
      accepted: before === undefined ? null : (JSON.parse(before) as unknown),
    });
    terminal.write(`${safeJson({ accepted: accepted.map(shown), waiting: waiting.map(shown) })}\n`);
    return ExitCode.done;
  }
  for (const { tool, server } of accepted) {
    terminal.write(`${oneLine(tool, 200)} of ${oneLine(server, 200)} is accepted.\n`);
  }
  if (accept.length > 0) return ExitCode.done;
  terminal.write(waiting.length === 0 ? "No tool waits to be accepted.\n" : waiting.map(toolText).join("\n"));
  return ExitCode.done;
};
