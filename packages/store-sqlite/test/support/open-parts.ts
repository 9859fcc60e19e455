import type { GraphStore } from "@harnesskit/graph";
import { createStore } from "../../src/open-sqlite-store.ts";
import { StoreFile } from "../../src/store-file.ts";
import { resolveOptions, type SqliteStoreOptions } from "../../src/store-options.ts";

/** A store and the connection that it works on, to ask SQLite what the store did. */
export const openParts = async (
  options: SqliteStoreOptions,
): Promise<{ readonly store: GraphStore; readonly file: StoreFile }> => {
  const resolved = resolveOptions(options);
  const file = await StoreFile.open(resolved);
  return { store: await createStore(file, resolved), file };
};

/** One number that a statement gives. */
export const numberOf = (file: StoreFile, sql: string): number => {
  const value = file.get(sql)?.[0];
  if (typeof value !== "number") throw new TypeError(`${sql} gave no number`);
  return value;
};
