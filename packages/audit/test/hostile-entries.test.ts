import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AuditEntryInput, AuditEntrySchema, createMemoryAuditSink } from "../src/index.ts";

const recordAll = (entries: readonly unknown[], options = {}) => {
  const sink = createMemoryAuditSink({ limits: options });
  for (const entry of entries) expect(sink.record(entry as AuditEntryInput)).toBeUndefined();
  const recorded = sink.entries();
  expect(recorded).toHaveLength(entries.length);
  for (const entry of recorded) expect(AuditEntrySchema.safeParse(entry).error).toBeUndefined();
  return recorded;
};

const one = (details: unknown, options = {}) => recordAll([{ action: "a.b", details }], options)[0];

const throwing = {
  get boom(): string {
    throw new RangeError("no");
  },
};

describe("details that are not flat", () => {
  it("are flattened to keys with dots", () => {
    expect(one({ a: { b: { c: 1 }, d: [true, null] }, e: "x" })?.details).toEqual({
      "a.b.c": 1,
      "a.d.0": true,
      "a.d.1": null,
      e: "x",
    });
  });

  it("end at the depth that is allowed, visibly", () => {
    const entry = one({ a: { b: { c: { d: 1 } } }, list: [[[[1]]]] }, { maxDepth: 2 });
    expect(entry?.details).toEqual({ "a.b.c": "[object]", "list.0.0": "[array]" });
    expect(entry?.marks).toEqual(["cut"]);
  });

  it("may be cyclic", () => {
    const cycle: Record<string, unknown> = { name: "x" };
    cycle.self = cycle;
    const entry = one({ cycle }, { maxDepth: 10 });
    expect(entry?.details).toEqual({ "cycle.name": "x", "cycle.self": "[cyclic]" });
    expect(entry?.marks).toEqual(["invalid"]);
  });

  it("may hold what JSON has no word for, and never show content", () => {
    const entry = one({
      big: 10n ** 20n,
      huge: 10n ** 100_000n,
      nan: Number.NaN,
      infinite: Number.NEGATIVE_INFINITY,
      symbol: Symbol("s"),
      run: () => 1,
      nothing: undefined,
      date: new Date(0),
      never: new Date(Number.NaN),
      bytes: new Uint8Array([115, 101, 99]),
      map: new Map([["a", "content"]]),
      error: new RangeError("content"),
    });
    expect(entry?.details).toEqual({
      big: "100000000000000000000",
      huge: "[large number]",
      nan: "NaN",
      infinite: "-Infinity",
      symbol: "[symbol]",
      run: "[function]",
      date: "1970-01-01T00:00:00.000Z",
      never: "[invalid date]",
      bytes: "[3 bytes]",
      map: "[1 entries]",
      error: "[RangeError]",
    });
    expect(entry?.marks).toEqual(["cut", "invalid"]);
  });

  it("may be unreadable", () => {
    const proxy = new Proxy(
      {},
      {
        ownKeys() {
          throw new RangeError("no");
        },
      },
    );
    const entries = recordAll([
      { action: "a.b", details: throwing },
      { action: "a.b", details: { ok: 1, inner: throwing } },
      { action: "a.b", details: proxy },
      { action: "a.b", details: { proxy } },
    ]);
    expect(entries.map(({ details }) => details)).toEqual([
      { boom: "[unreadable]" },
      { ok: 1, "inner.boom": "[unreadable]" },
      {},
      { proxy: "[unreadable]" },
    ]);
    for (const { marks } of entries) expect(marks).toEqual(["unreadable"]);
  });

  it("may have hostile keys, and none is lost to another", () => {
    const details = JSON.parse('{"__proto__":{"polluted":1},"constructor":"c","":"e","a":{"b":1},"a.b":2}');
    const entry = one(details);
    expect(Object.entries(entry?.details ?? {})).toEqual([
      ["(proto).polluted", 1],
      ["constructor", "c"],
      ["(empty)", "e"],
      ["a.b", 1],
      ["a.b~2", 2],
    ]);
    expect(entry?.marks).toEqual(["invalid"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("that are no object are left out, and said so", () => {
    for (const details of ["text", 5, null, true]) {
      const entry = one(details);
      expect(entry).not.toHaveProperty("details");
      expect(entry?.marks).toEqual(["invalid"]);
    }
  });
});

describe("bounds", () => {
  it("cut long texts visibly", () => {
    const entry = one({ text: "wörter ".repeat(1000) }, { maxStringLength: 50 });
    expect(entry?.details?.text).toBe(`${"wörter ".repeat(1000).slice(0, 50)}… [cut, 7000 characters]`);
    expect(entry?.marks).toEqual(["cut"]);
  });

  it("keep so many keys", () => {
    const details = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key_${index}`, index]));
    const entry = one(details, { maxKeys: 5 });
    expect(Object.keys(entry?.details ?? {})).toEqual(["key_0", "key_1", "key_2", "key_3", "key_4"]);
    expect(entry?.marks).toEqual(["cut"]);
  });

  it("keep every line within its bytes, whatever is in it", () => {
    const long = "\u0000\u202e".repeat(400);
    const ids = [
      "agent_id",
      "tool_id",
      "call_id",
      "session_id",
      "request_id",
      "correlation_id",
      "causation_id",
    ];
    const entry = {
      action: "a.b",
      actor: { type: long, id: long },
      ...Object.fromEntries(ids.map((id) => [id, long])),
      details: Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`${index}${long}`, long])),
    };
    const [recorded] = recordAll([entry], { maxEntryBytes: 4096 });
    expect(Buffer.byteLength(JSON.stringify(recorded))).toBeLessThan(4096);
    expect(recorded).not.toHaveProperty("details");
    expect(recorded?.agent_id).toMatch(/ \[cut, 800 characters\]$/);
    expect(recorded?.marks).toEqual(["cut"]);
  });

  it("are refused where they make no sense", () => {
    for (const options of [
      { maxStringLength: 0 },
      { maxKeys: -1 },
      { maxDepth: 1.5 },
      { maxEntryBytes: 100 },
    ]) {
      expect(() => createMemoryAuditSink({ limits: options })).toThrowError(
        expect.objectContaining({ name: "InvalidArgumentError", code: "invalid_argument" }),
      );
    }
  });

  it("keep the memory sink to its entries, and count the others", async () => {
    const sink = createMemoryAuditSink({ limits: { maxEntries: 3 }, clock: () => 5 });
    for (let index = 1; index <= 10; index++) sink.record({ action: `a.n${index}` });
    expect(sink.entries().map(({ seq, action }) => `${seq} ${action}`)).toEqual([
      "8 a.n8",
      "9 a.n9",
      "10 a.n10",
    ]);
    expect(sink.dropped).toBe(7);
    await sink.flush();
    await sink.close();
    sink.record({ action: "a.late" });
    expect(sink.dropped).toBe(8);
    expect(sink.entries()).toHaveLength(3);
  });
});

describe("entries that are none", () => {
  it("are recorded with a mark", () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const entries = recordAll([
      undefined,
      null,
      "text",
      {},
      { action: 5 },
      { action: "Not An Action" },
      { action: "audit.closed" },
      { action: "a".repeat(100_000) },
      revoked.proxy,
    ]);
    for (const { action, marks } of entries) {
      expect(action).toBe("audit.invalid");
      expect(marks).toContain("invalid");
    }
  });

  it("keep what of them can be used", () => {
    const [entry] = recordAll([
      {
        action: "tool.call",
        outcome: "splendid",
        actor: { type: "user", id: 5 },
        agent_id: 17,
        tool_id: "",
        call_id: "c1",
        duration_ms: -1,
      },
    ]);
    expect(entry).toMatchObject({
      action: "tool.call",
      actor: { type: "user", id: "unknown" },
      agent_id: "17",
      call_id: "c1",
      marks: ["invalid"],
    });
    expect(entry).not.toHaveProperty("outcome");
    expect(entry).not.toHaveProperty("duration_ms");
    expect(entry).not.toHaveProperty("tool_id");
  });

  it("may have getters that throw", () => {
    const entry = {
      action: "tool.call",
      call_id: "c1",
      get agent_id(): string {
        throw new RangeError("no");
      },
      actor: {
        type: "user",
        get id(): string {
          throw new RangeError("no");
        },
      },
    };
    const [recorded] = recordAll([entry]);
    expect(recorded).toMatchObject({
      action: "tool.call",
      call_id: "c1",
      actor: { type: "user", id: "unknown" },
    });
    expect(recorded?.marks).toEqual(["unreadable", "invalid"]);
  });

  it("never throw and always make a valid line, whatever they are", () => {
    const value = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
    });
    const entry = fc.oneof(
      value,
      fc.record(
        {
          action: fc.oneof(fc.constant("tool.call"), fc.string()),
          details: value,
          agent_id: value,
          actor: value,
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 5 }), (entries) => {
        recordAll(entries);
      }),
      { numRuns: 1000 },
    );
  });

  it("survive a clock that throws or is wrong", () => {
    for (const clock of [() => Number.NaN, () => -1, () => 1e20]) {
      const sink = createMemoryAuditSink({ clock });
      sink.record({ action: "a.b" });
      expect(sink.entries()[0]?.time).toBe("1970-01-01T00:00:00.000Z");
    }
    const sink = createMemoryAuditSink({
      clock: () => {
        throw new RangeError("no clock");
      },
    });
    sink.record({ action: "a.b" });
    expect(sink.entries()).toHaveLength(1);
  });
});

describe("texts", () => {
  it("come back as they were", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40, unit: "binary" }), (text) => {
        fc.pre(createMemoryAuditSink() !== undefined && !/[=:@%+\s]|\p{Cs}/u.test(text));
        expect(one({ key: text })?.details).toEqual({ key: text });
      }),
    );
  });
});
