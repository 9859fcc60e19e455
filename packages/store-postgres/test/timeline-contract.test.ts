import { timelineStoreContract } from "@harnesskit/hub/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "../src/database.ts";
import { migrate } from "../src/migrate.ts";
import { resolveOptions } from "../src/store-options.ts";
import { openTimeline } from "../src/timeline-store.ts";
import { Wakes } from "../src/wakes.ts";
import { newSchema } from "./support/schema.ts";

let schema: Awaited<ReturnType<typeof newSchema>>;
beforeAll(async () => {
  schema = await newSchema();
});
afterAll(() => schema[Symbol.asyncDispose]());

describe("the contract of timeline stores", () => {
  const cases = timelineStoreContract({
    name: "PostgreSQL",
    async open({ clock, limits }) {
      const opened: { readonly database: Database; readonly wakes: Wakes }[] = [];
      const reopen = async () => {
        const { url, schema: name } = schema;
        const database = new Database(
          resolveOptions({ url, schema: name, clock, limits: { maxConnections: 2 } }),
        );
        const wakes = new Wakes(database);
        opened.push({ database, wakes });
        await migrate(database);
        // The clock of the cases judges in place of the database's.
        return openTimeline(database, wakes, { limits, nowMs: clock.now });
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
    },
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
