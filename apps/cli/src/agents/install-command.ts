import { AgentIdSchema } from "@harnesskit/protocol/runtime";
import { shellWord } from "@harnesskit/wire";
import { type ExitCode, refusedError, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { withCleanup } from "../with-cleanup.ts";
import { ask } from "./ask.ts";
import { type ConfirmOptions, checkConfirmation, enable } from "./enable.ts";
import { installAgent, installMcpServer } from "./install.ts";
import { isMcpSpec, parseMcpSpec } from "./mcp-spec.ts";

export interface InstallCommandOptions extends ConfirmOptions {
  /** Of the agent that serves an MCP server. @default one that follows from the command or URL */
  readonly id?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  /** The MCP server may be started once, without a question. */
  readonly start?: true;
  readonly json?: true;
}

const installMcp = (spec: string, options: InstallCommandOptions): Promise<string> =>
  withCleanup(async (defer) => {
    const { id, env, header } = options;
    if (id !== undefined && !AgentIdSchema.safeParse(id).success) {
      throw usageError("--id must have letters, digits, ., _ and -, up to 128, with a letter or digit first");
    }
    const parsed = await parseMcpSpec(spec, {
      cwd: io().cwd(),
      env,
      header,
    });
    const err = createTerminal(io().stderr);
    const { server } = parsed;
    const what = "url" in server ? server.url : server.command.map((word) => shellWord(word)).join(" ");
    err.say(["To read its tools, this MCP server is started once, now, with your rights:", `  ${what}`]);
    const answer = options.start === true || (await ask("Start it?", "Yes, start it once", "No"));
    if (answer === undefined)
      throw usageError("an MCP server is started once to install it: --start allows it");
    if (!answer) throw refusedError("refused", "the MCP server was not started and not installed");
    const stop = new AbortController();
    defer(onStopSignals(() => stop.abort()));
    return installMcpServer({
      ...parsed,
      id: id ?? parsed.id,
      spec,
      signal: stop.signal,
      onOutput: (line) => err.say(`  ${line}`),
    });
  });

/** `harness agents install`: copies an agent, shows it, and enables it after a yes. Returns the exit code. */
export const installCommand = async (source: string, options: InstallCommandOptions): Promise<ExitCode> => {
  checkConfirmation(options);
  const isMcp = isMcpSpec(source);
  if (!isMcp && (options.id ?? options.env ?? options.header ?? options.start) !== undefined) {
    throw usageError("--id, --env, --header and --start belong to mcp:");
  }
  const id = isMcp ? await installMcp(source, options) : await installAgent(source);
  createTerminal(io().stderr).say(`Installed ${id}`);
  return enable(id, options, true);
};
