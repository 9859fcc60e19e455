import type { Command, DoubleQuotedChild, Word, WordPart } from "unbash";
import { parse } from "unbash";
import { maxNesting, maxTextLength } from "./limits.ts";

const shells = /^(?:.*\/)?(?:sh|bash|zsh|dash|ksh|ash)$/;

/** Stands before what is not known before the command runs, which no command can hold itself. */
const openMark = "\0";

/** What a part stands for; what is not known yet, as it is written. */
const partText = (part: WordPart | DoubleQuotedChild): string => {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return part.value;
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.every(({ type }) => type === "Literal")
        ? part.parts.map(partText).join("")
        : `${openMark}"${part.parts.map(partText).join("")}"`;
    default:
      return openMark + part.text;
  }
};

const wordText = ({ parts, value }: Word): string => parts?.map(partText).join("") ?? value;

/** The text that a shell is given by `-c`, as in `bash -lc 'npm test'`. */
const textOfShell = ({ name, prefix, suffix }: Command): string | undefined => {
  if (name === undefined || prefix.length > 0 || !shells.test(wordText(name))) return undefined;
  if (suffix.some(({ type }) => type !== "Word")) return undefined;
  const words = suffix.map((word) => wordText(word as Word));
  const text = words.pop();
  const hasText = words.some((word) => /^-[a-z]*c[a-z]*$/.test(word));
  const isPlain = words.every((word) => /^--?[a-z]+$/.test(word)) && text?.includes(openMark) === false;
  return hasText && isPlain ? text : undefined;
};

/** A command without its white space, quotes and shells around it; undefined where it cannot be parsed. */
const formOf = (text: string, nesting = 0): string | undefined => {
  if (text.length > maxTextLength || nesting > maxNesting || text.includes(openMark)) return undefined;
  const { commands, errors } = parse(text);
  if (errors !== undefined && errors.length > 0) return undefined;
  const [first, ...others] = commands;
  if (first?.command.type === "Command" && first.background !== true && others.length === 0) {
    const given = textOfShell(first.command);
    if (given !== undefined) return formOf(given, nesting + 1);
  }
  return JSON.stringify(commands, (key, value: unknown) => {
    if (key === "pos" || key === "end") return undefined;
    const { type } = (value ?? {}) as { readonly type?: unknown };
    return type === "Word" ? wordText(value as Word) : value;
  });
};

/**
 * Whether two shell commands are one and the same to bash but for white space, comments, quotes, and a shell around all of it
 * (`bash -lc '…'`). What is longer than 32,768 UTF-16 units or cannot be parsed is the same as nothing but itself. Never throws.
 */
export const isSameCommand = (one: string, other: string): boolean => {
  if (one.trim() === other.trim()) return true;
  try {
    const form = formOf(one);
    return form !== undefined && form === formOf(other);
  } catch {
    return false;
  }
};
