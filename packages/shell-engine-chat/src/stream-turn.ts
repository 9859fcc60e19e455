import { describeResult } from "@harnesskit/approvals";
import { failureOfText } from "@harnesskit/chat-harness";
import type { ToolCall } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { ShellCall, ShellStream } from "@harnesskit/shell-engine";
import { callSafely } from "@harnesskit/wire";

/** The key of a turn's metadata under which the stream of its request goes to the graph. */
const streamKey = "dev.harnesskit.shell_stream";

/** What is read of an event of a chat graph; `ChatEvent` of `@harnesskit/chat-harness/ai-sdk` is one. */
export interface ChatStreamEvent {
  readonly type: string;
  readonly delta?: string;
  readonly call?: ToolCall;
  readonly input?: JsonObject;
  readonly content?: string;
  readonly step: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The metadata of a turn whose request has a stream. */
export const streamMetadata = <Context>({ stream }: ShellCall<Context>) =>
  stream.isOpen ? { metadata: { [streamKey]: stream } } : {};

const maxIdLength = 128;

/** A call of a tool is the progress of the card that shows its result. */
const showCall = (stream: ShellStream, { type, call, input, content }: ChatStreamEvent): void => {
  if (!call || call.id.length > maxIdLength) return;
  const called = { tool: call.name, input: input ?? call.arguments };
  const card = { actionType: "render_ui", message: describeResult({ ...called, output: content }) };
  if (type === "tool_started") stream.progress(call.id, card);
  else if (type === "result") {
    const isFailed = failureOfText(content ?? "") !== undefined;
    stream.progress(call.id, { ...card, state: isFailed ? "failed" : "done" });
  }
};

/** How often a model was asked again in a turn: what it says then is not part of the text before. */
const repeated = new WeakMap<ShellStream, number>();

/**
 * Shows a shell what happens in its turn: pass it to the graph, as `createChatGraph({ onEvent: streamTurn, … })`, and offer
 * `openharness.streaming` in the engine's capabilities. Text of the model is streamed, what it thinks is not; calls of tools are
 * progress. Does nothing in turns of requests without a stream.
 */
export const streamTurn = (event: ChatStreamEvent): void => {
  const stream = event.metadata[streamKey] as ShellStream | undefined;
  if (stream === undefined) return;
  if (event.type === "model_failed") repeated.set(stream, (repeated.get(stream) ?? 0) + 1);
  if (event.type === "text") stream.text(event.delta ?? "", `${event.step}.${repeated.get(stream) ?? 0}`);
  else callSafely(() => showCall(stream, event));
};
