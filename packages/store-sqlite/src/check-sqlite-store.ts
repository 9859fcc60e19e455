import { BusyRetry } from "./busy-retry.ts";
import { corrupt } from "./failures.ts";
import { FileConnection } from "./file-connection.ts";
import { migrations, schemaVersion } from "./schema.ts";
import { textIn } from "./sql-values.ts";
import { resolveOptions, type SqliteStoreOptions } from "./store-options.ts";
import { openStorePath } from "./store-path.ts";

/**
 * Looks whether the file of a store, which exists, is one that this program can open, and whole. Reads all of its pages, and migrates
 * and changes nothing. Rejects as `openSqliteStore`, with the reason `corrupt` for a file that is damaged.
 */
export const checkSqliteStore = async (
  options: Pick<SqliteStoreOptions, "file" | "clock">,
): Promise<void> => {
  const resolved = resolveOptions(options);
  const path = openStorePath(resolved.file);
  await new BusyRetry(resolved).whenFree(() => {
    const connection = new FileConnection(path, resolved.maxValueLength);
    try {
      schemaVersion(connection, migrations);
      const [found] = connection.get("PRAGMA store.quick_check(1)") ?? [];
      if (found !== "ok") throw corrupt(textIn(found));
    } finally {
      connection.disconnect();
    }
  });
};
