import type { RefObject } from "preact";
import { useState } from "preact/hooks";

const maxIntentLength = 20_000;
const maxReferencesLength = 20_000;

/** One reference a line. */
const referencesIn = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

export interface ComposerProps {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly isBusy: boolean;
  readonly onSend: (intent: string, attachments: readonly string[]) => void;
  readonly onCancel: () => void;
}

/** Where the user writes. It stays open while the engine works, so that nothing that is typed is lost. */
export function Composer({ field, isBusy, onSend, onCancel }: ComposerProps) {
  const [text, setText] = useState("");
  const [attached, setAttached] = useState<string>();
  const send = () => {
    const intent = text.trim();
    if (intent === "" || isBusy) return;
    setText("");
    setAttached(undefined);
    onSend(intent, referencesIn(attached ?? ""));
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="hidden" for="intent">
        Your message
      </label>
      <textarea
        id="intent"
        class="input"
        ref={field}
        rows={1}
        maxLength={maxIntentLength}
        placeholder="Write a message"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {attached === undefined ? (
        <button type="button" class="button" onClick={() => setAttached("")}>
          Attach
        </button>
      ) : (
        <textarea
          aria-label="Attachments"
          class="input"
          rows={1}
          maxLength={maxReferencesLength}
          placeholder="A path or address that the engine knows, one a line"
          value={attached}
          onInput={(event) => setAttached(event.currentTarget.value)}
        />
      )}
      {isBusy ? (
        <button type="button" class="button" onClick={onCancel}>
          Stop
        </button>
      ) : (
        <button type="submit" class="button primary" disabled={text.trim() === ""}>
          Send
        </button>
      )}
    </form>
  );
}
