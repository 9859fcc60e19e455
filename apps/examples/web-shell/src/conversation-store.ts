import type { ShellSession } from "@harnesskit/shell-client";
import type { Shelf } from "./access.ts";
import { type Entry, mergeEntries } from "./entries.ts";
import { fieldOf, isFields } from "./values.ts";

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
  /** Entries that are kept; the oldest go first. @default 200 */
  readonly maxEntries?: number;
  /** Characters of all entries; those of a browser have an end. @default 1000000 */
  readonly maxLength?: number;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isTextOrNone = (value: unknown): boolean => value === undefined || isText(value);

const fieldsByKind: Readonly<Record<string, (entry: Readonly<Record<string, unknown>>) => boolean>> = {
  user: ({ text }) => isText(text),
  message: ({ text }) => isText(text),
  note: ({ text }) => isText(text),
  card: ({ component, title, fallback }) =>
    isText(component) && isTextOrNone(title) && isTextOrNone(fallback),
  approval: ({ question, state, pending }) =>
    isText(fieldOf(question, "message")) &&
    isTextOrNone(fieldOf(question, "title")) &&
    isText(state) &&
    (pending === undefined || isFields(pending)),
  error: ({ code, text }) => isText(code) && isText(text),
};

/** Whether something that was kept, perhaps by another version of the page, is an entry. */
const isEntry = (value: unknown): value is Entry => {
  if (!isFields(value) || !isText(value.id) || typeof value.atMs !== "number") return false;
  const kind =
    typeof value.kind === "string" && Object.hasOwn(fieldsByKind, value.kind) ? value.kind : undefined;
  return kind !== undefined && fieldsByKind[kind]?.(value) === true;
};

/** Keeps one conversation in a browser, also where several tabs write it. */
export class ConversationStore {
  readonly key: string;
  readonly #shelf: Shelf;
  readonly #maxEntries: number;
  readonly #maxLength: number;

  constructor({
    shelf,
    engine,
    sessionId,
    maxEntries = 200,
    maxLength = 1_000_000,
  }: ConversationStoreOptions) {
    this.key = `web-shell/conversation/${engine}#${sessionId}`;
    this.#shelf = shelf;
    this.#maxEntries = maxEntries;
    this.#maxLength = maxLength;
  }

  /** What was kept; nothing of what is broken. */
  load(): Kept {
    try {
      const found: unknown = JSON.parse(this.#shelf.getItem(this.key) ?? "{}");
      const entries = fieldOf(found, "entries");
      const session = fieldOf(found, "session");
      return {
        entries: Array.isArray(entries) ? entries.filter(isEntry) : [],
        session:
          isFields(session) && isText(session.sessionId) ? (session as unknown as ShellSession) : undefined,
      };
    } catch {
      return { entries: [], session: undefined };
    }
  }

  /** Keeps entries beside those that other tabs have kept, and gives them all. What does not fit is not kept. */
  save({ entries, session }: Kept): readonly Entry[] {
    const merged = mergeEntries(entries, this.load().entries).slice(-this.#maxEntries);
    let length = 0;
    const fitting = merged.reduceRight<string[]>((kept, entry) => {
      const text = JSON.stringify(entry);
      if (length + text.length > this.#maxLength) return kept;
      length += text.length;
      kept.unshift(text);
      return kept;
    }, []);
    const state = session === undefined ? "" : `,"session":${JSON.stringify(session)}`;
    try {
      this.#shelf.setItem(this.key, `{"entries":[${fitting.join(",")}]${state}}`);
    } catch {
      // A browser that keeps nothing more still shows the conversation.
    }
    return merged;
  }

  remove(): void {
    this.#shelf.removeItem(this.key);
  }
}
