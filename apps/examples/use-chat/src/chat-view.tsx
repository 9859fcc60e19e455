/** @jsxImportSource react */
import { useChat } from "@ai-sdk/react";
import type { ThreadUIMessage } from "@harnesskit/thread-client/ai-sdk-ui";
import { lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { type FormEvent, useState } from "react";
import type { ChatApi } from "./chat-api.ts";
import { MessagePart } from "./message-part.tsx";
import { useFollowEnd } from "./use-follow-end.ts";
import { isAway, useResync } from "./use-resync.ts";

/** How an answer ended that did not end well. */
const Ending = ({ message }: { readonly message: ThreadUIMessage }) => {
  const { status, error } = message.metadata ?? {};
  if (status === "cancelled") return <p className="ending">Stopped.</p>;
  return status === "error" ? <p className="ending failure">{error}</p> : null;
};

/** A call by its id; the other parts of a message stay in their places. */
const partKey = (part: ThreadUIMessage["parts"][number], place: number): string =>
  part.type === "dynamic-tool" ? part.toolCallId : `${part.type}.${place}`;

export interface ChatViewProps {
  readonly chatId: string;
  readonly api: ChatApi;
  readonly messages: ThreadUIMessage[];
}

export const ChatView = ({ chatId, api, messages }: ChatViewProps) => {
  const [draft, setDraft] = useState("");
  const chat = useChat<ThreadUIMessage>({
    id: chatId,
    messages,
    transport: api.transport,
    // The answer to an approval is sent as soon as it is given.
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  useFollowEnd();
  const resync = useResync(chat, api, setDraft);
  const isBusy = chat.status === "submitted" || chat.status === "streaming";
  const isWaiting = chat.messages
    .at(-1)
    ?.parts.some((part) => part.type === "dynamic-tool" && part.state === "approval-requested");
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (draft.trim() === "" || isBusy || isWaiting) return;
    setDraft("");
    void chat.sendMessage({ text: draft });
  };
  const stop = async () => {
    await api.cancel();
    // The stream of an answer that waits for you has ended: what became of it is read.
    if (!isBusy) await resync();
  };
  return (
    <>
      <div role="log" aria-label="Messages" aria-live="polite">
        {chat.messages.map((message) => (
          <article key={message.id} className={message.role}>
            {message.parts.map((part, index) => (
              <MessagePart
                key={partKey(part, index)}
                part={part}
                onAnswer={(id, approved) => void chat.addToolApprovalResponse({ id, approved })}
              />
            ))}
            {message.role === "assistant" && <Ending message={message} />}
          </article>
        ))}
      </div>
      {isAway(chat.error) ? (
        <p role="status" className="away">
          The server is away. The page goes on when it is back.
        </p>
      ) : (
        chat.error &&
        !chat.messages.at(-1)?.metadata?.error && (
          <p role="alert" className="failure">
            {chat.error.message}
          </p>
        )
      )}
      <form onSubmit={send}>
        <input
          aria-label="Your message"
          placeholder="write milk.txt: two litres"
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
        />
        {isBusy || isWaiting ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
    </>
  );
};
