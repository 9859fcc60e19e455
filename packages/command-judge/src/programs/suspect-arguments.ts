import { hasMark } from "../marks.ts";
import type { Call } from "./spec.ts";

/** Texts that are looked at. */
const maxLooked = 16;

/** Takes what stands before a command inside an argument: `exec=`, `!`, `shell `, `\! `. */
const introduction =
  /^(?:@\w+\s|(?:[\d*/,-]+\s+){5}|-\w|--?[\w-]+=|[\w.-]+=|\+)?\s*(?:["']?(?:!|\\!|shell\s|exec[=:]|system\s|:!|ext::))*\s*/;

/** The inside of a string that begins with a quote, up to its end or to where it cannot go on. */
const insides: Readonly<Record<string, RegExp>> = {
  '"': /(?:[^"\\\n]|\\.)*/y,
  "'": /(?:[^'\\\n]|\\.)*/y,
  "`": /(?:[^`\\]|\\.)*/y,
};

/**
 * Strings inside an argument: of code, or of a setting. Where one is not closed, those that begin inside of it are not either, so that
 * no character is read twice for a kind of quote.
 */
const literalsIn = (word: string): readonly string[] => {
  const found: string[] = [];
  const openUntil: Record<string, number> = {};
  for (let at = 0; at < word.length; at++) {
    const quote = word[at] as string;
    const inside = insides[quote];
    if (inside === undefined || at < (openUntil[quote] ?? 0)) continue;
    inside.lastIndex = at + 1;
    const text = inside.exec(word)?.[0] ?? "";
    const end = at + 1 + text.length;
    if (word[end] !== quote) openUntil[quote] = end;
    else {
      found.push(text);
      at = end;
    }
  }
  return found;
};

/** Lists of strings inside code: `["rm", "-rf", "/"]`. */
const list = /\[\s*((?:["'][^"'\n]*["']\s*(?:,\s*)?){2,})\]/g;

const textsIn = (word: string): readonly string[] => [
  ...literalsIn(word),
  ...[...word.matchAll(list)].map(([, items = ""]) => items.replace(/["'],?\s*/g, " ").trim()),
];

/**
 * Looks for commands inside the arguments and the input of a call that is not known. Only what the shipped policy blocks is noted, so
 * that an evasion of the tables is still blocked where its text is in plain sight.
 */
export const suspectArguments = ({ args, stdin, scope, walk }: Call): void => {
  walk.suspect(() => {
    let left = maxLooked;
    const lines = stdin === undefined || hasMark(stdin) ? [] : stdin.split("\n");
    for (const arg of [...args, ...lines])
      for (const text of [arg.replace(introduction, ""), ...textsIn(arg)])
        if (/\S\s+\S/.test(text) && left-- > 0) walk.script(text, scope.fresh(), undefined);
  });
};
