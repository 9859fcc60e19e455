/** A message that a page sent, as `sendMessages` of a `ChatTransport` takes it. Only its frame was checked. */
export interface ChatSend {
  readonly chatId: string;
  readonly trigger: "submit-message" | "regenerate-message";
  readonly messageId: string | undefined;
  /** What the page sent as its messages: untrusted. */
  readonly messages: unknown[];
  /** Always undefined: a page that goes away leaves its answer running, so that it can be resumed. */
  readonly abortSignal: undefined;
  /** What the page sent beside these fields: untrusted. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A `ChatTransport` of the AI SDK on the server, with what else a chat page asks for. Its streams are of UI message chunks. */
export interface ChatSource {
  sendMessages(options: ChatSend): Promise<ReadableStream<unknown>>;
  /** Null where nothing is to be resumed. */
  reconnectToStream(options: { readonly chatId: string }): Promise<ReadableStream<unknown> | null>;
  /** The messages of the chat so far. @default there are none to be read: 404 */
  readMessages?(options: { readonly chatId: string }): Promise<readonly unknown[]>;
  /** Ends the answer that is on its way. @default it cannot be ended: 404 */
  cancel?(options: { readonly chatId: string }): Promise<unknown>;
}

/** What a request is for: to send, to resume, to read the messages, to cancel. */
export type ChatAction = "send" | "resume" | "read" | "cancel";
