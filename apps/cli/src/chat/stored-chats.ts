import type { GraphStore } from "@harnesskit/graph";
import type { ChatMessage } from "@harnesskit/protocol/chat";
import { promptTitle } from "../terminal/text.ts";

/** A conversation of `harness chat` or of an engine, as lists show it. */
export interface StoredChat {
  readonly sessionId: string;
  /** The first line of its first message: untrusted text. */
  readonly title: string;
  readonly updatedAtMs: number;
}

/** The messages of a conversation; none of one that does not exist. */
export const storedHistory = async (
  store: GraphStore,
  sessionId: string,
): Promise<readonly ChatMessage[]> => {
  const session = await store.sessions.load(sessionId);
  return session === null ? [] : [...(session.state.messages as unknown as Iterable<ChatMessage>)];
};

/** The first line of the first message; empty where there is none. Untrusted text. */
export const titleOf = (messages: readonly ChatMessage[]): string => {
  const { content = "" } = messages.find(({ role }) => role === "user") ?? {};
  if (typeof content === "string") return promptTitle(content);
  const text = content.find((block) => block.type === "text");
  return text === undefined ? "" : promptTitle(text.text);
};

/** The ids of the conversations of a store, the one used last first. */
export const chatIds = async (store: GraphStore): Promise<string[]> =>
  (await store.sessions.list()).map(({ session_id: sessionId }) => sessionId);

/** The conversations of a store that were used last, the last first. */
export const storedChats = async (store: GraphStore, limit: number): Promise<StoredChat[]> => {
  const sessions = (await store.sessions.list()).slice(0, limit);
  return Promise.all(
    sessions.map(async ({ session_id: sessionId, updated_at: updated }) => ({
      sessionId,
      title: titleOf(await storedHistory(store, sessionId)),
      updatedAtMs: Date.parse(updated),
    })),
  );
};
