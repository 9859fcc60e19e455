import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import type { CommandVerdict } from "../src/index.ts";

/** A command of the corpus with what is to be said of it. */
export interface CorpusEntry {
  readonly run: string;
  readonly is: CommandVerdict;
  /** The kind of evasion that it shows. */
  readonly kind?: string;
  /** What some path in it is to be marked as. */
  readonly marks?: readonly ("outside" | "secret")[];
  readonly file: string;
}

const folder = new URL("corpus/", import.meta.url);

/** All commands, in the order of their files. */
export const readCorpus = (): readonly CorpusEntry[] =>
  readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const entries = parse(readFileSync(new URL(file, folder), "utf8")) as Omit<CorpusEntry, "file">[];
      return entries.map((entry) => ({ ...entry, file }));
    });
