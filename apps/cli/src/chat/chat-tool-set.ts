import { toChatTools } from "@harnesskit/chat-harness/ai-sdk";
import type { ThreadTool } from "@harnesskit/core-runtime/thread-tools";
import { prepareCall } from "@harnesskit/wire/tool";
import type { HubJudge } from "../hub/hub-judge.ts";
import type { ProjectGrants } from "./project-grants.ts";

export interface ChatToolSetOptions {
  readonly directory: string;
  /** What judges each call. @default nothing: what does not only read is asked about */
  readonly judge: HubJudge | undefined;
  readonly grants: ProjectGrants;
  /** Receives what a call prints while it runs. */
  readonly onOutput: (callId: string, stream: "stdout" | "stderr", text: string) => void;
}

/** The tools of a conversation: judged, asked about where the judge says so and no answer for always covers it, and shown while they run. */
export const chatToolSet = (
  tools: readonly ThreadTool[],
  { directory, judge, grants, onOutput }: ChatToolSetOptions,
): ReturnType<typeof toChatTools> => {
  const asked = new Map<string, boolean>();
  const shown = (judge?.judged(tools) ?? tools).map(
    (tool): ThreadTool => ({
      ...tool,
      async prepare(given, scope) {
        const { run, ...ready } = await prepareCall(tool, given, scope);
        const { callId } = scope;
        const isAsked = judge === undefined ? tool.effects !== "read" : judge.asks(callId) !== undefined;
        asked.set(callId, isAsked && !(await grants.covers({ tool: tool.name, ...ready })));
        return {
          ...ready,
          run: (context) =>
            run({
              ...context,
              stdout: (text) => onOutput(callId, "stdout", text),
              stderr: (text) => onOutput(callId, "stderr", text),
            }),
        };
      },
    }),
  );
  const set = toChatTools(shown, { directory });
  for (const tool of Object.values(set))
    tool.needsApproval = (_input: unknown, { toolCallId }: { toolCallId: string }) =>
      asked.get(toolCallId) !== false;
  return set;
};
