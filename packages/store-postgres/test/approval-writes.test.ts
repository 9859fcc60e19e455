import { expect, it, onTestFinished } from "vitest";
import { ApprovalWrites } from "../src/approval-writes.ts";
import { Database } from "../src/database.ts";
import { databaseError } from "../src/failures.ts";
import { migrate } from "../src/migrate.ts";
import { resolveOptions } from "../src/store-options.ts";
import { startProxy } from "./support/proxy.ts";
import { newSchema } from "./support/schema.ts";

const openWrites = async (url: string, schema: string) => {
  const database = new Database(
    resolveOptions({ url, schema, limits: { maxConnections: 1, maxAttempts: 2 } }),
  );
  onTestFinished(() => database.close());
  await migrate(database);
  return new ApprovalWrites(database, { maxLength: 1000 }, () => {});
};

const outcomesOf = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map((outcome) =>
    outcome.status === "fulfilled" ? outcome.value : (outcome.reason as { reason: string }).reason,
  );

it("a database that goes away refuses all writes that went together, and none is tried alone", async () => {
  await using schema = await newSchema();
  await using proxy = await startProxy(schema.url);
  const writes = await openWrites(proxy.url, schema.schema);
  // The first goes alone; the others wait for it, and go together.
  const calls = Array.from({ length: 11 }, (_, index) =>
    writes.run(async (table) => {
      if (index === 1) {
        proxy.goDown();
        proxy.cutAll();
      }
      return (await table.get("none")) ?? "written";
    }),
  );
  expect(await outcomesOf(calls)).toEqual(["written", ...Array.from({ length: 10 }, () => "unavailable")]);
  expect(proxy.refused).toBe(1);
});

it("a write that fails by itself leaves those that went with it alone", async () => {
  await using schema = await newSchema();
  const writes = await openWrites(schema.url, schema.schema);
  const calls = Array.from({ length: 4 }, (_, index) =>
    writes.run(() => {
      if (index === 2) throw databaseError("too_large");
      return index;
    }),
  );
  expect(await outcomesOf(calls)).toEqual([0, 1, "too_large", 3]);
});
