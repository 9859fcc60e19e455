import { usageError } from "./cli-error.ts";

const piece = /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|([^\s'"\\]+)/y;

/**
 * The words of a command line: separated by spaces, with quotes and backslashes as in a shell, and nothing else of a
 * shell. Throws a usage error for a quote without its end.
 */
export const splitWords = (text: string, option: string): string[] => {
  const words: string[] = [];
  let word: string | undefined;
  for (let index = 0; index < text.length; ) {
    if (/\s/.test(text.charAt(index))) {
      if (word !== undefined) words.push(word);
      word = undefined;
      index++;
      continue;
    }
    piece.lastIndex = index;
    const found = piece.exec(text);
    if (!found) throw usageError(`${option}: a quote or a backslash of the command has no end`);
    const [whole, single, double, escaped, bare] = found;
    word = (word ?? "") + (single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? bare ?? "");
    index += whole.length;
  }
  if (word !== undefined) words.push(word);
  return words;
};
