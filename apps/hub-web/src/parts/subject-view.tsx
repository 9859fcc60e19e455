import type { ApprovalView } from "@harnesskit/approvals";
import { CodeBlock } from "./code-block.tsx";
import { Button } from "./controls.tsx";
import { Note } from "./note.tsx";
import { hasWrittenOut } from "./safe-text.tsx";

interface SubjectViewProps {
  readonly view: Pick<ApprovalView, "title" | "parts">;
  /** Shows what was cut; absent where all is shown that there is. */
  readonly onShowAll?: (() => void) | undefined;
}

/** The whole action: each part of it, and a warning where a character was written out. */
export function SubjectView({ view: { title, parts }, onShowAll }: SubjectViewProps) {
  const isDeceptive = [title, ...parts.flatMap(({ lines }) => lines.map(({ text }) => text))].some(
    hasWrittenOut,
  );
  return (
    <div class="action-parts">
      {isDeceptive && (
        <Note tone="bad">
          It contains characters that are invisible or misleading. They are written out, such as{" "}
          <mark class="invisible">⟨U+202E⟩</mark>.
        </Note>
      )}
      {parts.map((part, index) => (
        <CodeBlock key={`${index}`} part={part} />
      ))}
      {parts.length === 0 && <p class="dim">It has no input.</p>}
      {onShowAll !== undefined && (
        <Button look="compact" onClick={onShowAll}>
          Show everything
        </Button>
      )}
    </div>
  );
}
