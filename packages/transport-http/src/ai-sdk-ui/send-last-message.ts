/** The answer to an approval, or the output of a tool of the page. */
const isAnswer = (part: object): boolean => {
  const { state, providerExecuted } = part as {
    readonly state?: unknown;
    readonly providerExecuted?: unknown;
  };
  return state === "approval-responded" || (state === "output-available" && providerExecuted !== true);
};

/**
 * The `prepareSendMessagesRequest` of `DefaultChatTransport`, so that a request stays small however long the chat is: it sends the
 * message that counts alone, and of an assistant's message only what the user answered. The server has the rest.
 */
export const sendLastMessage = <
  Message extends {
    readonly id: string;
    readonly role: string;
    readonly parts: readonly { readonly type: string }[];
  },
>({
  id,
  messages,
  trigger,
  messageId,
  body,
}: {
  readonly id: string;
  readonly messages: readonly Message[];
  readonly trigger: string;
  readonly messageId: string | undefined;
  readonly body?: object | undefined;
}): { body: object } => {
  const answered = messages.find((message) => message.role === "assistant" && message.id === messageId);
  const sent = (answered ? [answered] : messages.slice(-1)).map((message) =>
    message.role === "assistant" ? { ...message, parts: message.parts.filter(isAnswer) } : message,
  );
  return { body: { ...body, id, messages: sent, trigger, messageId } };
};
