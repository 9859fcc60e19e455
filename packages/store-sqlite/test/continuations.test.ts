import { join } from "node:path";
import { continuationStoreContract } from "@harnesskit/shell-engine/testing";
import { HarnessError, systemClock } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { openContinuationStore, openSqliteStore } from "../src/index.ts";

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => "nothing was thrown",
    (thrown: unknown) => thrown,
  );
  return HarnessError.isInstance(error) ? error.code : String(error);
};

const later = () => Date.now() + 60_000;

const inDirectory = async (test: (file: string) => Promise<void>): Promise<void> => {
  await using directory = await temporaryDirectory();
  await test(join(directory.path, "engine.sqlite"));
};

describe("continuations in a file", () => {
  const cases = continuationStoreContract({
    name: "SQLite",
    async open() {
      const directory = await temporaryDirectory();
      const open = () => openContinuationStore({ file: join(directory.path, "engine.sqlite") });
      const [store, other] = [await open(), await open()];
      const dispose = async () => {
        await Promise.all([store.close(), other.close()]);
        await directory[Symbol.asyncDispose]();
      };
      return { store, other, dispose };
    },
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });

  it("outlive who opened the file, with their key, beside conversations in it", () =>
    inDirectory(async (file) => {
      const conversations = await openSqliteStore({ file });
      const before = await openContinuationStore({ file });
      expect(before.key.length).toBe(32);
      await before.keep("used", "u", later());
      await before.keep("kept", "k", later());
      await before.claim("used", later());
      await before.close();
      await before.close();
      expect(await codeOf(before.claim("kept", later()))).toBe("store_closed");
      const after = await openContinuationStore({ file });
      expect(after.key).toEqual(before.key);
      expect(await after.claim("used", later())).toEqual({ status: "used" });
      expect(await after.claim("kept", later())).toEqual({ status: "claimed", data: "k" });
      await after.close();
      await conversations.close();
    }));

  it("are each used by one of many who try at once", () =>
    inDirectory(async (file) => {
      const stores = await Promise.all([1, 2, 3].map(() => openContinuationStore({ file })));
      const [first] = stores;
      expect(stores.map(({ key }) => key)).toEqual(stores.map(() => first?.key));
      await first?.keep("one", 1, later());
      const claims = await Promise.all(
        Array.from({ length: 30 }, (_, index) => stores[index % 3]?.claim("one", later())),
      );
      expect(claims.filter((claim) => claim?.status === "claimed")).toEqual([{ status: "claimed", data: 1 }]);
      await Promise.all(stores.map((store) => store.close()));
    }));

  it("are bounded: the oldest lose what was kept, and none that was used is forgotten before its time", () =>
    inDirectory(async (file) => {
      let now = 1_000;
      const clock = { ...systemClock, now: () => now };
      const store = await openContinuationStore({ file, clock, limits: { maxKept: 2, maxUsed: 2 } });
      for (const id of ["a", "b", "c"]) await store.keep(id, id, 5_000);
      expect(await store.claim("a", 2_000)).toEqual({ status: "claimed" });
      expect(await store.claim("b", 5_000)).toEqual({ status: "claimed", data: "b" });
      expect(await codeOf(store.claim("c", 5_000))).toBe("buffer_full");
      now = 2_000;
      expect(await store.claim("c", 5_000)).toEqual({ status: "claimed", data: "c" });
      expect(await store.claim("b", 5_000)).toEqual({ status: "used" });
      now = 5_000;
      await store.keep("d", "d", 6_000);
      expect(await store.claim("d", 6_000)).toEqual({ status: "claimed", data: "d" });
      await store.close();
    }));

  it("take no room from others: whoever has most loses the oldest", () =>
    inDirectory(async (file) => {
      const store = await openContinuationStore({ file, limits: { maxKept: 3 } });
      await store.keep("ada", 1, later(), "ada");
      for (const id of ["b1", "b2", "b3", "b4"]) await store.keep(id, id, later(), "bob");
      const claims = await Promise.all(["ada", "b1", "b2", "b3", "b4"].map((id) => store.claim(id, later())));
      const data = claims.map((claim) => (claim.status === "claimed" ? claim.data : claim.status));
      expect(data).toEqual([1, undefined, undefined, "b3", "b4"]);
      await store.close();
    }));

  it("refuses limits that are none, and data that is no JSON", () =>
    inDirectory(async (file) => {
      expect(await codeOf(openContinuationStore({ file, limits: { maxKept: 0 } }))).toBe("invalid_argument");
      expect(await codeOf(openContinuationStore({ file, limits: { maxUsed: 1.5 } }))).toBe(
        "invalid_argument",
      );
      const store = await openContinuationStore({ file });
      expect(await codeOf(store.keep("x", Number.NaN, later()))).toBe("invalid_argument");
      expect(await codeOf(store.keep(7 as unknown as string, 1, later()))).toBe("invalid_argument");
      expect(await store.claim("x", later())).toEqual({ status: "claimed" });
      await store.close();
    }));
});
