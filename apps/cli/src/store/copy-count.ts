import { jsonDifference } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";

/** What was copied of one kind. */
export interface CopyCount {
  /** How many there are. */
  readonly total: number;
  /** How many of them this run has copied; the others were there already. */
  readonly copied: number;
}

export const conflict = (what: string, id: string): CliError =>
  new CliError(
    "copy_conflict",
    `${what} ${id} already exists in TO with different content and was not overwritten`,
    { hint: "Copy to an empty store, or remove it there." },
  );

/** A value as JSON has it. */
const plainJson = (value: unknown) => JSON.parse(JSON.stringify(value));

/** Whether both are the same JSON, whatever the order of their keys. */
export const sameJson = (one: unknown, other: unknown): boolean =>
  jsonDifference(plainJson(one), plainJson(other)) === undefined;
