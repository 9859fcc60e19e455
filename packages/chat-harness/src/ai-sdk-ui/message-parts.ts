import type { AssistantMessage, ChatMessage, SignalDescriptor } from "@harnesskit/protocol/chat";
import { defined } from "@harnesskit/wire/json";
import type { DynamicToolUIPart } from "ai";
import { approvalRequestsOf } from "../ai-sdk/approval.ts";
import { failureOfText } from "../ai-sdk/failure-text.ts";
import { type HarnessUIMessage, type HarnessUIPart, questionTool } from "./message-types.ts";

/** The output of a call: what its text says as JSON, where that is structured. */
const toOutput = (content: string): unknown => {
  if (!/^\s*[[{]/u.test(content)) return content;
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
};

/** A call with its result in a message of the role `tool`. */
export const endCall = (call: DynamicToolUIPart, content: string): DynamicToolUIPart => {
  const { type, toolCallId, toolName, input, providerExecuted } = call;
  const base = defined({
    type,
    toolCallId,
    toolName,
    input,
    providerExecuted: providerExecuted || undefined,
  });
  const failure = failureOfText(content);
  if (failure === undefined) return { ...base, state: "output-available", output: toOutput(content) };
  if (failure.status !== "rejected") return { ...base, state: "output-error", errorText: failure.message };
  const id = call.approval?.id ?? toolCallId;
  return { ...base, state: "output-denied", approval: { id, approved: false } };
};

/** A call that runs. Its tool belongs to the server. */
export const toCall = (toolCallId: string, toolName: string, input: unknown): DynamicToolUIPart => ({
  type: "dynamic-tool",
  toolCallId,
  toolName,
  input,
  state: "input-available",
  providerExecuted: true,
});

const toParts = ({ content = [], tool_calls: calls }: AssistantMessage): HarnessUIPart[] => {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const said = blocks.flatMap((block): HarnessUIPart[] => {
    if (block.type === "redacted_thinking" || block.text === "") return [];
    return [{ type: block.type === "text" ? "text" : "reasoning", text: block.text, state: "done" }];
  });
  return [
    { type: "step-start" },
    ...said,
    ...(calls ?? []).map(({ id, name, arguments: input }) => toCall(id, name, input)),
  ];
};

/** The parts of messages that follow each other: one step for each message of the assistant, results within their calls. */
export const partsOf = (messages: readonly ChatMessage[]): HarnessUIPart[] => {
  const parts: HarnessUIPart[] = [];
  for (const message of messages) {
    if (message.role === "assistant") parts.push(...toParts(message));
    if (message.role !== "tool") continue;
    const index = parts.findLastIndex(
      (part) => part.type === "dynamic-tool" && part.toolCallId === message.tool_call_id,
    );
    const call = parts[index];
    if (call?.type === "dynamic-tool") parts[index] = endCall(call, message.content);
  }
  return parts;
};

/** A call that has no end. In a turn that waits or has ended it has not started. A question waits for its output. */
export const isOpenCall = (part: HarnessUIPart): boolean =>
  part.type === "dynamic-tool" && part.state === "input-available" && part.toolName !== questionTool;

/**
 * The parts with what they wait for: the approvals of calls, or another pause as a call of its own. The calls behind them are left out
 * until they start or ask.
 */
export const withPause = (parts: readonly HarnessUIPart[], descriptor: SignalDescriptor): HarnessUIPart[] => {
  const requests = approvalRequestsOf(descriptor);
  const before = parts.filter((part) => !isOpenCall(part));
  const { signal_id: signalId, metadata = {} } = descriptor;
  if (requests.length === 0) {
    const { providerExecuted: _, ...question } = toCall(signalId, questionTool, metadata);
    return [...before, { type: "data-question", id: signalId, data: descriptor }, question];
  }
  const questions = requests.flatMap(({ signal_id: id, ...request }): HarnessUIPart[] => {
    const call = toCall(request.call_id, request.tool, request.input);
    const waits = { ...call, state: "approval-requested", approval: { id } } as DynamicToolUIPart;
    return [{ type: "data-approval", id, data: { ...request, signalId: id } }, waits];
  });
  return [...before, ...questions];
};

/** The history of a session as messages: what follows a message of the user is one message of the assistant. */
export const toUiMessages = (history: readonly ChatMessage[]): HarnessUIMessage[] => {
  const messages: HarnessUIMessage[] = [];
  let answer: ChatMessage[] = [];
  const close = (at: number) => {
    const parts = partsOf(answer);
    if (parts.length > 0) messages.push({ id: `answer-${at}`, role: "assistant", parts });
    answer = [];
  };
  for (const [index, message] of history.entries()) {
    if (message.role !== "user") {
      answer.push(message);
      continue;
    }
    close(index);
    const blocks =
      typeof message.content === "string"
        ? [{ type: "text" as const, text: message.content }]
        : message.content;
    const parts = blocks.map((block): HarnessUIPart => {
      if (block.type === "text") return { type: "text", text: block.text };
      const { source, media_type: mediaType = "image/*" } = block;
      const url = source.type === "url" ? source.url : `data:${mediaType};base64,${source.base64_data}`;
      return { type: "file", mediaType, url };
    });
    messages.push({ id: `message-${index}`, role: "user", parts });
  }
  close(history.length);
  return messages;
};
