import type { AssistantBlock, ToolCall } from "@harnesskit/protocol/chat";
import { isObject } from "@harnesskit/wire/json";
import { roundedInputReason } from "@harnesskit/wire/model";
import type { ProviderMetadata, StreamTextResult, ToolSet } from "ai";
import { toArguments } from "./assistant-message.ts";
import { fromAssistantPart, toSignature } from "./blocks.ts";
import { reasonText } from "./failure-text.ts";
import { ChatModelError } from "./to-model-error.ts";

/** A call that the model asks for. */
export interface AskedCall {
  readonly call: ToolCall;
  /** Why its arguments are not valid; null if they are. */
  readonly problem: string | null;
}

/** What one answer of the model holds. */
export interface Answer {
  readonly blocks: readonly AssistantBlock[];
  readonly calls: readonly AskedCall[];
}

type Content = Awaited<StreamTextResult<ToolSet, never>["content"]>[number];
type CallContent = Extract<Content, { type: "tool-call" }>;

/** By the model's ids of the calls. */
type Inputs = ReadonlyMap<string, string>;

const metadataOptions = ({
  providerMetadata,
}: {
  readonly providerMetadata?: ProviderMetadata | undefined;
}): { providerOptions?: ProviderMetadata } =>
  providerMetadata === undefined ? {} : { providerOptions: providerMetadata };

/** The model's own id, unless a call that waits, or another one of this answer, has it. */
const ownId = (id: string, used: Set<string>): string => {
  const wanted = id === "" ? "call" : id;
  let own = wanted;
  for (let suffix = 2; used.has(own); suffix++) own = `${wanted}~${suffix}`;
  used.add(own);
  return own;
};

const inputProblem = (part: CallContent, written: string | undefined): string | null => {
  if (isObject(part.input)) return roundedInputReason(written ?? JSON.stringify(part.input)) ?? null;
  const { error } = part as { error?: unknown };
  return error === undefined ? "the input is not an object" : reasonText(error);
};

const toAskedCall = (part: CallContent, used: Set<string>, inputs: Inputs): AskedCall => {
  if (part.toolName === "") {
    throw new ChatModelError("provider_invalid_response", "the model calls a tool without a name");
  }
  const call: ToolCall = {
    id: ownId(part.toolCallId, used),
    name: part.toolName,
    arguments: toArguments(part.input),
    ...toSignature(metadataOptions(part)),
  };
  return { call, problem: inputProblem(part, inputs.get(part.toolCallId)) };
};

/**
 * What the model said, as blocks and calls. `usedIds` are ids that no call may have, `inputs` the arguments of calls as they were
 * written.
 */
export const readAnswer = (
  content: readonly Content[],
  usedIds: ReadonlySet<string>,
  inputs: Inputs,
): Answer => {
  const used = new Set(usedIds);
  const blocks: AssistantBlock[] = [];
  const calls: AskedCall[] = [];
  for (const part of content) {
    if (part.type === "tool-call") calls.push(toAskedCall(part, used, inputs));
    else if (part.type === "text" || part.type === "reasoning") {
      const block = fromAssistantPart({ type: part.type, text: part.text, ...metadataOptions(part) });
      if (block !== undefined) blocks.push(block);
    } else if (part.type === "file") {
      // A message of the assistant cannot hold a file.
      blocks.push({ type: "text", text: `[a file of type ${part.file.mediaType}, which was not kept]` });
    }
  }
  return { blocks, calls };
};
