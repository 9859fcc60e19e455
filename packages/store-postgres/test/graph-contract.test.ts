import { graphStoreContract } from "@harnesskit/graph/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newSchema } from "./support/schema.ts";

let schema: Awaited<ReturnType<typeof newSchema>>;
beforeAll(async () => {
  schema = await newSchema();
});
afterAll(() => schema[Symbol.asyncDispose]());

const contract = (name: string, limits: { readonly maxCachedLength?: number }) =>
  graphStoreContract({
    name,
    async open() {
      const open = async () => (await schema.open({ limits })).graph;
      return { store: await open(), reopen: open, dispose: () => schema.clear() };
    },
  });

describe("the contract of graph stores", () => {
  const cases = [
    ...contract("PostgreSQL", {}),
    ...contract("PostgreSQL without a cache", { maxCachedLength: 0 }),
  ];
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
