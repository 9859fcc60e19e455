import { displayText } from "@harnesskit/wire";
import { Option } from "commander";
import { usageError } from "./cli-error.ts";

export const cwdOption = () =>
  new Option("--cwd <dir>", "the directory to work in").default(process.cwd(), "here");

export const jsonOption = (what: string) => new Option("--json", what);

/** Collects what an option is given, in order. */
export const severalTimes = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** Reads a whole number from 0. */
export const wholeNumber =
  (option: string) =>
  (text: string): number => {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw usageError(`${option}: ${displayText(text, { maxLength: 100 })} is no whole number from 0`);
  };
