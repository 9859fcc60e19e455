import { stat } from "node:fs/promises";
import type { GraphStore } from "@harnesskit/graph";
import type { PostgresStore, PostgresStoreOptions } from "@harnesskit/store-postgres";
import { openContinuationStore, openSqliteStore, StoreError } from "@harnesskit/store-sqlite";
import { HarnessError } from "@harnesskit/wire";
import { type CliError, logFailure, unavailableError, usageError } from "../cli-error.ts";
import { describeLocation, type StoreLocation } from "./location.ts";

const unavailable = (location: StoreLocation, cause: unknown): CliError => {
  const message = cause instanceof Error ? cause.message : String(cause);
  return unavailableError(
    "store_unavailable",
    `the store ${describeLocation(location)} cannot be used: ${message}`,
    {
      hint:
        location.kind === "postgres"
          ? "See that the database runs and that its URL is right"
          : "Name another file: --store FILE",
      cause,
    },
  );
};

/** Opens something in a store. Rejects with an error that says `unavailable`, or with a usage error. */
export const opening = async <T>(location: StoreLocation, open: () => Promise<T>): Promise<T> => {
  try {
    return await open();
  } catch (cause) {
    if (StoreError.isInstance(cause)) throw unavailable(location, cause);
    if (HarnessError.isInstance(cause) && cause.code === "invalid_argument") {
      throw usageError(`--store: ${cause.message}`);
    }
    throw cause;
  }
};

export type Database = Extract<StoreLocation, { kind: "postgres" }>;

/** A database as the functions of `store-postgres` take it. */
export const schemaOf = ({ url, schema }: Database) => ({
  url,
  schema,
});

/** Opens the stores of a database, and migrates its schema. */
export const openPostgres = (
  location: Database,
  name: string,
  options: Pick<PostgresStoreOptions, "approvals" | "limits"> = {},
): Promise<PostgresStore> =>
  opening(location, async () => {
    const { openPostgresStore } = await import("@harnesskit/store-postgres");
    return openPostgresStore({
      ...options,
      ...schemaOf(location),
      onError: (error) => logFailure(`${name}: the store`, error),
    });
  });

/** The name of the key that signs continuations, the claim of one, and what shells left with it. */
export type Continuations = Pick<
  Awaited<ReturnType<typeof openContinuationStore>>,
  "key" | "keep" | "claim" | "release" | "page" | "restore"
>;

/** What a command keeps conversations in. */
export interface ConversationStore {
  readonly graph: GraphStore;
  readonly continuations: Continuations;
  close(): Promise<void>;
}

/** Opens the conversations of a place; with `mustExist`, a file that does not exist is a usage error. */
export const openConversations = async (
  location: StoreLocation,
  name: string,
  { mustExist = false }: { readonly mustExist?: boolean } = {},
): Promise<ConversationStore> => {
  if (location.kind === "postgres") return openPostgres(location, name);
  const { file } = location;
  if (mustExist && (await stat(file).catch(() => undefined)) === undefined) {
    throw usageError(
      `${describeLocation(location)} does not exist`,
      "Name the file of the conversations: sqlite:FILE",
    );
  }
  const graph = await opening(location, () => openSqliteStore({ file }));
  try {
    const continuations = await opening(location, () => openContinuationStore({ file }));
    return {
      graph,
      continuations,
      async close() {
        await continuations.close();
        await graph.close();
      },
    };
  } catch (error) {
    await graph.close();
    throw error;
  }
};
