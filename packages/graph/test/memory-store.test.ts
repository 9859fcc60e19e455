import { InvalidArgumentError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { createMemoryStore, StoreError, TableLeases } from "../src/index.ts";
import { graphStoreContract } from "../src/testing/index.ts";
import { firstWrite, pausePut } from "../src/testing/store-samples.ts";

const cases = graphStoreContract({
  name: "memory",
  open: () => ({ store: createMemoryStore(), dispose() {} }),
});

describe("the contract of stores", () => {
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

it("releases a lease that was asked for before the store closed, and refuses it", async () => {
  const released: unknown[] = [];
  const leases = new TableLeases(
    {
      take: async () => ({ fence: 1 }),
      renew() {},
      release: (proof) => void released.push(proof),
    },
    { clock: createManualClock() },
  );
  const asked = leases.acquire("k", { ttlMs: 1000 });
  expect(leases.close()).toEqual([]);
  await expect(asked).rejects.toMatchObject({ name: "StoreError", code: "store_closed" });
  expect(released).toEqual([{ key: "k", fence: 1 }]);
});

const codeOf = (error: unknown): string | undefined => (error instanceof StoreError ? error.code : undefined);

describe("the limits of the store in memory", () => {
  it("are refused when they are out of range", () => {
    for (const limits of [{ maxSessions: 0 }, { maxHistory: 1.5 }, { maxEnded: -1 }]) {
      expect(() => createMemoryStore({ limits })).toThrow(InvalidArgumentError);
    }
  });

  it("refuses a session too many, and still writes those that it has", async () => {
    const store = createMemoryStore({ limits: { maxSessions: 1 } });
    await store.sessions.save(firstWrite("a", { list: [1] }));
    const refused = await store.sessions.save(firstWrite("b", {})).catch((error: unknown) => error);
    expect(codeOf(refused)).toBe("store_full");
    await store.sessions.save(firstWrite("a", { list: [2] }));
    expect(await store.sessions.load("b")).toBeNull();
  });

  it("refuses a suspension too many until one has ended, and forgets the oldest that have", async () => {
    const store = createMemoryStore({ limits: { maxSuspensions: 2, maxEnded: 1 } });
    await store.suspensions.save(pausePut("a"));
    await store.suspensions.save(pausePut("b"));
    const refused = await store.suspensions.save(pausePut("c")).catch((error: unknown) => error);
    expect(codeOf(refused)).toBe("store_full");
    for (const invocationId of ["a", "b"]) {
      await store.suspensions.save({ kind: "patch", invocationId, status: "completed" });
    }
    await store.suspensions.save(pausePut("c"));
    expect((await store.suspensions.list()).map((entry) => entry.invocation_id)).toEqual(["b", "c"]);
  });

  it("remembers what has ended and is not delivered, however many there are", async () => {
    const store = createMemoryStore({ limits: { maxEnded: 1 } });
    for (const invocationId of ["a", "b", "c"]) {
      await store.suspensions.save(pausePut(invocationId));
      await store.suspensions.save({
        kind: "patch",
        invocationId,
        status: "errored",
        result: 1,
        isDelivered: false,
      });
    }
    expect(await store.suspensions.list({ isDelivered: false })).toHaveLength(3);
  });
});

describe("a lease of the store in memory", () => {
  it("is neither lost nor kept longer when the time of the system jumps", async () => {
    const clock = createManualClock();
    const store = createMemoryStore({ clock });
    const lease = await store.leases?.acquire("k", { ttlMs: 1000 });
    clock.correct(3_600_000);
    await lease?.renew();
    const other = store.leases?.acquire("k", { ttlMs: 1000, waitMs: 0 });
    await expect(other).rejects.toMatchObject({ code: "lease_taken" });
    clock.correct(-7_200_000);
    clock.advance(1001);
    expect(await store.leases?.acquire("k", { ttlMs: 1000, waitMs: 0 })).toBeDefined();
    await store.close();
  });
});
