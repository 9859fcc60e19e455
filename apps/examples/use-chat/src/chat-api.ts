import type { ThreadUIMessage } from "@harnesskit/thread-client/ai-sdk-ui";
import { sendLastMessage } from "@harnesskit/transport-http/ai-sdk-ui";
import { DefaultChatTransport } from "ai";
import type { Access } from "./access.ts";

const api = "/api/chat";

/** What the page asks the server for. */
export interface ChatApi {
  readonly transport: DefaultChatTransport<ThreadUIMessage>;
  /** The messages so far, without the answer that is on its way. Rejects with a `TypeError` while the server is away. */
  loadMessages(signal?: AbortSignal): Promise<ThreadUIMessage[]>;
  /** Ends the answer that is on its way. */
  cancel(): Promise<void>;
}

export const createChatApi = ({ token, chatId }: Access): ChatApi => {
  const headers = { authorization: `Bearer ${token}` };
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`${api}/${encodeURIComponent(chatId)}/${path}`, { ...init, headers });
    if (!response.ok && response.headers.get("x-error-code") !== "turn_not_found")
      throw new RangeError(await response.text());
    return response;
  };
  return {
    transport: new DefaultChatTransport<ThreadUIMessage>({
      api,
      headers,
      prepareSendMessagesRequest: sendLastMessage,
    }),
    loadMessages: async (signal) => (await ask("messages", signal ? { signal } : {})).json(),
    cancel: async () => void (await ask("cancel", { method: "POST" })),
  };
};
