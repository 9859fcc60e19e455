import type { GraphStore } from "@harnesskit/graph";
import type { ThreadStore } from "@harnesskit/thread-server";
import { Database } from "./database.ts";
import { createGraphStore } from "./graph-store.ts";
import { migrate } from "./migrate.ts";
import { type PostgresStoreOptions, resolveOptions } from "./store-options.ts";
import { PostgresThreadStore } from "./thread-store.ts";

/** The stores of one database, over the connections of one process. */
export interface PostgresStore extends AsyncDisposable {
  /** Conversations: sessions, suspensions and leases. */
  readonly graph: GraphStore;
  /** Threads and their events. */
  readonly threads: ThreadStore;
  /** Releases what the stores hold, and closes the connections. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the stores in a PostgreSQL database (14 or newer), and brings its schema to the version of this program. Any number of
 * processes may have the same schema open. Rejects with `invalid_argument` for options that are not valid, and with a
 * `StoreError` whose `reason` is a {@link PostgresStoreReason}.
 */
export const openPostgresStore = async (options: PostgresStoreOptions): Promise<PostgresStore> => {
  const database = new Database(resolveOptions(options));
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  const graph = createGraphStore(database);
  const threads = new PostgresThreadStore(database);
  const close = async () => {
    await Promise.allSettled([graph.close(), threads.close()]);
    await database.close();
  };
  return { graph, threads, close, [Symbol.asyncDispose]: close };
};
