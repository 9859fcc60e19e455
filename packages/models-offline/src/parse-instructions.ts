import { ClauseCursor } from "./clause-cursor.ts";
import { maxInstructions, maxRequestChars } from "./limits.ts";
import { findQuotedSpans } from "./quoted-spans.ts";
import { commandHead, type Instruction, phrasePattern, verbs } from "./verbs.ts";

/** What a request asks for, in order. */
export interface ParsedRequest {
  readonly instructions: readonly Instruction[];
  /** How many parts beyond `maxInstructions` were left out. */
  readonly leftOut: number;
  /** The request is longer than `maxRequestChars`, and nothing of it was parsed. */
  readonly tooLong: boolean;
}

/** Words in front of an instruction that carry no meaning of their own. */
const politeWords =
  "(?:please|kindly|now|first|firstly|then|next|finally|also|and|ok|okay|hello|hi|hey|can you|could you|would you|will you|i want you to|i would like you to|let's)";
const polite = `(?:${politeWords}[\\s,]{1,4}){0,4}`;
const number = String.raw`(?:\d{1,3}[.)]|[-*•])\s{1,8}`;

/** Ways to join two instructions: which word, how much of an instruction must follow, and whether it ends a shell command. */
const joints = (
  [
    [String.raw`\s{0,8}[,;.]?\s{0,8}(?<=[\s,;.])(?:and\s{1,4})?then[,:]?\s{1,8}`, "head", true],
    [String.raw`[,;.]?\s{0,8}\r?\n\s{0,40}(?:${number})?`, "head", true],
    [String.raw`[,;.]?\s{1,8}${number}`, "head", true],
    [String.raw`[,;.]?\s{1,8}(?:and|also|finally|afterwards|next)[,:]?\s{1,8}`, "whole", true],
    [String.raw`\s{0,4},\s{1,8}`, "whole", true],
    [String.raw`\s{0,4}[;.]\s{1,8}`, "whole", false],
    // These belong to the part before, which may be the content of a file.
    [String.raw`(?<=[!?])\s{1,8}`, "whole", false],
  ] as const
).map(([source, needs, endsCommand]) => ({ pattern: new RegExp(source, "iy"), needs, endsCommand }));

const politeStart = phrasePattern(polite);
const looseStart = phrasePattern("(?:read|write|edit) \\S");
const commandStart = phrasePattern(`\\W{0,8}${polite}${commandHead}`);
const preamble = phrasePattern(`(?:\\s*(?:${politeWords}\\b[\\s,:!]*|\\d{1,3}[.)]\\s+|[-*•]\\s+)){0,8}`);

const matchEnd = (pattern: RegExp, text: string, at: number): number | undefined => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
};

/**
 * Parses a request in plain English into instructions, in order. Never throws. What is not understood becomes an
 * instruction of kind `unknown` with its own words; at most `maxInstructions` are returned, the others are counted.
 * A request that is longer than `maxRequestChars` is not parsed at all, because half a request is another request.
 */
export function parseInstructions(text: string): ParsedRequest {
  if (text.length > maxRequestChars) return { instructions: [], leftOut: 0, tooLong: true };
  const all = splitRequest(text).flatMap(parseClause);
  return {
    instructions: all.slice(0, maxInstructions),
    leftOut: Math.max(0, all.length - maxInstructions),
    tooLong: false,
  };
}

/**
 * Splits a request into its parts: at "then", "and", a comma, the end of a sentence, a new line or a list number,
 * and only where a known verb follows. Quoted text is never split. In a command, `;` and `.` do not split.
 * The work is linear: every pattern looks at a bounded stretch of text.
 */
function splitRequest(text: string): string[] {
  const spans = findQuotedSpans(text).values();
  let span = spans.next().value;
  const parts: string[] = [];
  // The number of the first of several numbered lines.
  let from = matchEnd(new RegExp(`\\s{0,40}${number}`, "y"), text, 0) ?? 0;
  let at = from;
  while (at < text.length) {
    // A joint may have ended behind a span already.
    for (; span !== undefined && at >= span.start; span = spans.next().value) at = Math.max(at, span.end);
    const next = jointEnd(text, at, from, span?.start ?? text.length);
    if (next !== undefined) {
      parts.push(text.slice(from, at));
      from = next;
    }
    at = next ?? at + 1;
  }
  parts.push(text.slice(from));
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** Where the next instruction begins, if a joint stands at `at` before `limit` and a known verb follows it. */
function jointEnd(text: string, at: number, from: number, limit: number): number | undefined {
  if (!/[\s,;.]/.test(text.charAt(at))) return undefined;
  for (const { pattern, needs, endsCommand } of joints) {
    const next = matchEnd(pattern, text, at);
    if (next === undefined || next > limit) continue;
    const start = matchEnd(politeStart, text, next) ?? next;
    const isInstruction =
      verbs.some(({ head, follows }) => {
        const end = matchEnd(head, text, start);
        return end !== undefined && (follows === undefined || matchEnd(follows, text, end) !== undefined);
      }) ||
      (needs === "head" && matchEnd(looseStart, text, start) !== undefined);
    if (
      isInstruction &&
      (endsCommand || matchEnd(commandStart, text.slice(from, from + 120), 0) === undefined)
    )
      return next;
  }
  return undefined;
}

/** A part of polite words alone has no instruction; what follows a whole instruction becomes a part of its own, not understood. */
function parseClause(clause: string): Instruction[] {
  const text = clause.slice(matchEnd(preamble, clause, 0) ?? 0);
  if (text === "") return [];
  for (const { head, read } of verbs) {
    const cursor = new ClauseCursor(text);
    const instructions = cursor.skip(head) ? read(cursor) : undefined;
    const all = instructions && withTail(instructions, cursor.rest);
    if (all !== undefined) return all;
  }
  return [{ kind: "unknown", text: clause }];
}

/** Joins an instruction with what follows it: nothing, something after a joint, or words that change its meaning. */
function withTail(instructions: Instruction[], tail: string): Instruction[] | undefined {
  const left = tail.replace(/^[\s.!?]+/, "");
  if (left === "" || /^[,;]?\s*(?:and\s+)?(?:please|thanks|thank you)[\s.!]*$/i.test(left))
    return instructions;
  const next = left.replace(/^(?:[,;]\s*)?(?:(?:and|then)\b\s*)*/i, "");
  if (next === left && !/^\s*(?:[.!?]\s|\n)/.test(tail)) return undefined;
  return next === "" ? instructions : [...instructions, { kind: "unknown", text: next }];
}
