import type { Token, ViewLine } from "@harnesskit/approvals";
import { useMemo, useRef } from "preact/hooks";
import { type NumberedLine, numberLines, pairLines } from "./diff-numbers.ts";
import { SafeText, Tokens } from "./safe-text.tsx";
import { useHighlight } from "./use-highlight.ts";
import { useWidth } from "./use-width.ts";

/** From this width on, both sides stand beside each other. */
const widePx = 720;

/** Whether the first character is the sign of a diff, which has a column of its own. */
const isSigned = ({ line: { kind }, before }: NumberedLine): boolean =>
  kind === "added" || kind === "removed" || (kind === "plain" && before !== undefined);

const textOf = (numbered: NumberedLine): string =>
  isSigned(numbered) ? numbered.line.text.slice(1) : numbered.line.text;

const signs: Readonly<Partial<Record<ViewLine["kind"], string>>> = { added: "+", removed: "−" };

/** The kinds of line that have a side. */
const sided: ReadonlySet<ViewLine["kind"]> = new Set(["added", "removed", "plain"]);

type Colours = ReadonlyMap<NumberedLine, readonly Token[]>;

/** The colours of each line: a file is read as it was and as it will be, since a string may span lines. */
const useColours = (numbered: readonly NumberedLine[], language: string | undefined): Colours => {
  const sideWithout = (kind: ViewLine["kind"]) =>
    numbered.filter(({ line }) => sided.has(line.kind) && line.kind !== kind);
  const before = useMemo(() => sideWithout("added"), [numbered]);
  const after = useMemo(() => sideWithout("removed"), [numbered]);
  const join = (side: readonly NumberedLine[]) => side.map(textOf).join("\n");
  const colouredBefore = useHighlight(join(before), language);
  const colouredAfter = useHighlight(join(after), language);
  return useMemo(() => {
    const of = (side: readonly NumberedLine[], lines: typeof colouredBefore) =>
      side.map((each, index) => [each, lines?.[index] ?? [{ kind: "plain", text: textOf(each) }]] as const);
    return new Map([...of(before, colouredBefore), ...of(after, colouredAfter)]);
  }, [before, after, colouredBefore, colouredAfter]);
};

interface CellProps {
  readonly className: string;
  readonly numbered: NumberedLine | undefined;
  readonly numbers: readonly ("before" | "after")[];
  readonly colours: Colours;
}

/** A line with its numbers, its sign and its colours; empty where the other side has a line more. */
function Cell({ className, numbered, numbers, colours }: CellProps) {
  const tokens = numbered && colours.get(numbered);
  return (
    <span class={`${className} ${numbered?.line.kind ?? "absent"}`}>
      {numbers.map((number) => (
        <span key={number} class="number">
          {numbered?.[number]}
        </span>
      ))}
      <span class="sign">{numbered && signs[numbered.line.kind]}</span>
      {numbered !== undefined && (
        <span class="diff-text">
          {tokens === undefined ? <SafeText text={textOf(numbered)} /> : <Tokens tokens={tokens} />}
        </span>
      )}
    </span>
  );
}

interface DiffLinesProps {
  readonly lines: readonly ViewLine[];
  readonly language: string | undefined;
}

/** The lines of a diff with their numbers and colours, and both sides beside each other where there is room. */
export function DiffLines({ lines, language }: DiffLinesProps) {
  const space = useRef<HTMLSpanElement>(null);
  const isWide = (useWidth(space) ?? 0) >= widePx;
  const numbered = useMemo(() => numberLines(lines), [lines]);
  const pairs = useMemo(() => pairLines(numbered, isWide), [numbered, isWide]);
  const colours = useColours(numbered, language);
  return (
    <span ref={space} class="diff-lines">
      {pairs.map(([left, right], index) => {
        const one = (left ?? right) as NumberedLine;
        const { kind, text } = one.line;
        const key = `${index}`;
        if (kind === "cut")
          return (
            <span key={key} class="code-line cut">
              {text}
            </span>
          );
        if (!isWide || !sided.has(kind))
          return (
            <Cell
              key={key}
              className="code-line"
              numbered={one}
              numbers={["before", "after"]}
              colours={colours}
            />
          );
        return (
          <span key={key} class="diff-pair">
            <Cell className="diff-side" numbered={left} numbers={["before"]} colours={colours} />
            <Cell className="diff-side" numbered={right} numbers={["after"]} colours={colours} />
          </span>
        );
      })}
    </span>
  );
}
