import type { ShellSession } from "@harnesskit/shell-client";
import type { Shelf } from "./access.ts";
import type { Entry } from "./entries.ts";

/** What is kept of a conversation, so that a reload goes on with it. */
export interface Kept {
  readonly entries: readonly Entry[];
  /** Where the shell was; undefined before the first answer. */
  readonly session: ShellSession | undefined;
}

export interface ConversationStoreOptions {
  readonly shelf: Shelf;
  readonly engine: string;
  readonly sessionId: string;
}

const maxEntries = 200;

/** Keeps one conversation in a browser. */
export class ConversationStore {
  readonly key: string;
  readonly #shelf: Shelf;

  constructor({ shelf, engine, sessionId }: ConversationStoreOptions) {
    this.key = `web-shell/conversation/${engine}#${sessionId}`;
    this.#shelf = shelf;
  }

  /** What was kept, also by another tab; nothing of what is broken. */
  load(): Kept {
    try {
      const { entries, session } = JSON.parse(this.#shelf.getItem(this.key) ?? "") as Kept;
      return { entries: Array.isArray(entries) ? entries : [], session };
    } catch {
      return { entries: [], session: undefined };
    }
  }

  save({ entries, session }: Kept): void {
    try {
      this.#shelf.setItem(this.key, JSON.stringify({ entries: entries.slice(-maxEntries), session }));
    } catch {
      // A browser that keeps nothing more still shows the conversation.
    }
  }

  remove(): void {
    this.#shelf.removeItem(this.key);
  }
}
