import { useState } from "preact/hooks";
import { Button } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Note } from "../parts/note.tsx";
import { useApp } from "../state/app.ts";
import { useAction } from "../state/use-action.ts";

interface SessionControlProps {
  readonly of: { readonly agent: string; readonly session: string };
  readonly name: string;
  /** Whether its agent can be told anything now; what it has answered stays. */
  readonly isThere: boolean;
}

const done = {
  stop: "It has stopped what it did.",
  message: "It has the prompt, and begins it after what it does now.",
} as const;

/** Stops what a session's agent does now, or gives it a prompt. */
export function SessionControl({ of, name, isThere }: SessionControlProps) {
  const { client } = useApp().link;
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const [said, setSaid] = useState<string>();
  const { isBusy, problem, run } = useAction(async (action: keyof typeof done) => {
    await client.call("agents.control", { ...of, action, text: action === "message" ? text : undefined });
    setSaid(done[action]);
    if (action === "message") setText("");
  });
  const cannot = isBusy || !isThere;
  const actions = (
    <>
      <Button look="primary" disabled={cannot || text.trim() === ""} onClick={() => run("message")}>
        Send
      </Button>
      <Button look="refuse" disabled={cannot} onClick={() => run("stop")}>
        Stop it
      </Button>
    </>
  );
  return (
    <>
      {isThere && (
        <Button look="compact" onClick={() => setOpen(true)}>
          Stop or message …
        </Button>
      )}
      {isOpen && (
        <Dialog title={`Session ${name}`} onClose={() => setOpen(false)} actions={actions}>
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
          {problem !== undefined && <Note tone="bad">{problem}</Note>}
          {problem === undefined && said !== undefined && <Note tone="good">{said}</Note>}
        </Dialog>
      )}
    </>
  );
}
