import type { PolicyProblem } from "@harnesskit/protocol/hub";
import { useMemo, useRef } from "preact/hooks";
import { line } from "../format.ts";
import { Button } from "../parts/controls.tsx";
import { Tokens } from "../parts/safe-text.tsx";
import { useHighlight } from "../parts/use-highlight.ts";

interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  /** What is to be said of its lines, and whether they make it unusable. */
  readonly notes: readonly PolicyProblem[];
  readonly isBroken: boolean;
  readonly onChange: (value: string) => void;
}

/** The place of a line in a text. */
const rangeOf = (text: string, at: number): readonly [number, number] => {
  const lines = text.split("\n");
  const start = lines.slice(0, at - 1).reduce((sum, each) => sum + each.length + 1, 0);
  return [start, start + (lines[at - 1]?.length ?? 0)];
};

/** YAML in colour: a field whose own letters are not seen lies over the lines that are. */
export function CodeEditor({ label, value, notes, isBroken, onChange }: CodeEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const lines = useMemo(() => value.split("\n"), [value]);
  const coloured = useHighlight(value, "yaml");
  const tone = isBroken ? "bad" : "warn";
  const noted = new Set(notes.map(({ line: at }) => at));
  const goTo = (at: number) => {
    field.current?.focus();
    field.current?.setSelectionRange(...rangeOf(value, at));
  };
  return (
    <div class="editor">
      <div class="editor-scroll">
        <pre class="editor-lines" aria-hidden="true" dir="ltr">
          {lines.map((text, index) => (
            <span key={`${index}`} class={`editor-line ${noted.has(index + 1) ? tone : ""}`}>
              <Tokens tokens={coloured?.[index] ?? [{ kind: "plain", text }]} />
            </span>
          ))}
        </pre>
        <textarea
          ref={field}
          aria-label={label}
          aria-invalid={isBroken}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </div>
      {notes.length > 0 && (
        <ul class="lines editor-problems" aria-label="Problems of the policy">
          {notes.map(({ message, line: at, column }) => (
            <li key={`${at} ${column} ${message}`} class={tone}>
              {at !== undefined && (
                <Button look="link" onClick={() => goTo(at)}>
                  Line {at}
                </Button>
              )}{" "}
              {line(message, 500)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
