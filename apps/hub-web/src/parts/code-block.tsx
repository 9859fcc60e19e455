import { foldEmpty, lineTokens, type Token, type ViewLine, type ViewPart } from "@harnesskit/approvals";
import { useMemo } from "preact/hooks";
import { numberLines } from "./diff-numbers.ts";
import { SafeText } from "./safe-text.tsx";

function Tokens({ tokens }: { readonly tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map(({ kind, text }, index) =>
        kind === "plain" ? (
          <SafeText key={`${index}`} text={text} />
        ) : (
          <span key={`${index}`} class={`tok-${kind}`}>
            <SafeText text={text} />
          </span>
        ),
      )}
    </>
  );
}

function PlainLines({
  kind,
  lines,
}: {
  readonly kind: ViewPart["kind"];
  readonly lines: readonly ViewLine[];
}) {
  return (
    <>
      {lines.map((line, index) => (
        <span key={`${index}`} class={`code-line ${line.kind === "cut" ? "cut" : ""}`}>
          {line.kind === "cut" ? (
            <SafeText text={line.text} />
          ) : (
            <Tokens tokens={lineTokens(kind, line.text)} />
          )}
        </span>
      ))}
    </>
  );
}

/** Whether the first character is the sign of a diff, which has a column of its own. */
const isSigned = ({ kind }: ViewLine, before: number | undefined): boolean =>
  kind === "added" || kind === "removed" || (kind === "plain" && before !== undefined);

const signs = { added: "+", removed: "−" } as const;

function DiffLines({ lines }: { readonly lines: readonly ViewLine[] }) {
  const numbered = useMemo(() => numberLines(lines), [lines]);
  return (
    <>
      {numbered.map(({ line, before, after }, index) =>
        line.kind === "cut" ? (
          <span key={`${index}`} class="code-line cut">
            {line.text}
          </span>
        ) : (
          <span key={`${index}`} class={`code-line ${line.kind}`}>
            <span class="number">{before}</span>
            <span class="number">{after}</span>
            <span class="sign">
              {line.kind === "added" || line.kind === "removed" ? signs[line.kind] : ""}
            </span>
            <span>
              <SafeText text={isSigned(line, before) ? line.text.slice(1) : line.text} />
            </span>
          </span>
        ),
      )}
    </>
  );
}

interface CodeBlockProps {
  readonly part: Pick<ViewPart, "kind" | "label" | "lines">;
}

const countText = (lines: readonly ViewLine[]): string => {
  const count = lines.filter(({ kind }) => kind !== "cut").length;
  return count === 1 ? "1 line" : `${count} lines`;
};

const changeText = (lines: readonly ViewLine[]): string => {
  const count = (kind: ViewLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return `+${count("added")} −${count("removed")}`;
};

/** A part of what an agent wants to do, whole: long lines are wrapped, nothing is scrolled out of sight sideways. */
export function CodeBlock({ part: { kind, label, lines: all } }: CodeBlockProps) {
  const lines = useMemo(() => foldEmpty(all), [all]);
  return (
    <figure class={`code code-${kind}`}>
      <figcaption class="code-head">
        <span>{label}</span>
        <span>{kind === "diff" ? changeText(all) : countText(all)}</span>
      </figcaption>
      <pre class="code-body" dir="ltr">
        {kind === "diff" ? <DiffLines lines={lines} /> : <PlainLines kind={kind} lines={lines} />}
      </pre>
    </figure>
  );
}
