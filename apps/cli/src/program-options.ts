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

/** Collects the ports that an option is given; 0 stands for one that is free. */
export const severalPorts =
  (option: string) =>
  (text: string, before: readonly number[] = []): number[] => {
    const port = wholeNumber(option)(text);
    if (port <= 65_535) return [...before, port];
    throw usageError(`${option}: a port is a number from 0 to 65535`);
  };
