import { acceptTool, type WaitingTool, waitingTools } from "@harnesskit/guard/mcp";
import { createTwoFilesPatch } from "diff";
import { CliError, ExitCode } from "../cli-error.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { safeJson } from "../terminal/text.ts";
import { pinsDirectory } from "./mcp.ts";

export interface GuardToolsOptions {
  readonly accept?: readonly string[];
  readonly json?: true;
}

const pretty = (declaration: string): string => `${safeJson(JSON.parse(declaration), 2)}\n`;

/** What has changed, as a diff of the declarations. */
const toolText = ({ server, title, tool, digest, declaration, accepted }: WaitingTool): string[] => {
  const head = `${tool} of ${server} (${title}): ${accepted === undefined ? "new" : "changed"}`;
  const [, ...lines] = createTwoFilesPatch(
    "accepted",
    "declared",
    accepted === undefined ? "" : pretty(accepted),
    pretty(declaration),
  ).split("\n");
  return [head, ...lines.slice(0, -1), `accept it: harness guard tools --accept ${digest}`];
};

/** `harness guard tools`: the tools of MCP servers that wait to be accepted, and their acceptance. Returns the exit code. */
export const guardTools = async ({ accept = [], json }: GuardToolsOptions): Promise<ExitCode> => {
  const directory = pinsDirectory();
  const terminal = createTerminal();
  const accepted: WaitingTool[] = [];
  for (const digest of accept) {
    const tools = await acceptTool(directory, digest);
    if (tools.length === 0) {
      throw new CliError("not_waiting", `no tool with the digest ${digest} waits`, {
        hint: { to: "See which ones do", run: "harness guard tools" },
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
    terminal.json({ accepted: accepted.map(shown), waiting: waiting.map(shown) });
    return ExitCode.done;
  }
  for (const { tool, server } of accepted) {
    terminal.say(`${tool} of ${server} is accepted.`);
  }
  if (accept.length > 0) return ExitCode.done;
  if (waiting.length === 0) terminal.say("No tools are waiting for review.");
  for (const tool of waiting) terminal.exact([...toolText(tool), ""]);
  return ExitCode.done;
};
