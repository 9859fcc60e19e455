import type { Clock } from "@harnesskit/wire";
import { Database } from "../../src/database.ts";
import { migrate } from "../../src/migrate.ts";
import { resolveOptions } from "../../src/store-options.ts";
import { Wakes } from "../../src/wakes.ts";
import type { newSchema } from "./schema.ts";

/** The stores of one case of a contract, all in one schema; each `reopen` is another process's. */
export const contractStores = async <Store>(
  schema: Awaited<ReturnType<typeof newSchema>>,
  { clock, maxConnections }: { readonly clock: Clock; readonly maxConnections: number },
  open: (database: Database, wakes: Wakes) => Store | Promise<Store>,
) => {
  const opened: { readonly database: Database; readonly wakes: Wakes }[] = [];
  const reopen = async (): Promise<Store> => {
    const { url, schema: name } = schema;
    const database = new Database(resolveOptions({ url, schema: name, clock, limits: { maxConnections } }));
    const wakes = new Wakes(database);
    opened.push({ database, wakes });
    await migrate(database);
    return open(database, wakes);
  };
  return {
    store: await reopen(),
    reopen,
    async dispose() {
      for (const { database, wakes } of opened) {
        await wakes.close();
        await database.close();
      }
      await schema.clear();
    },
  };
};
