import type { StateRecord } from "@harnesskit/ahp-server";
import { stateStoreContract } from "@harnesskit/ahp-server/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProxy } from "./support/proxy.ts";
import { newSchema } from "./support/schema.ts";

let schema: Awaited<ReturnType<typeof newSchema>>;
beforeAll(async () => {
  schema = await newSchema();
});
afterAll(() => schema[Symbol.asyncDispose]());

const record = (second: number): StateRecord => ({
  kind: "run_lifecycle",
  owner: "",
  agent_id: "agent",
  payload: {
    ...{ run_id: "r", session_id: "s", status: "executing", prompt: "p" },
    updated_at: new Date(1_700_000_000_000 + second * 1000).toISOString(),
  },
});

describe("the contract of stores of the state of runs", () => {
  const cases = stateStoreContract({
    name: "PostgreSQL",
    async open() {
      const store = await schema.open();
      const reopen = () => store.openRunState("harness");
      return { store: await reopen(), reopen, dispose: () => schema.clear() };
    },
  });
  it.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe("the state of runs in PostgreSQL", () => {
  it("is that of one server: one that another has followed is refused, and loses nothing of the other's", async () => {
    const store = await schema.open();
    const [first, other] = [await store.openRunState("a"), await store.openRunState("b")];
    first.append(record(1));
    other.append(record(2));
    await Promise.all([first.kept?.(), other.kept?.()]);
    const next = await store.openRunState("a");
    next.append(record(3));
    await next.kept?.();
    first.append(record(4));
    await expect(first.kept?.()).rejects.toMatchObject({ name: "StateStoreError", code: "state_not_kept" });
    expect(() => first.append(record(5))).toThrow(expect.objectContaining({ code: "state_not_kept" }));
    expect([...(await store.openRunState("a")).load()]).toEqual([record(1), record(3)]);
    await schema.clear();
  });

  it("is refused where another server has written since it was loaded: what that one was answered stays", async () => {
    const store = await schema.open();
    const old = await store.openRunState("a");
    old.append(record(1));
    await old.kept?.();
    const [next, fresh] = [await store.openRunState("a"), await store.openRunState("b")];
    old.append(record(2));
    await old.kept?.();
    next.replace([record(3)]);
    await expect(next.kept?.()).rejects.toMatchObject({
      ...{ name: "StateStoreError", code: "state_not_kept" },
      message: expect.stringContaining("another server has written since this was opened"),
    });
    expect(() => next.append(record(4))).toThrow(expect.objectContaining({ code: "state_not_kept" }));
    // The old one goes on, and so does a name that had nothing when it was opened.
    old.append(record(5));
    fresh.append(record(6));
    await Promise.all([old.kept?.(), fresh.kept?.()]);
    expect([...(await store.openRunState("a")).load()]).toEqual([record(1), record(2), record(5)]);
    const states = await schema.run("SELECT epoch, last FROM store.run_states ORDER BY name");
    expect(states).toEqual([
      { epoch: "1", last: "3" },
      { epoch: "1", last: "1" },
    ]);
    await schema.clear();
  });

  it("is written in order once the database is back", async () => {
    await using proxy = await startProxy(schema.url);
    const store = await schema.open({ url: proxy.url, limits: { maxAttempts: 1 } });
    const state = await store.openRunState("a");
    state.append(record(1));
    await state.kept?.();
    proxy.cut("run_state_records", "before");
    state.append(record(2));
    state.append(record(3));
    await expect(state.kept?.()).rejects.toMatchObject({ code: "state_not_kept" });
    await expect
      .poll(() =>
        state.kept?.().then(
          () => "kept",
          () => "not yet",
        ),
      )
      .toBe("kept");
    expect([...(await store.openRunState("a")).load()]).toEqual([record(1), record(2), record(3)]);
    await schema.clear();
  });
});
