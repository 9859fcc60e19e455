import stringWidth from "fast-string-width";
import { wrapAnsi } from "fast-wrap-ansi";

/** A change of colour. */
const colour = `${String.fromCharCode(0x1b)}\\[\\d+m`;
const colours = new RegExp(colour, "g");
const prefixPattern = new RegExp(`^(?:${colour}|[ \\t])*(?:[│?✗✓⊘○●~›→◆-](?:${colour})* +)?(?:${colour})*`);

/** What stands before the further lines of a line: as much room as its sign has, and a mark that it is no new line. */
const hangOf = (prefix: string): string =>
  prefix
    .replaceAll(colours, "")
    .replace(/[^\s│]/g, " ")
    .replace("│", "┆");

/**
 * Breaks each line of safe text between words, so that it fits into so many columns; a word that is too long is left
 * whole, so that a path can still be copied. What follows a bar (`│`) is shown exactly: it is broken anywhere, and its
 * further lines follow `┆`. Wide characters count as two columns.
 */
export const wrapText = (text: string, columns: number | undefined, hang?: string): string => {
  if (columns === undefined) return text;
  return text
    .split("\n")
    .map((line) => wrapLine(line, columns, hang))
    .join("\n");
};

const wrapLine = (line: string, columns: number, givenHang: string | undefined): string => {
  if (stringWidth(line) <= columns) return line;
  const [prefix = ""] = prefixPattern.exec(line) ?? [];
  const hang = givenHang ?? hangOf(prefix);
  const isExact = hang.includes("┆");
  const room = Math.max(10, columns - stringWidth(hang));
  const wrapped = wrapAnsi(line.slice(prefix.length), room, { hard: isExact, trim: !isExact });
  return prefix + wrapped.split("\n").join(`\n${hang}`);
};
