import { join } from "node:path";
import { createMcpProxy, maxProxyMessageBytes, openToolPins } from "@harnesskit/guard/mcp";
import { parseMcpServer, serverTitle } from "@harnesskit/mcp-agent";
import { createStdioChannel } from "@harnesskit/transport-stdio";
import type { Channel } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { headersOf } from "../agents/mcp-spec.ts";
import { type ExitCode, reading, usageError } from "../cli-error.ts";
import { hubPlaceAt } from "../hub/find-hub.ts";
import { io } from "../io.ts";
import { ownStreams } from "../serve/open-stdio.ts";
import { readStateJson } from "../state-files.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { stateDirectory } from "../workspace-directory.ts";
import { type ProxyHarnessOptions, readProgramName, runProxy, startProgram } from "./proxy-judge.ts";

export interface GuardMcpOptions extends ProxyHarnessOptions {
  readonly name?: string;
  readonly url?: string;
  /** `HEADER=VARIABLE`. */
  readonly header?: readonly string[];
}

/** Where the accepted tools of MCP servers are. */
export const pinsDirectory = (): string => join(stateDirectory("guard"), "mcp");

/** The server at a URL, with the values of its headers. Throws a usage error. */
const readUrl = (url: string, header: readonly string[] | undefined) => {
  const names = headersOf(header) ?? {};
  const server = reading("--url", () => parseMcpServer({ url, headers: names }));
  const headers = Object.entries(names).map(([key, variable]) => {
    const value = io().env[variable];
    if (value === undefined || value === "") {
      throw usageError(`--header: the variable ${variable} is not set`, "Set it to the header's whole value");
    }
    return [key, value] as const;
  });
  return { title: serverTitle(server), headers: Object.fromEntries(headers) };
};

const lines = {
  maxFrameBytes: maxProxyMessageBytes,
  maxBufferedBytes: 2 * maxProxyMessageBytes,
  keepLines: true,
};

const openServer = async (
  [program = "", ...args]: readonly string[],
  { url, header }: GuardMcpOptions,
  onNote: (line: string) => void,
): Promise<Channel> => {
  if (url !== undefined) {
    const { createHttpChannel } = await import("./http-channel.ts");
    const { headers } = readUrl(url, header);
    return createHttpChannel({ url, headers, maxMessageBytes: maxProxyMessageBytes, onNote });
  }
  return startProgram(program, args, lines);
};

/** The inbox in the page of the hub, without a ticket: the client's program sees it. Undefined where the hub has no page. */
const inboxUrl = async (state: string | undefined): Promise<string | undefined> => {
  const { serverFile } = hubPlaceAt(state);
  const found = await readStateJson(serverFile);
  return isObject(found) && typeof found.url === "string" ? `${found.url}/#/inbox` : undefined;
};

/** `harness guard mcp`: stands between an MCP client and a server until one of them ends. Returns the exit code. */
export const guardMcp = async (
  command: readonly string[],
  options: GuardMcpOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const { url, header } = options;
  if ((command.length === 0) === (url === undefined)) {
    throw usageError(url === undefined ? "Name the MCP server" : "--url cannot be used with a command", [
      { to: "A program", run: "harness guard mcp -- COMMAND [ARGUMENTS]" },
      { to: "Or a URL", run: "harness guard mcp --url URL" },
    ]);
  }
  if (header !== undefined && url === undefined) throw usageError("--header is for --url");
  const words = url === undefined ? command : [readUrl(url, header).title];
  const note = (line: string) => createTerminal(io().stderr).say(`harness guard mcp: ${line}`);
  const name = readProgramName(options.name, url === undefined ? command : [new URL(url).hostname]);
  const pins = await openToolPins({ directory: pinsDirectory(), name, place: words });
  const capabilities = ["pre_action", "post_action", "confirmation"];
  const identity = { framework: "harness-guard-mcp", version, agentId: `mcp.${name}`, capabilities, note };
  return runProxy(options, identity, async ({ judge, limits, onStop }) => {
    const server = await openServer(command, options, note);
    const client = createStdioChannel({ ...lines, ...ownStreams() });
    onStop(() => void client.close());
    const approvalUrl = options.ahp === undefined ? () => inboxUrl(options.hub) : undefined;
    const proxy = createMcpProxy({
      ...{ client, server, judge, pins, name, limits },
      onNote: note,
      approvalUrl,
    });
    return proxy.run();
  });
};
