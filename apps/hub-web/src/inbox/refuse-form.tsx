import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../parts/controls.tsx";

const maxReasonLength = 4000;

interface RefuseFormProps {
  readonly isBusy: boolean;
  /** How many are refused, where it is several. */
  readonly count?: number;
  readonly onRefuse: (reason: string) => void;
  readonly onCancel: () => void;
}

/** Refuses, with a reason that the agent gets. */
export function RefuseForm({ isBusy, count = 1, onRefuse, onCancel }: RefuseFormProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [reason, setReason] = useState("");
  // At once: the next key belongs to the form.
  useLayoutEffect(() => field.current?.focus(), []);
  const refuse = () => {
    if (!isBusy) onRefuse(reason.trim());
  };
  return (
    <form
      class="lines wide-gap"
      aria-label="Refuse"
      onSubmit={(event) => {
        event.preventDefault();
        refuse();
      }}
    >
      <label class="field">
        <span>Reason (the agent gets it; optional)</span>
        <textarea
          ref={field}
          class="input"
          maxLength={maxReasonLength}
          value={reason}
          placeholder="What should it do instead?"
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
              event.preventDefault();
              refuse();
            } else if (event.key === "Escape") {
              event.preventDefault();
              onCancel();
            }
          }}
        />
      </label>
      <div class="inline">
        <Button type="submit" look="refuse" icon="cross" disabled={isBusy}>
          {count === 1 ? "Refuse" : `Refuse ${count}`} <kbd>Enter</kbd>
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
