import { redactSecrets } from "@harnesskit/audit";
import { displayText } from "@harnesskit/wire";

// A word whose value is not known in full holds one of these characters in the place of what is not known. A command
// that holds such a character itself is refused as unknown.

/** A part that is not known. As the first character, the word may be an option, or several words. */
export const unknownMark = "\uE000";
/** Stands before a pattern of file names that begins a word: the name of a file may look like an option. */
export const globMark = "\uE001";
/** Names of files below the directory that stands before it. */
export const namesMark = "\uE003";

/** Whether a string holds one of the marks. */
export const hasMark = (text: string): boolean => /[\uE000-\uE003]/.test(text);

/** Whether a part of a string is not known. Names of files below a directory are known enough. */
export const isUnknown = (text: string): boolean => text.includes(unknownMark);

/** Whether a word may turn out to be an option. */
export const mayBeOption = (word: string): boolean =>
  word.startsWith(unknownMark) || word.startsWith(globMark);

/** The word without the mark of a leading pattern. */
export const withoutGlobMark = (word: string): string => (word.startsWith(globMark) ? word.slice(1) : word);

/** The string for people: without secrets, invisible characters and line breaks, and of at most 160 characters. */
export const displayable = (text: string): string => {
  const clean = redactSecrets(
    text
      .replaceAll(globMark, "")
      .replace(/[\uE000-\uE003]+/g, "…")
      .replace(/\s+/g, " "),
    {
      certainOnly: true,
    },
  );
  const safe = displayText(clean, { maxLength: 4096 });
  return safe.length > 160 ? `${safe.slice(0, 159)}…` : safe;
};
