import { basename, join } from "node:path";
import { ActionJudge, McpProxy, maxProxyMessageBytes, ToolPins } from "@harnesskit/guard/mcp";
import { createChildTransport, createStdioChannel } from "@harnesskit/transport-stdio";
import type { Channel } from "@harnesskit/wire";
import { ExitCode, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { oneLine } from "../terminal/text.ts";
import { stateDirectory } from "../workspace-directory.ts";
import { openProxyHarness, type ProxyHarnessOptions } from "./proxy-judge.ts";

export interface GuardMcpOptions extends ProxyHarnessOptions {
  readonly name?: string;
}

/** Where the accepted tools of MCP servers are. */
export const pinsDirectory = (): string => join(stateDirectory("guard"), "mcp");

const runners = new Set(["npx", "bunx", "uvx", "pnpx", "node", "python", "python3", "docker", "deno"]);

/** What the server is called where no name was given: the package or the program. */
const nameOf = ([program = "", ...args]: readonly string[]): string => {
  const name = basename(program);
  const word = runners.has(name) ? (args.find((one) => !one.startsWith("-")) ?? name) : name;
  return basename(word.replace(/(?:\/dist)?(?:\/index)?\.[cm]?[jt]s$/, "")).replace(/(.)@[^@]*$/, "$1");
};

/** A name that is one part of `mcp__SERVER__TOOL`. */
const asPart = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9.-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64) || "server";

const readName = (given: string | undefined, words: readonly string[]): string => {
  if (given === undefined) return asPart(nameOf(words));
  if (/^[A-Za-z0-9.-]{1,64}$/.test(given)) return given;
  throw usageError(
    `--name: ${oneLine(JSON.stringify(given), 200)} is not a name`,
    "It takes 1 to 64 letters, digits, points and hyphens",
  );
};

/** `harness guard mcp`: stands between an MCP client and a server until one of them ends. Returns the exit code. */
export const guardMcp = async (
  command: readonly string[],
  options: GuardMcpOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const [program, ...args] = command;
  if (program === undefined) {
    throw usageError("Name the MCP server", "harness guard mcp -- COMMAND [ARGUMENTS]");
  }
  const note = (line: string) => process.stderr.write(`harness guard mcp: ${oneLine(line, 1000)}\n`);
  const name = readName(options.name, command);
  const pins = await ToolPins.open({ directory: pinsDirectory(), name, place: command });
  const harness = await openProxyHarness(options, {
    framework: "harness-guard-mcp",
    version,
    agentId: `mcp.${name}`,
    note,
  });
  let forget = () => {};
  try {
    const server: Channel = await createChildTransport({
      command: program,
      args,
      inheritEnv: Object.keys(process.env),
      maxFrameBytes: maxProxyMessageBytes,
    }).connect();
    const client = createStdioChannel({ maxFrameBytes: maxProxyMessageBytes });
    forget = onStopSignals(() => void client.close());
    const judge = new ActionJudge({ client: harness.client });
    const limits = { holdMs: options.wait * 1000 };
    const failure = await new McpProxy({ client, server, judge, pins, name, limits, onNote: note }).run();
    if (failure === undefined) return ExitCode.done;
    note(failure.message);
    return ExitCode.failed;
  } finally {
    forget();
    await harness.close();
  }
};
