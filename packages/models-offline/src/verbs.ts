import type { JSONObject } from "@ai-sdk/provider";
import type { ClauseCursor, Place } from "./clause-cursor.ts";

import { parseJson } from "./tool-values.ts";

/** One thing that a request asks for. */
export type Instruction =
  | { readonly kind: "list"; readonly directory?: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "search"; readonly text: string; readonly directory?: string }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "edit"; readonly path: string; readonly oldText: string; readonly newText: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  /** `tool` is as the user names it: an agent's id and the tool's name, or the name alone. */
  | { readonly kind: "use"; readonly tool: string; readonly input: JSONObject }
  | { readonly kind: "describe" }
  | { readonly kind: "test" }
  | { readonly kind: "unknown"; readonly text: string; readonly reason?: "ambiguous" };

/** An instruction of one kind. */
export type InstructionOf<Kind extends Instruction["kind"]> = Extract<Instruction, { kind: Kind }>;

/** A kind of instruction as users write it. */
export interface Verb {
  /** What it begins with. */
  readonly head: RegExp;
  /** What must follow in running text, where the head may also mean something else: "read well" is not an instruction. */
  readonly follows?: RegExp;
  /** Reads the rest; undefined if it does not fit. What follows the instruction is left. */
  readonly read: (cursor: ClauseCursor) => Instruction[] | undefined;
}

/** The longest text that is searched for, in UTF-16 code units. */
const maxSearchChars = 1_000;

const quoted = "(?:\"[^\"\\n]{0,300}\"|`[^`\\n]{0,300}`|'[^'\\n]{0,300}'|“[^”\\n]{0,300}”)";
const file = `(?:${quoted}|[^\\s:,;]{1,300})`;

/** A sticky pattern of a bounded stretch of text, in which a space stands for one to four. */
export const phrasePattern = (source: string, flags = "iy"): RegExp =>
  new RegExp(source.replaceAll(" ", "\\s{1,4}"), flags);

/** The beginning of a shell command without quotes. */
export const commandHead =
  "(?:run|execute)(?:\\s{0,4}:| (?:the |this |a )?(?:shell |bash )?command\\b\\s{0,4}:?)";

/** All verbs, in the order in which they are tried. */
export const verbs: readonly Verb[] = [
  { head: phrasePattern("(?:use|call) (?:the )?tool "), read: readUse },
  {
    head: phrasePattern("(?:list|show) (?:me )?(?:all )?(?:of )?(?:the )?files\\b"),
    read: (cursor) => {
      const place: Place | undefined = cursor.skip(/\s+(?:in|under|of|inside|from)\s+/iy)
        ? cursor.place()
        : {};
      return place && [{ kind: "list", ...place }];
    },
  },
  {
    head: phrasePattern("(?:run|execute) (?:all )?(?:of )?(?:the )?(?:unit )?tests?\\b(?: suite\\b)?"),
    read: () => [{ kind: "test" }],
  },
  {
    head: phrasePattern(`${commandHead}|(?:run|execute) (?=\`)`),
    read: (cursor) => {
      const command = cursor.remainder();
      return command.trim() === "" ? undefined : [{ kind: "run", command }];
    },
  },
  {
    head: phrasePattern(
      "(?:read |show (?:me )?(?=(?:the )?(?:contents? of|file)\\s))(?:the )?(?:contents? of )?(?:the )?(?:files? )?",
    ),
    // The case matters: `README` is a file, and "this" is not.
    follows: phrasePattern(
      "(?<=(?:files?|of) )|(?=[\"'`“]|[^\\s,;]{0,300}[./]\\w|[A-Z]\\w{0,300}file\\b|[A-Z]{3,300}\\b)",
      "y",
    ),
    read: readPaths,
  },
  { head: phrasePattern("(?:search|look|grep) (?=(?:[a-z]{1,12} ){0,5}for \\S)"), read: readSearch },
  {
    head: phrasePattern("(?:edit|in) (?:the )?(?:file )?"),
    follows: phrasePattern(`${file}\\s{0,4}[:,]?\\s{0,4}(?:and |by |to )?replac`),
    read: readEdit,
  },
  {
    head: phrasePattern("replace (?=[\"'`“‘])"),
    follows: phrasePattern(`${quoted} (?:with|by) ${quoted} in\\s`),
    read: (cursor) => {
      const oldText = cursor.quoted();
      if (!oldText || !cursor.skip(/\s+(?:with|by)\s+/iy)) return undefined;
      const newText = cursor.quoted();
      if (newText === undefined || !cursor.skip(/\s+in\s+(?:the\s+)?(?:file\s+)?/iy)) return undefined;
      const path = cursor.path();
      return path === undefined ? undefined : [{ kind: "edit", path, oldText, newText }];
    },
  },
  {
    head: phrasePattern("(?:write|create) (?:a |the )?(?:new )?(?:file )?"),
    follows: phrasePattern(`${file}\\s{0,4}(?::|with\\s)|${quoted} (?:in)?to\\s`),
    read: readWrite,
  },
  {
    head: phrasePattern(
      "(?:describe|summari[sz]e|explain|tell me about|what is) (?:this|the) (?:repo|repository|project|codebase|workspace|directory|folder)\\b(?: about\\b)?",
    ),
    read: () => [{ kind: "describe" }],
  },
];

function readUse(cursor: ClauseCursor): Instruction[] | undefined {
  const { at, rest } = cursor;
  const name = /^([\w.:/-]{1,260}(?:\s{1,4}(?!with\b)[\w.:-]{1,128})?)\s{0,4}(?:with\s{1,4}(?=\{))?/i.exec(
    rest,
  );
  if (name?.[1] === undefined) return undefined;
  const end = rest.startsWith("{", name[0].length) ? rest.lastIndexOf("}") + 1 : name[0].length;
  const input = end === name[0].length ? {} : parseJson(rest.slice(name[0].length, end));
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  cursor.moveTo(at + end);
  return [{ kind: "use", tool: name[1].replace(/[.:]+$/, ""), input: input as JSONObject }];
}

function readPaths(cursor: ClauseCursor): Instruction[] | undefined {
  const instructions: Instruction[] = [];
  do {
    const path = cursor.path();
    if (path === undefined) return undefined;
    instructions.push({ kind: "read", path });
  } while (
    /^\s*(?:,\s*(?:and\s+)?|and\s+)(?:["'`]|[^\s,]*[./]\w)/i.test(cursor.rest) &&
    cursor.skip(/\s*(?:,\s*(?:and\s+)?|and\s+)/iy)
  );
  cursor.skip(/\s+file\b/iy);
  return instructions;
}

function readSearch(cursor: ClauseCursor): Instruction[] | undefined {
  const words =
    /(?:(?:through|in|the|this|all|whole|code|repository|repo|project|files|codebase)\s+){0,5}for\s+(?:the\s+(?:text|word|string|phrase)\s+)?/iy;
  if (!cursor.skip(words)) return undefined;
  let text = cursor.quoted();
  let place: Place | undefined = {};
  if (text !== undefined) {
    if (cursor.skip(/\s+(?:in|under|inside)\s+/iy)) place = cursor.place();
  } else {
    const { at } = cursor;
    const last = cursor.occurrences(/\s+(?:in|under|inside)\s+/gi).at(-1);
    if (last !== undefined) cursor.moveTo(last.end);
    const found = last && cursor.place();
    const isPlace = found !== undefined && /^[\s.!?]*$/.test(cursor.rest);
    if (isPlace) place = found;
    cursor.moveTo(cursor.text.length);
    text = cursor.text
      .slice(at, isPlace ? last?.start : undefined)
      .trim()
      .replace(/(?<=\w)[.!?]$/, "");
  }
  if (place === undefined || text === "" || text.length > maxSearchChars) return undefined;
  return [{ kind: "search", text, ...place }];
}

function readEdit(cursor: ClauseCursor): Instruction[] | undefined {
  const path = cursor.path();
  const verb =
    /\s*[:,]?\s*(?:and\s+|by\s+|to\s+)?(?:replace|replacing)\s+(?:the\s+(?:text|word|string|line)\s+)?/iy;
  if (path === undefined || !cursor.skip(verb)) return undefined;
  const oldText = cursor.quoted() ?? unquotedOldText(cursor);
  if (oldText === undefined) {
    cursor.moveTo(cursor.text.length);
    return [{ kind: "unknown", text: cursor.text, reason: "ambiguous" }];
  }
  if (oldText === "" || !cursor.skip(/\s+(?:with|by)\s+/iy)) return undefined;
  return [{ kind: "edit", path, oldText, newText: cursor.remainder() }];
}

/** Text without quotes ends at the one "with"; with several, the meaning is ambiguous. */
function unquotedOldText(cursor: ClauseCursor): string | undefined {
  const { at } = cursor;
  const [only, ...more] = cursor.occurrences(/\s+with\s+/gi);
  if (only === undefined || more.length > 0) return undefined;
  cursor.moveTo(only.start);
  return cursor.text.slice(at, only.start).trim();
}

function readWrite(cursor: ClauseCursor): Instruction[] | undefined {
  const path = cursor.path();
  if (path === undefined) return undefined;
  if (cursor.skip(/\s+(?:in)?to\s+(?:the\s+)?(?:file\s+)?/iy)) {
    const target = cursor.path();
    if (target === undefined || !/^write\s+["'`“‘]/i.test(cursor.text)) return undefined;
    return [{ kind: "write", path: target, content: path }];
  }
  if (!cursor.skip(/\s*:\s*|\s+with\s+(?:(?=["'`“‘])|(?:the\s+)?(?:contents?|text)\s*:?\s*)/iy))
    return undefined;
  return [{ kind: "write", path, content: cursor.remainder() }];
}
