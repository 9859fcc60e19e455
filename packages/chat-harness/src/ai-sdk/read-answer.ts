import type { AssistantBlock, ToolCall } from "@harnesskit/protocol/chat";
import type { ProviderMetadata, StreamTextResult, ToolSet } from "ai";
import { fromAssistantPart, toSignature } from "./blocks.ts";
import { ChatModelError } from "./chat-model-error.ts";
import { reasonOf } from "./failure-text.ts";
import { toArguments } from "./from-model-messages.ts";

/** A call that the model asks for. */
export interface AskedCall {
  readonly call: ToolCall;
  /** Why its arguments are none; null for arguments. */
  readonly problem: string | null;
}

/** What one answer of the model holds. */
export interface Answer {
  readonly blocks: readonly AssistantBlock[];
  readonly calls: readonly AskedCall[];
}

type Content = Awaited<StreamTextResult<ToolSet, never>["content"]>[number];
type CallContent = Extract<Content, { type: "tool-call" }>;

const optionsOf = ({
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

const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Why the arguments of a call are none; null for arguments. */
const problemOf = (part: CallContent): string | null => {
  if (isObject(part.input)) return null;
  const { error } = part as { error?: unknown };
  return error === undefined ? "the input is no object" : reasonOf(error);
};

const toAskedCall = (part: CallContent, used: Set<string>): AskedCall => {
  if (part.toolName === "") {
    throw new ChatModelError("provider_invalid_response", "the model calls a tool without a name");
  }
  const call: ToolCall = {
    id: ownId(part.toolCallId, used),
    name: part.toolName,
    arguments: toArguments(part.input),
    ...toSignature(optionsOf(part)),
  };
  return { call, problem: problemOf(part) };
};

/** What the model said, as blocks and calls. `usedIds` are ids that no call may have. */
export const readAnswer = (content: readonly Content[], usedIds: ReadonlySet<string>): Answer => {
  const used = new Set(usedIds);
  const blocks: AssistantBlock[] = [];
  const calls: AskedCall[] = [];
  for (const part of content) {
    if (part.type === "tool-call") calls.push(toAskedCall(part, used));
    else if (part.type === "text" || part.type === "reasoning") {
      const block = fromAssistantPart({ type: part.type, text: part.text, ...optionsOf(part) });
      if (block !== undefined) blocks.push(block);
    } else if (part.type === "file") {
      // A message of the assistant cannot hold it, and to say nothing would lose it unseen.
      blocks.push({ type: "text", text: `[a file of type ${part.file.mediaType}, which was not kept]` });
    }
  }
  return { blocks, calls };
};
