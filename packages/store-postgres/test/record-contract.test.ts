import type { CoreGrant } from "@harnesskit/core-runtime";
import { grantStoreContract } from "@harnesskit/core-runtime/testing";
import { describe, it } from "vitest";
import { newSchema } from "./support/schema.ts";

describe("the contract of stores of grants", () => {
  const cases = grantStoreContract({
    name: "PostgreSQL",
    async open({ maxRecords }) {
      const schema = await newSchema();
      const stores = await Promise.all([1, 2].map(() => schema.open({ limits: { maxRecords } })));
      const [store, other] = stores.map((each) => each.records<CoreGrant>("grants\u0000"));
      if (store === undefined || other === undefined) throw new TypeError("two stores were opened");
      return { store, reopen: () => other, dispose: () => schema[Symbol.asyncDispose]() };
    },
  });
  it.each(cases)("$name", ({ run }) => run());
});
