import { ContinuationSchema } from "@harnesskit/protocol/openharness";
import type { ShellSession } from "@harnesskit/shell-client";
import { cardField } from "@harnesskit/shell-client/cards";
import { isObject } from "@harnesskit/wire/json";
import type { Shelf } from "./access.ts";
import { type Entry, mergeEntries } from "./entries.ts";

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

const isString = (value: unknown): boolean => typeof value === "string";
const isTextOrNone = (value: unknown): boolean => value === undefined || isString(value);

const fieldsByKind: Readonly<Record<string, (entry: Readonly<Record<string, unknown>>) => boolean>> = {
  user: ({ text }) => isString(text),
  message: ({ text }) => isString(text),
  note: ({ text }) => isString(text),
  card: ({ component, title, fallback }) =>
    isString(component) && isTextOrNone(title) && isTextOrNone(fallback),
  approval: ({ question, state, pending }) =>
    isString(cardField(question, "message")) &&
    isTextOrNone(cardField(question, "title")) &&
    isString(state) &&
    (pending === undefined || (isObject(pending) && isObject(pending.continuation))),
  error: ({ code, text }) => isString(code) && isString(text),
};

/** Whether something that was kept, perhaps by another version of the page, is an entry. */
const isEntry = (value: unknown): value is Entry => {
  if (!isObject(value) || !isString(value.id) || typeof value.atMs !== "number") return false;
  const kind =
    typeof value.kind === "string" && Object.hasOwn(fieldsByKind, value.kind) ? value.kind : undefined;
  return kind !== undefined && fieldsByKind[kind]?.(value) === true;
};

/** Whether something is where a shell of a session was. */
const isSession = (value: unknown, sessionId: string): value is ShellSession =>
  isObject(value) &&
  value.sessionId === sessionId &&
  value.conversationId === undefined &&
  ContinuationSchema.optional().safeParse(value.continuation).success;

/** Keeps one conversation in a browser, also where several tabs write it. */
export class ConversationStore {
  readonly key: string;
  readonly #shelf: Shelf;
  readonly #sessionId: string;
  readonly #maxEntries: number;
  readonly #maxLength: number;
  /** Entries as JSON: each is written again with every one that comes after it. */
  readonly #texts = new WeakMap<Entry, string>();
  /** What was read or written last; it is only parsed again where another tab has changed it. */
  #last: { readonly text: string; readonly kept: Kept } | undefined;

  constructor({
    shelf,
    engine,
    sessionId,
    maxEntries = 200,
    maxLength = 1_000_000,
  }: ConversationStoreOptions) {
    this.key = `web-shell/conversation/${engine}#${sessionId}`;
    this.#shelf = shelf;
    this.#sessionId = sessionId;
    this.#maxEntries = maxEntries;
    this.#maxLength = maxLength;
  }

  /** What was kept; nothing of what is broken. */
  load(): Kept {
    const text = this.#shelf.getItem(this.key) ?? "{}";
    if (text !== this.#last?.text) this.#last = { text, kept: this.#parse(text) };
    return this.#last.kept;
  }

  #parse(text: string): Kept {
    try {
      const found: unknown = JSON.parse(text);
      const entries = cardField(found, "entries");
      const session = cardField(found, "session");
      return {
        entries: Array.isArray(entries) ? entries.filter(isEntry) : [],
        session: isSession(session, this.#sessionId) ? session : undefined,
      };
    } catch {
      return { entries: [], session: undefined };
    }
  }

  /** Keeps entries beside those that other tabs have kept, and gives them all. What does not fit is not kept. */
  save({ entries, session }: Kept): readonly Entry[] {
    const merged = mergeEntries(entries, this.load().entries).slice(-this.#maxEntries);
    let length = 0;
    const fitting = merged.reduceRight<Entry[]>((kept, entry) => {
      const size = this.#textOf(entry).length;
      if (length + size > this.#maxLength) return kept;
      length += size;
      kept.unshift(entry);
      return kept;
    }, []);
    const state = session === undefined ? "" : `,"session":${JSON.stringify(session)}`;
    const text = `{"entries":[${fitting.map((entry) => this.#textOf(entry)).join(",")}]${state}}`;
    try {
      this.#shelf.setItem(this.key, text);
      this.#last = { text, kept: { entries: fitting, session } };
    } catch {
      // A browser that keeps nothing more still shows the conversation.
    }
    return merged;
  }

  #textOf(entry: Entry): string {
    const known = this.#texts.get(entry);
    if (known !== undefined) return known;
    const text = JSON.stringify(entry);
    this.#texts.set(entry, text);
    return text;
  }

  remove(): void {
    this.#shelf.removeItem(this.key);
  }
}
