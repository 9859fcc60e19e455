import type { AssistantBlock, AssistantMessage, ToolCall } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import { type ModelAnswer, ModelFailure } from "@harnesskit/wire/model";
import type { StepResult, ToolSet } from "ai";
import { fromAssistantPart, toSignature } from "./blocks.ts";

/** What the model said, and the calls that it asks for with why their arguments are not valid. */
export interface ReadAnswer {
  /** Undefined where it says nothing. */
  readonly message: AssistantMessage | undefined;
  readonly calls: readonly { readonly call: ToolCall; readonly problem: string | null }[];
}

/** The model's own id, unless another call has it. */
const ownId = (id: string, used: Set<string>): string => {
  const wanted = id === "" ? "call" : id;
  let own = wanted;
  for (let suffix = 2; used.has(own); suffix++) own = `${wanted}~${suffix}`;
  used.add(own);
  return own;
};

/** The arguments of a call as an object; any other value is kept under a name. */
const toArguments = (input: unknown): JsonObject =>
  isObject(input) ? (input as JsonObject) : { unusable_input: (input ?? null) as JsonObject[string] };

/** What the assistant said, a single text as a string; undefined for nothing. */
const toMessage = (
  blocks: readonly AssistantBlock[],
  calls: readonly ToolCall[],
): AssistantMessage | undefined => {
  const [first, ...others] = blocks;
  const isPlain = first?.type === "text" && first.signature === undefined && others.length === 0;
  const content = isPlain ? first.text : [...blocks];
  if (calls.length === 0) return first && { role: "assistant", content };
  const tool_calls = [...calls];
  return first ? { role: "assistant", content, tool_calls } : { role: "assistant", tool_calls };
};

/** Reads what the model said as a message of the conversation. `usedIds` are ids that no call may have. */
export const toReadAnswer = (
  { step, inputProblem }: ModelAnswer<StepResult<ToolSet>>,
  usedIds: ReadonlySet<string>,
): ReadAnswer => {
  const used = new Set(usedIds);
  const blocks: AssistantBlock[] = [];
  const calls: { call: ToolCall; problem: string | null }[] = [];
  for (const part of step.content) {
    const { providerMetadata: providerOptions } = part as { providerMetadata?: typeof step.providerMetadata };
    if (part.type === "tool-call") {
      const { toolCallId, toolName: name, input } = part;
      if (name === "") throw new ModelFailure("no_answer", "the model calls a tool without a name");
      const id = ownId(toolCallId, used);
      const call = { id, name, arguments: toArguments(input), ...toSignature({ providerOptions }) };
      calls.push({ call, problem: inputProblem(part) ?? null });
    } else if (part.type === "text" || part.type === "reasoning") {
      const block = fromAssistantPart({ type: part.type, text: part.text, providerOptions });
      if (block !== undefined) blocks.push(block);
    } else if (part.type === "file") {
      // A message of the assistant cannot hold a file.
      blocks.push({ type: "text", text: `[a file of type ${part.file.mediaType}, which was not kept]` });
    }
  }
  return {
    message: toMessage(
      blocks,
      calls.map(({ call }) => call),
    ),
    calls,
  };
};
