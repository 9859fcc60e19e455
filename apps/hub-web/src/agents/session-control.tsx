import { useState } from "preact/hooks";
import { line } from "../format.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Note } from "../parts/note.tsx";
import { failureText } from "../state/failures.ts";
import type { HubLink } from "../state/hub-link.ts";

interface SessionControlProps {
  readonly link: HubLink;
  readonly agent: string;
  readonly session: string;
  /** Whether its agent can be told anything now; what it has answered stays. */
  readonly isThere: boolean;
}

const done = {
  stop: "It has stopped what it did.",
  message: "It has the prompt, and begins it after what it does now.",
} as const;

/** Stops what a session's agent does now, or gives it a prompt. */
export function SessionControl({ link, agent, session, isThere }: SessionControlProps) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ readonly tone: "good" | "bad"; readonly text: string }>();
  const tell = async (action: keyof typeof done) => {
    setBusy(true);
    try {
      await link.client.call("agents.control", {
        agent,
        session,
        action,
        ...(action === "message" && { text }),
      });
      setSaid({ tone: "good", text: done[action] });
      if (action === "message") setText("");
    } catch (error) {
      setSaid({ tone: "bad", text: failureText(error) });
    }
    setBusy(false);
  };
  const footer = (
    <>
      <button
        type="button"
        class="button primary"
        disabled={isBusy || !isThere || text.trim() === ""}
        onClick={() => void tell("message")}
      >
        Send
      </button>
      <button
        type="button"
        class="button refuse"
        disabled={isBusy || !isThere}
        onClick={() => void tell("stop")}
      >
        Stop it
      </button>
    </>
  );
  return (
    <>
      {isThere && (
        <button type="button" class="button compact" onClick={() => setOpen(true)}>
          Stop or message …
        </button>
      )}
      {isOpen && (
        <Dialog title={`Session ${line(session, 60)}`} onClose={() => setOpen(false)} footer={footer}>
          <label class="field">
            <span>A prompt for it</span>
            <textarea
              class="input"
              rows={4}
              maxLength={4000}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </label>
          {said !== undefined && <Note tone={said.tone}>{said.text}</Note>}
        </Dialog>
      )}
    </>
  );
}
