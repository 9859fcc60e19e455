import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../state/use-action.ts";
import { Button } from "./controls.tsx";
import { Dialog } from "./dialog.tsx";
import { Note } from "./note.tsx";

/** Something that was allowed once, as a list shows it. */
export interface Allowed {
  readonly id: string;
  readonly title: ComponentChildren;
  /** When it ends, or ended. */
  readonly when: ComponentChildren;
  readonly isOver: boolean;
  readonly text: ComponentChildren;
  readonly foot: ComponentChildren;
}

interface AllowedCardProps {
  readonly item: Allowed;
  readonly onRevoke?: () => void;
}

export function AllowedCard({ item: { title, when, isOver, text, foot }, onRevoke }: AllowedCardProps) {
  return (
    <li class={`panel ${isOver ? "over" : ""}`}>
      <header class="inline">
        {title}
        <span class="dim small">{when}</span>
        {onRevoke !== undefined && !isOver && (
          <Button look="refuse compact at-end" onClick={onRevoke}>
            Revoke …
          </Button>
        )}
      </header>
      {text}
      <p class="dim small">{foot}</p>
    </li>
  );
}

interface AllowedListProps {
  readonly label: string;
  readonly items: readonly Allowed[];
  /** What one of them is called: "grant". */
  readonly what: string;
  /** What follows when it is revoked, in a sentence. */
  readonly consequence: string;
  readonly revoke: (id: string) => Promise<unknown>;
  /** Reads the list again. */
  readonly reload: () => void;
}

/** What was allowed once; each can be revoked, after a question. */
export function AllowedList({ label, items, what, consequence, revoke, reload }: AllowedListProps) {
  const [asked, setAsked] = useState<Allowed>();
  const { problem, run } = useAction((id: string) => revoke(id).finally(reload));
  const close = () => setAsked(undefined);
  const confirm = (id: string) => {
    close();
    run(id);
  };
  return (
    <>
      {problem !== undefined && (
        <Note tone="bad">
          The {what} was not revoked: {problem}
        </Note>
      )}
      <ul class="lines wide-gap" aria-label={label}>
        {items.map((item) => (
          <AllowedCard key={item.id} item={item} onRevoke={() => setAsked(item)} />
        ))}
      </ul>
      {asked !== undefined && (
        <Dialog
          title={`Revoke this ${what}?`}
          onClose={close}
          close="Cancel"
          actions={
            <Button look="refuse" onClick={() => confirm(asked.id)}>
              Revoke
            </Button>
          }
        >
          <p>{asked.title}</p>
          {asked.text}
          <p class="dim">{consequence}</p>
        </Dialog>
      )}
    </>
  );
}
