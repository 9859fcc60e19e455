import type { ViewPart } from "./present.ts";

const kinds: ReadonlyMap<string, ViewPart["kind"]> = new Map([
  ["sh", "command"],
  ["bash", "command"],
  ["shell", "command"],
  ["console", "command"],
  ["json", "input"],
  ["diff", "diff"],
]);

/** How code is drawn whose language a fence of Markdown names; undefined for a language that is not known. */
export const codeKind = (language: string): ViewPart["kind"] | undefined => kinds.get(language.toLowerCase());
