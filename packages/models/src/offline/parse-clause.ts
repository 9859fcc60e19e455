import { ClauseCursor, type Place } from "./clause-cursor.ts";
import type { Instruction } from "./instruction.ts";
import { politeWords } from "./request-grammar.ts";

type Rule = (cursor: ClauseCursor) => Instruction[] | undefined;

const polite = new RegExp(`^(?:${politeWords}\\b[\\s,:!]*|\\d{1,3}[.)]\\s+|[-*•]\\s+)`, "i");

/** The longest text that is searched for, in UTF-16 code units. */
const maxSearchChars = 1_000;

/** Parses one part of a request. Nothing but polite words is no instruction; what follows a whole instruction becomes a part of its own, not understood. */
export function parseClause(clause: string): Instruction[] {
  const whole = clause.trim();
  let text = whole;
  for (let count = 0; count < 8; count += 1) {
    const stripped = text.replace(polite, "");
    if (stripped === text) break;
    text = stripped;
  }
  if (text === "") return [];
  for (const rule of rules) {
    const instructions = rule(new ClauseCursor(text));
    if (instructions !== undefined) return instructions;
  }
  return [{ kind: "unknown", text: whole }];
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

const list: Rule = (cursor) => {
  if (!cursor.skip(/(?:list|show)\s+(?:me\s+)?(?:all\s+)?(?:of\s+)?(?:the\s+)?files\b/iy)) return undefined;
  const place: Place | undefined = cursor.skip(/\s+(?:in|under|of|inside|from)\s+/iy) ? cursor.place() : {};
  return place && withTail([{ kind: "list", ...place }], cursor.rest);
};

const read: Rule = (cursor) => {
  const head = /(?:read|show\s+(?:me\s+)?(?=(?:the\s+)?(?:contents?\s+of|file)\s))\s*/iy;
  if (!/^read\s/i.test(cursor.rest) && !/^show\s/i.test(cursor.rest)) return undefined;
  if (!cursor.skip(head)) return undefined;
  cursor.skip(/\s*(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(?:files?\s+)?/iy);
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
  return withTail(instructions, cursor.rest);
};

const search: Rule = (cursor) => {
  const head =
    /(?:search|look|grep)(?:\s+(?:through|in|the|this|all|whole|code|repository|repo|project|files|codebase)){0,5}\s+for\s+(?:the\s+(?:text|word|string|phrase)\s+)?/iy;
  if (!cursor.skip(head)) return undefined;
  const quoted = cursor.quoted();
  if (quoted !== undefined) {
    const place = cursor.skip(/\s+(?:in|under|inside)\s+/iy) ? cursor.place() : {};
    if (place === undefined || quoted === "" || quoted.length > maxSearchChars) return undefined;
    return withTail([{ kind: "search", text: quoted, ...place }], cursor.rest);
  }
  const rest = cursor.rest;
  const last = cursor.occurrences(/\s+(?:in|under|inside)\s+/gi).at(-1);
  let text = rest;
  let place: Place = {};
  if (last !== undefined) {
    const start = cursor.text.length - rest.length;
    cursor.moveTo(last.end);
    const found = cursor.place();
    if (found !== undefined && /^[\s.!?]*$/.test(cursor.rest)) {
      text = rest.slice(0, last.start - start);
      place = found;
    }
  }
  text = text.trim().replace(/(?<=\w)[.!?]$/, "");
  return text === "" || text.length > maxSearchChars ? undefined : [{ kind: "search", text, ...place }];
};

const run: Rule = (cursor) => {
  const named =
    /(?:run|execute)(?:\s*:\s*|\s+(?:the\s+|this\s+|a\s+)?(?:shell\s+|bash\s+)?command\b\s*:?\s*)/iy;
  if (!cursor.skip(named) && !cursor.skip(/(?:run|execute)\s+(?=`)/iy)) return undefined;
  const { text: command, tail } = cursor.remainder();
  return command.trim() === "" ? undefined : withTail([{ kind: "run", command }], tail);
};

const test: Rule = (cursor) => {
  if (
    !cursor.skip(/(?:run|execute)\s+(?:all\s+)?(?:of\s+)?(?:the\s+)?(?:unit\s+)?tests?\b(?:\s+suite\b)?/iy)
  ) {
    return undefined;
  }
  return withTail([{ kind: "test" }], cursor.rest);
};

const describe: Rule = (cursor) => {
  const thing = "(?:this|the)\\s+(?:repo|repository|project|codebase|workspace|directory|folder)\\b";
  const heads = [
    new RegExp(`(?:describe|summari[sz]e|explain|tell\\s+me\\s+about)\\s+${thing}`, "iy"),
    new RegExp(`what\\s+is\\s+${thing}(?:\\s+about\\b)?`, "iy"),
  ];
  return heads.some((head) => cursor.skip(head)) ? withTail([{ kind: "describe" }], cursor.rest) : undefined;
};

const edit: Rule = (cursor) => {
  if (!cursor.skip(/(?:edit|in)\s+(?:the\s+)?(?:file\s+)?/iy)) return undefined;
  const path = cursor.path();
  if (path === undefined) return undefined;
  const verb =
    /\s*[:,]?\s*(?:and\s+|by\s+|to\s+)?(?:replace|replacing)\s+(?:the\s+(?:text|word|string|line)\s+)?/iy;
  if (!cursor.skip(verb)) return undefined;
  const oldText = cursor.quoted() ?? unquotedOldText(cursor);
  if (oldText === undefined) return [{ kind: "unknown", text: cursor.text, reason: "ambiguous" }];
  if (oldText === "" || !cursor.skip(/\s+(?:with|by)\s+/iy)) return undefined;
  const { text: newText, tail } = cursor.remainder();
  return withTail([{ kind: "edit", path, oldText, newText }], tail);
};

/** Text without quotes ends at the one "with"; where there are several, nobody can know which was meant. */
function unquotedOldText(cursor: ClauseCursor): string | undefined {
  const words = cursor.occurrences(/\s+with\s+/gi);
  const only = words[0];
  if (only === undefined || words.length > 1) return undefined;
  const start = cursor.text.length - cursor.rest.length;
  cursor.moveTo(only.start);
  return cursor.text.slice(start, only.start).trim();
}

const replace: Rule = (cursor) => {
  if (!cursor.skip(/replace\s+/iy)) return undefined;
  const oldText = cursor.quoted();
  if (oldText === undefined || oldText === "" || !cursor.skip(/\s+(?:with|by)\s+/iy)) return undefined;
  const newText = cursor.quoted();
  if (newText === undefined || !cursor.skip(/\s+in\s+(?:the\s+)?(?:file\s+)?/iy)) return undefined;
  const path = cursor.path();
  return path === undefined ? undefined : withTail([{ kind: "edit", path, oldText, newText }], cursor.rest);
};

const write: Rule = (cursor) => {
  if (!cursor.skip(/(?:write|create)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?/iy)) return undefined;
  const path = cursor.path();
  if (path === undefined) return undefined;
  if (cursor.skip(/\s+(?:in)?to\s+(?:the\s+)?(?:file\s+)?/iy)) {
    const quoted = /^write\s+["'`“‘]/i.test(cursor.text);
    const target = cursor.path();
    if (!quoted || target === undefined) return undefined;
    return withTail([{ kind: "write", path: target, content: path }], cursor.rest);
  }
  if (
    !cursor.skip(/\s*:\s*|\s+with\s+(?=["'`“‘])/iy) &&
    !cursor.skip(/\s+with\s+(?:the\s+)?(?:contents?|text)\s*:?\s*/iy)
  ) {
    return undefined;
  }
  const { text: content, tail } = cursor.remainder();
  return withTail([{ kind: "write", path, content }], tail);
};

const rules: readonly Rule[] = [list, test, run, read, search, edit, replace, write, describe];
