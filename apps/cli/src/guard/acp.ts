import {
  type AcpAskingRule,
  createAcpProxy,
  type EditPreview,
  maxAcpMessageBytes,
} from "@harnesskit/guard/acp";
import { createStdioChannel } from "@harnesskit/transport-stdio";
import { type ExitCode, usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { ownStreams } from "../serve/open-stdio.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { type ProxyHarnessOptions, readProgramName, runProxy, startProgram } from "./proxy-judge.ts";

export interface GuardAcpOptions extends ProxyHarnessOptions {
  readonly name?: string;
  readonly asking?: AcpAskingRule;
}

/** `harness guard acp`: stands between an editor and an ACP agent until one of them ends. Returns the exit code. */
export const guardAcp = async (
  command: readonly string[],
  options: GuardAcpOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const [program, ...args] = command;
  if (program === undefined)
    throw usageError("Name the agent", { to: "For example", run: "harness guard acp -- gemini --acp" });
  const note = (line: string) => createTerminal(io().stderr).say(`harness guard acp: ${line}`);
  const name = readProgramName(options.name, command);
  const lines = {
    maxFrameBytes: maxAcpMessageBytes,
    maxBufferedBytes: 2 * maxAcpMessageBytes,
    keepLines: true,
  };
  const capabilities = ["pre_action", "post_action", "pre_prompt", "session_start", "session_end"];
  const identity = { framework: "harness-guard-acp", version, agentId: `acp.${name}`, capabilities, note };
  return runProxy(options, identity, async ({ judge, limits, onStop }) => {
    const agent = await startProgram(program, args, lines);
    const editor = createStdioChannel({ ...lines, ...ownStreams() });
    onStop(() => void editor.close());
    const previewOf: EditPreview = async (given, workspace) => {
      const { previewForeignEdit } = await import("@harnesskit/workspace-agent/edit-preview");
      return previewForeignEdit({ arguments: given, workspace });
    };
    return createAcpProxy({
      editor,
      agent,
      judge,
      previewOf,
      asking: options.asking,
      limits,
      onNote: note,
    }).run();
  });
};
