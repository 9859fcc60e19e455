// A value that is not wholly known is a text with one of these characters in the place of what is not known. A command
// that holds such a character itself is taken as less known than it is, never as more.

/** Something unknown: a variable of the environment. */
export const unknownMark = "\uE000";
/** What some program prints. */
export const dataMark = "\uE001";
/** What comes out of a secret file or a variable with a secret's name. */
export const secretMark = "\uE002";
/** Names of files below the directory that stands before it. */
export const namesMark = "\uE003";

/** Whether some of a text is not known. Names of files below a directory are known enough. */
export const isUnknown = (text: string): boolean => /[\uE000-\uE002]/.test(text);

/** Whether a text is known to the last character. */
export const isExact = (text: string): boolean => !/[\uE000-\uE003]/.test(text);

/** Whether a text holds a secret, or may. */
export const isSecret = (text: string): boolean => text.includes(secretMark);

/** Whether a text holds what a program printed, or a secret. */
export const isData = (text: string): boolean => /[\uE001-\uE003]/.test(text);

/** The text without what is not known. */
export const withoutMarks = (text: string): string => text.replace(/[\uE000-\uE003]/g, "");

/** The text for people. */
export const shown = (text: string): string => {
  const clean = text.replace(/[\uE000-\uE003]+/g, "…").replace(/\s+/g, " ");
  return clean.length > 120 ? `${clean.slice(0, 119)}…` : clean;
};

/** What is left of a text that went through a program which is not followed: its most secret mark. */
export const taintOf = (...texts: readonly (string | undefined)[]): string => {
  const all = texts.join("");
  return all.includes(secretMark) ? secretMark : dataMark;
};
