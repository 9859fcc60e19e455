import type { CallOptions } from "@harnesskit/core-runtime";
import type { ToolHost } from "@harnesskit/core-runtime/thread-tools";
import { isObject } from "@harnesskit/wire/json";
import {
  EndedCommandsSchema,
  endedCommandsToolName,
  workspaceAgentId,
} from "@harnesskit/workspace-agent/declarations";
import { oneLine } from "../terminal/text.ts";

/** What became of the commands that conversations started in the background. */
export interface EndedCommands {
  /** The host to call the workspace tools by: it notices which conversations start commands. */
  readonly host: Pick<ToolHost, "call" | "check">;
  /**
   * A sentence for the model about the commands that ended since it last heard of them; undefined where there is none. The process of
   * the tools is not asked for a conversation that started no command. Never rejects.
   */
  note(threadId: string): Promise<string | undefined>;
}

const bashId = `${workspaceAgentId}/bash`;
const askTimeoutMs = 5_000;

export const createEndedCommands = (host: Pick<ToolHost, "call" | "check">): EndedCommands => {
  /** Conversations that started a command, with the origin of that call. */
  const withCommands = new Map<string | undefined, CallOptions>();
  return {
    host: {
      check: (...call) => host.check(...call),
      call(toolId, input, options, onChunk) {
        if (toolId === bashId && isObject(input) && input.background === true)
          withCommands.set(options.correlationId, { caller: options.caller, context: options.context });
        return host.call(toolId, input, options, onChunk);
      },
    },
    async note(threadId) {
      const origin = withCommands.get(threadId);
      if (origin === undefined) return undefined;
      const options = { ...origin, correlationId: threadId, timeoutMs: askTimeoutMs };
      const asked = await host.call(`${workspaceAgentId}/${endedCommandsToolName}`, {}, options, () => {});
      const ended = EndedCommandsSchema.safeParse(asked.status === "succeeded" ? asked.output : undefined);
      if (!ended.success || ended.data.commands.length === 0) return undefined;
      const lines = ended.data.commands.map(({ id, command, exitCode, signal, stopped }) => {
        const how = signal === undefined ? `exit code ${exitCode}` : signal;
        return `- ${id} (${oneLine(command, 200)}): ${stopped ? "stopped, " : ""}${how}`;
      });
      return `[Since your last turn, commands in the background have ended. \`commands\` shows their output.\n${lines.join("\n")}]`;
    },
  };
};
