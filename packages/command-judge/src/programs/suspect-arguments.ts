import { hasMark } from "../marks.ts";
import type { Call } from "./spec.ts";

/** Texts that are looked at. */
const maxLooked = 16;

/** Takes what stands before a command inside an argument: `exec=`, `!`, `shell `, `\! `. */
const introduction =
  /^(?:@\w+\s|(?:[\d*/,-]+\s+){5}|-\w|--?[\w-]+=|[\w.-]+=|\+)?\s*(?:["']?(?:!|\\!|shell\s|exec[=:]|system\s|:!|ext::))*\s*/;

/** Strings inside an argument: of code, or of a setting. */
const literal = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;

/** Lists of strings inside code: `["rm", "-rf", "/"]`. */
const list = /\[\s*((?:["'][^"'\n]*["']\s*(?:,\s*)?){2,})\]/g;

const textsIn = (word: string): readonly string[] => [
  ...[...word.matchAll(literal)].map(([, a, b, c]) => a ?? b ?? c ?? ""),
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
