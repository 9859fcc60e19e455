import { foldEmpty, lineTokens, type Token, type ViewLine, type ViewPart } from "@harnesskit/approvals";
import { useMemo } from "preact/hooks";
import { plural } from "../format.ts";
import { DiffLines } from "./diff-lines.tsx";
import { FilePath } from "./file-path.tsx";
import { SafeText, Tokens } from "./safe-text.tsx";
import { languageOf, useHighlight } from "./use-highlight.ts";

interface PlainLinesProps {
  readonly kind: ViewPart["kind"];
  readonly lines: readonly ViewLine[];
  readonly language: string | undefined;
}

function PlainLines({ kind, lines, language }: PlainLinesProps) {
  const text = useMemo(() => lines.map((line) => line.text).join("\n"), [lines]);
  const coloured = useHighlight(text, language);
  const tokensOf = (line: ViewLine, index: number): readonly Token[] =>
    coloured?.[index] ?? lineTokens(kind, line.text);
  return (
    <>
      {lines.map((line, index) => (
        <span key={`${index}`} class={`code-line ${line.kind === "cut" ? "cut" : ""}`}>
          {line.kind === "cut" ? <SafeText text={line.text} /> : <Tokens tokens={tokensOf(line, index)} />}
        </span>
      ))}
    </>
  );
}

interface CodeBlockProps {
  readonly part: Pick<ViewPart, "kind" | "label" | "lines" | "path">;
  /** Of code outside of an action, as a fence of Markdown names it. */
  readonly language?: string | undefined;
}

const countText = (lines: readonly ViewLine[]): string =>
  plural(lines.filter(({ kind }) => kind !== "cut").length, "line");

const changeText = (lines: readonly ViewLine[]): string => {
  const count = (kind: ViewLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return `+${count("added")} −${count("removed")}`;
};

/** The file of a diff by its own lines, as Git names it. */
const pathIn = (lines: readonly ViewLine[]): string | undefined =>
  lines.flatMap(({ kind, text }) =>
    kind === "file" ? (/^\+\+\+ (?:b\/)?(.+)$/.exec(text)?.[1] ?? []) : [],
  )[0];

/** A part of what an agent wants to do, whole: long lines are wrapped, nothing is scrolled out of sight sideways. */
export function CodeBlock({ part: { kind, label, lines: all, path: given }, language }: CodeBlockProps) {
  const lines = useMemo(() => foldEmpty(all), [all]);
  const path = given ?? (kind === "diff" ? pathIn(all) : undefined);
  return (
    <figure class={`code code-${kind}`}>
      <figcaption class="code-head">
        <span>{label}</span>
        {path !== undefined && <FilePath path={path} />}
        <span class="nowrap">{kind === "diff" ? changeText(all) : countText(all)}</span>
      </figcaption>
      <pre class="code-body" dir="ltr">
        {kind === "diff" ? (
          <DiffLines lines={lines} language={languageOf(path)} />
        ) : (
          <PlainLines kind={kind} lines={lines} language={language} />
        )}
      </pre>
    </figure>
  );
}
