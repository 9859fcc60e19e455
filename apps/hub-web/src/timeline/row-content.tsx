import { presentApproval } from "@harnesskit/approvals";
import { saidText } from "@harnesskit/hub/client";
import type { RowContent, TimelineDetail } from "@harnesskit/protocol/hub";
import { isObject } from "@harnesskit/wire/json";
import { useMemo } from "preact/hooks";
import { block, line, plainLines } from "../format.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Note } from "../parts/note.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { SubjectView } from "../parts/subject-view.tsx";

function CutNote() {
  return <p class="dim small">The hub kept a part of it: the rest was too large.</p>;
}

interface ContentProps {
  readonly label: string;
  readonly content: RowContent;
}

/** Content in the place where it is read best: a string as lines, everything else as JSON. */
export function Content({ label, content: { value, isCut } }: ContentProps) {
  const [kind, text] =
    typeof value === "string"
      ? (["prompt", value] as const)
      : (["input", JSON.stringify(value, null, 2) ?? ""] as const);
  return (
    <>
      <CodeBlock part={{ kind, label, lines: plainLines(text) }} />
      {isCut && <CutNote />}
    </>
  );
}

/** The text that was said, if there is one. */
export const saidIn = (content: RowContent | undefined): string | undefined =>
  isObject(content?.value) ? saidText(content.value as Parameters<typeof saidText>[0]) : undefined;

/** Why an action failed, as its agent reports it. */
export function ErrorNote({ error }: { readonly error: NonNullable<TimelineDetail["error"]> }) {
  return (
    <Note tone="bad">
      <span class="pre">
        <SafeText text={block(error.message)} />
      </span>
      {error.code !== undefined && <span class="dim"> ({line(error.code, 100)})</span>}
    </Note>
  );
}

/** The input as an approval shows it: a command as a command, a change as a diff. */
export function Input({ detail: { row, input, approval } }: { readonly detail: TimelineDetail }) {
  const parts = useMemo(() => {
    if (approval !== undefined) return presentApproval(approval).parts;
    const given =
      isObject(input?.value) && isObject(input.value.arguments) ? input.value.arguments : input?.value;
    if (row.tool === undefined || !isObject(given)) return undefined;
    return presentApproval({ subject: { tool: row.tool, input: given as never } }).parts;
  }, [approval, input, row]);
  if (parts === undefined) return input === undefined ? null : <Content label="input" content={input} />;
  return (
    <>
      <SubjectView view={{ title: "", parts }} />
      {approval === undefined && input?.isCut && <CutNote />}
    </>
  );
}
