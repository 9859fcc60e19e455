import { join } from "node:path";
import { isList, type StoredList, type StoredSession } from "@harnesskit/graph";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { openSqliteStore } from "../src/index.ts";
import { failed, outcomeOf } from "./support/outcome.ts";
import { pause, plain, whole } from "./support/samples.ts";

const hostileTexts = [
  "",
  "\0",
  "a\0b",
  "\ud800",
  "x\udc00y",
  '"',
  '"quoted"',
  "__proto__",
  "é\u2028😀",
  "'; DROP TABLE x",
];
/** An object whose own keys are those of the parsed text, `__proto__` too. */
const parsed = (text: string) => JSON.parse(text) as Record<string, JsonValue>;
const invalid = { name: "InvalidArgumentError", code: "invalid_argument" };

const openTwo = async (limits: { readonly maxValueLength?: number } = {}) => {
  const directory = await temporaryDirectory();
  const open = () => openSqliteStore({ file: join(directory.path, "store.db"), limits });
  const [one, other] = [await open(), await open()];
  return {
    one,
    other,
    async [Symbol.asyncDispose]() {
      await one.close();
      await other.close();
      await directory[Symbol.asyncDispose]();
    },
  };
};

describe("hostile values", () => {
  it("are told apart as ids, and come back as they were", async () => {
    await using both = await openTwo();
    const { one, other } = both;
    for (const [index, text] of hostileTexts.entries()) {
      const metadata = { [text]: text };
      await one.commit({
        session: whole(text, { index, messages: [text] }, { schemaVersion: text }),
        suspension: pause(text, {
          session_id: text,
          descriptor: { signal_id: text, metadata },
          result: text,
        }),
      });
      const lease = await one.leases.acquire(`k${text}`, { ttlMs: 60_000 });
      expect(await outcomeOf(other.leases.acquire(`k${text}`, { ttlMs: 1 }))).toMatchObject({
        code: "lease_taken",
      });
      await one.commit({ leases: [lease] });
    }
    for (const [index, text] of hostileTexts.entries()) {
      const session = await other.sessions.load(text);
      expect(session).toMatchObject({ session_id: text, schema_version: text });
      expect(plain(session)).toEqual({ index, messages: [text] });
      const suspension = await other.suspensions.load(text);
      expect(suspension).toMatchObject({ invocation_id: text, session_id: text, result: text });
      expect(JSON.stringify(suspension?.descriptor.metadata)).toBe(JSON.stringify({ [text]: text }));
      for (const filter of [{ signalId: text }, { sessionId: text }]) {
        expect((await other.suspensions.list(filter)).map((entry) => entry.invocation_id)).toEqual([text]);
      }
    }
    for (const text of hostileTexts) {
      await one.sessions.delete(text);
      await one.suspensions.delete(text);
    }
    expect([await other.sessions.list(), await other.suspensions.list()]).toEqual([[], []]);
  });

  it("come back as they were as names of fields and in values, and change no prototype", async () => {
    await using both = await openTwo();
    const state = parsed(
      '{"__proto__":{"polluted":true},"constructor":[{"__proto__":[1]}],"toString":"x","a\\u0000b":[],"\\ud800":1.5e-300,"n":1e308}',
    );
    await both.one.sessions.save(whole("s", state));
    for (const store of [both.one, both.other]) {
      const loaded = await store.sessions.load("s");
      const text = JSON.stringify(Object.entries(loaded?.state ?? {}).sort());
      expect(text).toBe(JSON.stringify(Object.entries(state).sort()));
      expect(Object.getPrototypeOf(loaded?.state)).toBe(Object.prototype);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      expect(isList(loaded?.state.constructor)).toBe(true);
    }
  });

  it("are frozen, whether they are read or remembered", async () => {
    await using both = await openTwo();
    await both.one.sessions.save(
      whole("s", { field: { deep: [{ a: 1 }] }, messages: [{ content: [{ b: 1 }] }] }),
    );
    const loaded = await both.other.sessions.load("s");
    const state = (loaded as StoredSession).state;
    const field = state.field as unknown as { deep: [{ a: number }] };
    const message = (state.messages as StoredList).at(0) as unknown as { content: [{ b: number }] };
    for (const value of [state, field, field.deep, field.deep[0], message, message.content[0]]) {
      expect(Object.isFrozen(value)).toBe(true);
    }
    // What is remembered is given again, not read again.
    expect(await both.other.sessions.load("s")).toBe(loaded);
  });

  it("are refused where JSON cannot keep them, and nothing is written", async () => {
    await using both = await openTwo();
    const circle: JsonValue[] = [];
    circle.push(circle);
    const wrong: unknown[] = [
      Number.POSITIVE_INFINITY,
      Number.NaN,
      10n,
      () => 1,
      Symbol("x"),
      new Date(0),
      new Map(),
      [undefined],
      { a: { b: [Number.NEGATIVE_INFINITY] } },
      circle,
    ];
    for (const value of wrong as JsonValue[]) {
      expect(await outcomeOf(both.one.sessions.save(whole("s", { field: { value } })))).toEqual(invalid);
      expect(await outcomeOf(both.one.sessions.save(whole("s", { messages: [1, value] })))).toEqual(invalid);
      expect(await outcomeOf(both.one.suspensions.save(pause("i", { result: value })))).toEqual(invalid);
    }
    const ids = [undefined, null, 1, true, {}, 10n] as unknown as string[];
    for (const id of ids) {
      expect(await outcomeOf(both.one.sessions.load(id))).toEqual(invalid);
      expect(await outcomeOf(both.one.sessions.save(whole(id, {})))).toEqual(invalid);
      expect(await outcomeOf(both.one.suspensions.load(id))).toEqual(invalid);
    }
    expect([await both.one.sessions.list(), await both.one.suspensions.list()]).toEqual([[], []]);
  });

  it("are the same for who wrote them and for others: -0 is 0, what is undefined is absent", async () => {
    await using both = await openTwo();
    const field = { zero: -0, gone: undefined } as unknown as JsonValue;
    await both.one.sessions.save(whole("s", { field, messages: [-0] }));
    for (const store of [both.one, both.other]) {
      const { state } = (await store.sessions.load("s")) as StoredSession;
      expect(Object.entries(state.field as object)).toEqual([["zero", 0]]);
      expect((state.messages as StoredList).at(0)).toBe(0);
    }
  });

  it("may be huge, up to maxValueLength", async () => {
    await using both = await openTwo({ maxValueLength: 1_000_000 });
    const text = "ü\0".repeat(130_000);
    await both.one.sessions.save(whole("s", { messages: [text, "small"], field: text }));
    expect(plain(await both.other.sessions.load("s"))).toEqual({ messages: [text, "small"], field: text });
    const tooLarge = "x".repeat(1_000_001);
    const refused = failed("too_large", "store_full");
    expect(await outcomeOf(both.one.sessions.save(whole("t", { messages: ["ok", tooLarge] })))).toEqual(
      refused,
    );
    expect(await outcomeOf(both.one.sessions.save(whole("t", { field: tooLarge })))).toEqual(refused);
    expect(await outcomeOf(both.one.sessions.save(whole(tooLarge, {})))).toEqual(refused);
    expect(await outcomeOf(both.one.suspensions.save(pause("i", { result: tooLarge })))).toEqual(refused);
    expect((await both.one.sessions.list()).map((entry) => entry.session_id)).toEqual(["s"]);
  });

  it("are refused where they are nested too deeply, and kept where they are nearly so", async () => {
    await using both = await openTwo();
    const nested = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth)) as JsonValue;
    await both.one.sessions.save(whole("s", { messages: [nested(60)] }));
    expect(plain(await both.other.sessions.load("s"))).toEqual({ messages: [nested(60)] });
    expect(await outcomeOf(both.one.sessions.save(whole("s", { messages: [nested(100_000)] })))).toEqual(
      invalid,
    );
  });

  it("are refused as changes that do not fit what is stored", async () => {
    await using both = await openTwo();
    const { version } = await both.one.sessions.save(whole("s", { messages: [1, 2] }));
    for (const keep of [3, -1, 0.5, Number.NaN]) {
      const changes = { fields: {}, lists: { messages: { keep, items: [9] } }, removed: [] };
      const write = whole("s", { messages: [9] }, { baseVersion: version, changes });
      expect(await outcomeOf(both.one.sessions.save(write))).toEqual(invalid);
    }
    expect(plain(await both.one.sessions.load("s"))).toEqual({ messages: [1, 2] });
  });
});
