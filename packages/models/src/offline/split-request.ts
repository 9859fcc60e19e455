import { findQuotedSpans } from "./quoted-spans.ts";
import { commandHead, joints, startsInstruction } from "./request-grammar.ts";

/**
 * Splits a request into its parts: at "then", "and", a comma, the end of a sentence, a new line or a list number,
 * and only where a known verb follows. Quoted text is never split. In a command, `;` and `.` do not split.
 * The work is linear: every pattern looks at a bounded stretch of text.
 */
export function splitRequest(text: string): string[] {
  const spans = findQuotedSpans(text);
  const parts: string[] = [];
  // The number of the first of several numbered lines.
  const leading = /^\s{0,40}(?:\d{1,3}[.)]|[-*•])\s{1,8}/.exec(text)?.[0].length ?? 0;
  let from = leading;
  let at = leading;
  let spanIndex = 0;
  while (at < text.length) {
    const span = spans[spanIndex];
    if (span !== undefined && at >= span.start) {
      // A joint may have ended behind the span already.
      at = Math.max(at, span.end);
      spanIndex += 1;
      continue;
    }
    const next = jointEnd(text, at, from, span?.start ?? text.length);
    if (next === undefined) {
      at += 1;
      continue;
    }
    parts.push(text.slice(from, at));
    from = next;
    at = next;
  }
  parts.push(text.slice(from));
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** Where the next instruction begins, if a joint stands at `at` before `limit` and a known verb follows it. */
function jointEnd(text: string, at: number, from: number, limit: number): number | undefined {
  if (!/[\s,;.]/.test(text.charAt(at))) return undefined;
  for (const { pattern, heads, endsCommand } of joints) {
    pattern.lastIndex = at;
    if (!pattern.test(text)) continue;
    const next = pattern.lastIndex;
    if (next > limit || !startsInstruction(text, next, heads)) continue;
    if (endsCommand || !commandHead.test(text.slice(from, from + 120))) return next;
  }
  return undefined;
}
