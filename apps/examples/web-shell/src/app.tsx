import { useStore } from "@harnesskit/hub-web/store";
import { useCallback, useLayoutEffect, useRef } from "preact/hooks";
import type { ChatSession } from "./chat-session.ts";
import { Composer } from "./components/composer.tsx";
import { EntryView } from "./components/entry-view.tsx";
import { PreviewView } from "./components/preview-view.tsx";

export interface AppProps {
  readonly chat: ChatSession;
  readonly engineHost: string;
  readonly onNew: () => void;
}

/** As near to the end as counts as being there, in pixels. */
const nearEnd = 160;

/** Keeps the end in sight while what is shown grows, unless the reader has gone up; what the reader says counts as coming back. */
const useFollowEnd = (said: number): void => {
  const before = useRef({ height: 0, said });
  useLayoutEffect(() => {
    const { scrollHeight } = document.documentElement;
    const wasAtEnd = window.scrollY + window.innerHeight > before.current.height - nearEnd;
    if (wasAtEnd || said > before.current.said) window.scrollTo({ top: scrollHeight });
    before.current = { height: scrollHeight, said };
  });
};

export function App({ chat, engineHost, onNew }: AppProps) {
  const { entries, busy, preview } = useStore(chat.state);
  const asks = entries.some((entry) => entry.kind === "approval" && entry.state === "open");
  const field = useRef<HTMLTextAreaElement>(null);
  useFollowEnd(entries.filter(({ kind }) => kind === "user").length);
  const takesFocus = useCallback(() => (field.current?.value ?? "") === "", []);
  const focusField = () => field.current?.focus();
  // Not awaited: the results are in the state.
  const actions = {
    takesFocus,
    onAgain: (id: string) => {
      focusField();
      void chat.again(id);
    },
    onSubmit: (id: string, sending: Parameters<ChatSession["submit"]>[1]) => {
      focusField();
      void chat.submit(id, sending);
    },
    onAnswer: (id: string, decision: "approved" | "refused", reason: string | undefined) => {
      focusField();
      void chat.answer(id, { decision, reason });
    },
  };
  return (
    <>
      <header class="top">
        <h1>Web shell</h1>
        <span class="engine-name clip dim small" title="The engine">
          {engineHost}
        </span>
        <button type="button" class="button compact" disabled={busy !== undefined} onClick={onNew}>
          New conversation
        </button>
      </header>
      <main>
        <div class="log" role="log" aria-live="polite" aria-label="Conversation">
          {entries.length === 0 && (
            <div class="empty">
              <p>Nothing was said here yet. Say what you want, for example “help”.</p>
              <button
                type="button"
                class="button compact"
                disabled={busy !== undefined}
                onClick={() => void chat.catchUp()}
              >
                Check for pending approvals
              </button>
            </div>
          )}
          {entries.map((entry) => (
            <EntryView key={entry.id} entry={entry} busy={busy} {...actions} />
          ))}
          <PreviewView parts={preview} />
        </div>
        <p class="status dim small" role="status">
          {busy !== undefined && (
            <>
              <span class="dots" aria-hidden="true" />
              Waiting for the engine …
            </>
          )}
          {busy === undefined && asks && "Waiting for you: answer the question above."}
        </p>
      </main>
      <footer>
        <Composer
          field={field}
          isBusy={busy !== undefined}
          onSend={(intent, attachments) => void chat.send({ intent, attachments })}
          onCancel={() => chat.cancel()}
        />
      </footer>
    </>
  );
}

const problems = {
  no_link: "This page talks with an engine that a link names.",
  invalid_link:
    "This link names no engine that can be used: it needs https, this machine, or the place of this page.",
  used_link: "This link was used before, or is too old. A new one: harness engine --open",
};

/** What is shown where the page knows no engine. */
export function NoEngine({ problem }: { readonly problem: keyof typeof problems }) {
  return (
    <main class="alone">
      <h1>Web shell</h1>
      <p>{problems[problem]}</p>
      <p>
        Open <code>#engine=URL&amp;token=TOKEN</code> behind the address of this page. The server that serves
        the page prints such a link when it starts.
      </p>
    </main>
  );
}
