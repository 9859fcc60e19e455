import {
  inputSchemaOf,
  type PreparedCall,
  prepareCall,
  type Tool,
  type ToolScope,
} from "@harnesskit/wire/tool";
import { type Tool as AiSdkTool, jsonSchema, type ToolSet } from "ai";

/** A call that is ready: its input as it runs, what a human judges beside it, and the run itself. */
export type ReadyCall = PreparedCall & Required<Pick<PreparedCall, "run">>;

type Prepare = (input: unknown, scope: ToolScope) => Promise<ReadyCall>;

/** What a tool of {@link toChatTools} knows beyond what the AI SDK does. */
interface ChatToolFacts {
  readonly prepare: Prepare;
  /** Its calls only read: they run side by side. */
  readonly onlyReads: boolean;
  /** To run a call again that may have run does no harm. */
  readonly isRepeatable: boolean;
}

const known = new WeakMap<object, ChatToolFacts>();

/** What is known of a tool of {@link toChatTools}; undefined for any other tool. */
export const factsOf = (tool: AiSdkTool): ChatToolFacts | undefined => known.get(tool);

const ignore = () => {};

/**
 * Tools as the tools of a chat graph. Whatever does not only read (`effects: "read"`) waits for an approval. Each call is
 * prepared first: what a human is shown is the prepared input and its preview, and a call whose preparation gives something
 * else when the answer comes is asked about again.
 */
export const toChatTools = (
  tools: readonly Tool[],
  { directory }: Pick<ToolScope, "directory"> = {},
): ToolSet => {
  const set: ToolSet = Object.create(null);
  for (const tool of tools) {
    const prepare: Prepare = (input, scope) => prepareCall(tool, input, { ...scope, directory });
    const chatTool = {
      description: tool.description,
      inputSchema: jsonSchema<unknown>(inputSchemaOf(tool)),
      needsApproval: tool.effects !== "read",
      execute: async (input: unknown, { toolCallId: callId, abortSignal }: Parameters<Execute>[1]) => {
        const { run } = await prepare(input, { callId });
        return run({
          callId,
          signal: abortSignal ?? new AbortController().signal,
          stdout: ignore,
          stderr: ignore,
        });
      },
    } as AiSdkTool;
    const onlyReads = tool.effects === "read";
    known.set(chatTool, { prepare, onlyReads, isRepeatable: onlyReads || tool.idempotent === true });
    set[tool.name] = chatTool;
  }
  return set;
};

type Execute = NonNullable<AiSdkTool["execute"]>;
