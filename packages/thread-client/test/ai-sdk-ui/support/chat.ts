import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  type ChatTransport,
  uiMessageChunkSchema,
} from "ai";
import { expect } from "vitest";
import type { ThreadUIMessage } from "../../../src/ai-sdk-ui/index.ts";
import type { ThreadUIMessageChunk } from "../../../src/ai-sdk-ui/message-types.ts";

class State implements ChatState<ThreadUIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined = undefined;
  messages: ThreadUIMessage[];

  constructor(messages: ThreadUIMessage[]) {
    this.messages = messages;
  }

  pushMessage = (message: ThreadUIMessage) => {
    this.messages = [...this.messages, message];
  };
  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: ThreadUIMessage) => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <T>(value: T): T => structuredClone(value);
}

/** The chat below `useChat`, as the AI SDK has it, without React. */
export class Chat extends AbstractChat<ThreadUIMessage> {
  constructor({ messages = [], ...init }: ChatInit<ThreadUIMessage>) {
    super({ ...init, state: new State(messages) });
  }
}

type Transport = ChatTransport<ThreadUIMessage>;

/** Checks each chunk of a transport with the AI SDK's own schema, and keeps it. */
export const watched = (transport: Transport): { transport: Transport; chunks: ThreadUIMessageChunk[] } => {
  const chunks: ThreadUIMessageChunk[] = [];
  const watch = (stream: ReadableStream<ThreadUIMessageChunk>) =>
    stream.pipeThrough(
      new TransformStream<ThreadUIMessageChunk, ThreadUIMessageChunk>({
        async transform(chunk, controller) {
          await expectValid(chunk);
          chunks.push(chunk);
          controller.enqueue(structuredClone(chunk));
        },
      }),
    );
  return {
    chunks,
    transport: {
      resumeStreamIsReplay: transport.resumeStreamIsReplay ?? true,
      sendMessages: async (options) =>
        watch((await transport.sendMessages(options)) as ReadableStream<ThreadUIMessageChunk>),
      reconnectToStream: async (options) => {
        const stream = await transport.reconnectToStream(options);
        return stream && watch(stream as ReadableStream<ThreadUIMessageChunk>);
      },
    },
  };
};

const expectValid = async (chunk: ThreadUIMessageChunk): Promise<void> => {
  const result = await uiMessageChunkSchema().validate?.(chunk);
  expect(result, JSON.stringify(chunk)).toMatchObject({ success: true });
};

/** All chunks of a stream. */
export const readAll = async (
  stream: ReadableStream<ThreadUIMessageChunk> | null,
): Promise<ThreadUIMessageChunk[]> => {
  const chunks: ThreadUIMessageChunk[] = [];
  if (stream)
    for await (const chunk of stream as unknown as AsyncIterable<ThreadUIMessageChunk>) chunks.push(chunk);
  return chunks;
};

/** The texts of a message, put together. */
export const textOf = (message: ThreadUIMessage | undefined): string =>
  (message?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");

/** The calls of a message. */
export const callsOf = (message: ThreadUIMessage | undefined) =>
  (message?.parts ?? []).filter((part) => part.type === "dynamic-tool");

/** The data parts of a message with this name. */
export const dataOf = (message: ThreadUIMessage | undefined, name: string): unknown[] =>
  (message?.parts ?? []).flatMap((part) =>
    part.type === `data-${name}` && "data" in part ? [part.data] : [],
  );

export const userMessage = (id: string, text: string): ThreadUIMessage => ({
  id,
  role: "user",
  parts: [{ type: "text", text }],
});
