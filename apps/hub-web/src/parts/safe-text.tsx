import type { Token } from "@harnesskit/approvals";
import type { ComponentChildren } from "preact";
import { line } from "../format.ts";

/** How the presenter writes an invisible or misleading character out, and a run that is too long. */
const written = /(⟨(?:U\+[0-9A-F]{4,6}|\d+ (?:spaces|more marks))⟩)/;

export const hasWrittenOut = (text: string): boolean => written.test(text);

/** Safe text, with the characters that were written out marked. */
export function SafeText({ text }: { readonly text: string }) {
  if (!hasWrittenOut(text)) return <>{text}</>;
  return (
    <>
      {text.split(written).map(
        (part, index): ComponentChildren =>
          index % 2 === 0 ? (
            part
          ) : (
            <mark key={`${index}`} class="invisible" title="An invisible or misleading character">
              {part}
            </mark>
          ),
      )}
    </>
  );
}

/** Untrusted text as one safe line, with what was written out in it marked. */
export function Line({ text, max }: { readonly text: string; readonly max?: number }) {
  return <SafeText text={line(text, max)} />;
}

interface TextListProps {
  readonly texts: readonly string[];
  readonly className?: string;
}

/** Safe texts, one below the other. */
export function TextList({ texts, className = "lines" }: TextListProps) {
  return (
    <ul class={className}>
      {texts.map((text) => (
        <li key={text}>
          <SafeText text={text} />
        </li>
      ))}
    </ul>
  );
}

/** Coloured pieces of a line. */
export function Tokens({ tokens }: { readonly tokens: readonly Token[] }) {
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
