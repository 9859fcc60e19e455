import type { PreviewPart } from "../preview.ts";
import { safeText } from "../values.ts";

const signs = { running: "…", done: "✓", failed: "✗" } as const;

/** Half of a pair at an end is not a character yet. */
const wholeText = (text: string): string => safeText(text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, ""));

function Part({ part }: { readonly part: PreviewPart }) {
  if (part.kind === "text") {
    return (
      <p class="bubble engine preview" dir="auto">
        {wholeText(part.text)}
      </p>
    );
  }
  const { text, state, fraction } = part;
  return (
    <p class={`progress ${state} inline dim small`}>
      <span dir="auto">{safeText(text, 300)}</span>
      {state === "running" && fraction !== undefined ? (
        <progress max={1} value={fraction} />
      ) : (
        <span aria-hidden="true">{signs[state]}</span>
      )}
    </p>
  );
}

/** What the engine is about to answer. Hidden from those who hear the page: they hear the answer, whole. */
export function PreviewView({ parts }: { readonly parts: readonly PreviewPart[] }) {
  if (parts.length === 0) return null;
  return (
    <div class="previews" aria-hidden="true">
      {parts.map((part) => (
        <Part key={part.key} part={part} />
      ))}
    </div>
  );
}
