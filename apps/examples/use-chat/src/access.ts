/** What opens the chats of the server, and the chat that the page shows. */
export interface Access {
  readonly token: string;
  readonly chatId: string;
}

const tokenKey = "use-chat.token";

/** The address of the page that shows a chat. */
export const chatLink = (chatId: string): string => `#chat=${chatId}`;

export const newChatId = (): string => `chat-${crypto.randomUUID()}`;

/**
 * Reads the token and the chat out of the fragment, which stays in the browser. The token leaves the address bar, and is kept for the
 * tab. Undefined where there is no token.
 */
export const readAccess = (): Access | undefined => {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get("token") ?? sessionStorage.getItem(tokenKey);
  if (token === null || token === "") return undefined;
  sessionStorage.setItem(tokenKey, token);
  const chatId = fragment.get("chat") ?? newChatId();
  history.replaceState(null, "", chatLink(chatId));
  return { token, chatId };
};
