import { continuationStoreContract } from "@harnesskit/shell-engine/testing";
import { describe, expect, it } from "vitest";
import { newSchema } from "./support/schema.ts";

const later = () => Date.now() + 60_000;
const longAgo = () => Date.now() - 2 * 3_600_000;

describe("continuations in a database", () => {
  const cases = continuationStoreContract({
    name: "Postgres",
    async open() {
      const schema = await newSchema();
      const [{ continuations: store }, { continuations: other }] = [await schema.open(), await schema.open()];
      return { store, other, dispose: async () => schema[Symbol.asyncDispose]() };
    },
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });

  it("take ids and data that the database cannot hold as text", async () => {
    await using schema = await newSchema();
    const { continuations } = await schema.open();
    const data = { signal: "s\u0000\ud800" };
    await continuations.keep("cont_1\u0000", data, later(), "ada");
    expect(await continuations.claim("cont_1\u0000", later())).toEqual({ status: "claimed", data });
  });

  it("outlive the process that kept them, with their key, and are each used by one of many that try at once", async () => {
    await using schema = await newSchema();
    const before = await schema.open();
    await before.continuations.keep("one", 1, later());
    await before.close();
    await expect(before.continuations.claim("one", later())).rejects.toMatchObject({
      name: "StoreError",
      code: "store_closed",
    });
    const stores = await Promise.all([1, 2, 3].map(() => schema.open()));
    for (const { continuations } of stores) expect(continuations.key).toEqual(before.continuations.key);
    const claims = await Promise.all(
      Array.from({ length: 30 }, (_, index) => stores[index % 3]?.continuations.claim("one", later())),
    );
    expect(claims.filter((claim) => claim?.status === "claimed")).toEqual([{ status: "claimed", data: 1 }]);
  });

  it("are bounded: the owner with the most loses its oldest, and none that was used is forgotten before its time", async () => {
    await using schema = await newSchema();
    const limits = { maxContinuations: 3, maxUsedContinuations: 5 };
    const { continuations } = await schema.open({ limits });
    await continuations.keep("ada", 1, later(), "ada");
    for (const id of ["b1", "b2", "b3", "b4"]) await continuations.keep(id, id, later(), "bob");
    const claims = [];
    for (const id of ["ada", "b1", "b2", "b3", "b4"]) claims.push(await continuations.claim(id, longAgo()));
    const data = claims.map((claim) => (claim.status === "claimed" ? claim.data : claim.status));
    expect(data).toEqual([1, undefined, undefined, "b3", "b4"]);
    // All of them have expired for long, so they make room.
    expect(await continuations.claim("c1", later())).toEqual({ status: "claimed" });
    for (const id of ["c2", "c3", "c4", "c5"]) await continuations.claim(id, later());
    await expect(continuations.claim("c6", later())).rejects.toMatchObject({ code: "buffer_full" });
    expect(await continuations.claim("c1", later()).catch(({ code }) => code)).toBe("buffer_full");
  });

  it("refuse data that is not JSON, and ids that are not strings", async () => {
    await using schema = await newSchema();
    const { continuations } = await schema.open();
    for (const kept of [
      continuations.keep("x", Number.NaN, later()),
      continuations.keep(7 as unknown as string, 1, later()),
    ]) {
      await expect(kept).rejects.toMatchObject({ code: "invalid_argument" });
    }
    expect(await continuations.claim("x", later())).toEqual({ status: "claimed" });
  });
});
