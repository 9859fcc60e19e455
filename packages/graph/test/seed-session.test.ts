import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { createMemoryStore, StoreError } from "../src/index.ts";
import { seedSession } from "../src/testing/index.ts";
import { line, logs } from "./support/graphs.ts";

describe("seedSession", () => {
  it("puts a session into a store as if an earlier run had left it there", async () => {
    const store = createMemoryStore({ clock: createManualClock() });
    const record = await seedSession(store, { sessionId: "s", state: { log: ["before"], count: 4 } });
    expect(record).toMatchObject({
      session_id: "s",
      schema_version: "",
      state: { log: ["before"], count: 4 },
    });
    const graph = line({ a: logs("a"), b: ({ count }) => ({ count: count + 1 }) }, { store });
    const { state } = await graph.invoke({ sessionId: "s" });
    expect(state).toEqual({ log: ["before", "a"], count: 5, approved: null });
    expect((await graph.invoke({ sessionId: "s" })).state.log).toEqual(["before", "a", "a"]);
  });

  it("rejects as the store does, and for what is no JSON", async () => {
    const store = createMemoryStore({ limits: { maxSessions: 1 } });
    await seedSession(store, { sessionId: "s", state: {} });
    const full = seedSession(store, { sessionId: "t", state: {} });
    await expect(full).rejects.toBeInstanceOf(StoreError);
    await expect(full).rejects.toMatchObject({ code: "store_full" });
    const wrong = { count: 1n } as never;
    await expect(seedSession(store, { sessionId: "s", state: wrong })).rejects.toBeInstanceOf(TypeError);
  });
});
