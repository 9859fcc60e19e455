import { expect, it, vi } from "vitest";
import { createMemoryStore, type GraphStore } from "../src/index.ts";
import { line } from "./support/graphs.ts";

it("a store whose leases throw at once makes nothing fail but the renewal", async () => {
  const inner = createMemoryStore();
  const fail = () => {
    throw new TypeError("not even a promise");
  };
  let renewals = 0;
  const store: GraphStore = {
    ...inner,
    leases: {
      acquire: async (key, options) => ({
        ...(await inner.leases.acquire(key, { ...options, ttlMs: 60_000 })),
        renew: () => {
          renewals++;
          return fail();
        },
        release: fail,
      }),
    },
  };
  const session = { concurrency: "lease", leaseTtlMs: 6 } as const;
  const graph = line(
    {
      a: async () => {
        await vi.waitFor(() => expect(renewals).toBeGreaterThan(1));
      },
    },
    { store, session },
  );
  expect(await graph.invoke({ sessionId: "s" })).toMatchObject({ outcome: "completed" });
});
