import { describe, expect, it, vi } from "vitest";
import { createMemoryStore, errorCategory, GraphError, type GraphStore } from "../src/index.ts";
import { failure, line } from "./support/graphs.ts";

const throwing = (name: string) =>
  Object.defineProperty(new TypeError("odd"), name, {
    get() {
      throw new RangeError(`${name} cannot be read`);
    },
  });

describe("What a node throws", () => {
  it.each<[string, unknown]>([
    ["a message that is no text", Object.assign(new TypeError("odd"), { message: { code: 1 } })],
    ["a message that cannot be made a text", Object.assign(new TypeError("odd"), { message: Symbol("odd") })],
    ["a message that cannot be read", throwing("message")],
    ["a category that cannot be read", throwing("category")],
    ["a cause that cannot be read", throwing("cause")],
  ])("with %s is a node_exception with it as the cause, and ends a resumed run", async (_, error) => {
    const store = createMemoryStore();
    const graph = line(
      {
        wait: (_state, { suspend }) => suspend({ signal_id: "x" }),
        fail: () => {
          throw error;
        },
      },
      { store },
    );
    const paused = await graph.invoke();
    const failed = await failure(graph.invoke({ resumeInvocation: paused.invocation_id, signalPayload: {} }));
    expect(failed).toBeInstanceOf(GraphError);
    expect(failed).toMatchObject({ code: "node_exception", node_name: "fail" });
    expect(failed.cause).toBe(error);
    expect(failed.message).toMatch(/^fail: \w/);
    expect(errorCategory(failed)).toBeNull();
    expect(await store.suspensions.load(paused.invocation_id)).toMatchObject({ status: "errored" });
  });
});

describe("A store whose leases throw at once", () => {
  it("makes nothing fail but the renewal", async () => {
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
});
