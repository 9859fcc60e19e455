import { threadStoreContract } from "@harnesskit/thread-server/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { newSchema } from "./support/schema.ts";

let schema: Awaited<ReturnType<typeof newSchema>>;
beforeAll(async () => {
  schema = await newSchema();
});
afterAll(() => schema[Symbol.asyncDispose]());

const makeStore = async () => {
  const { threads: store } = await schema.open();
  return {
    store,
    reopen: async () => (await schema.open()).threads,
    dispose: () => schema.clear(),
  };
};

describe("the contract of thread stores", () => {
  it.each(threadStoreContract({ name: "PostgreSQL", makeStore }))("$name", ({ run }) => run());
});
