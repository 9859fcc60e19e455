import { describe, expect, it } from "vitest";
import { AuditEntrySchema } from "../src/entry.ts";
import { type AuditEntryInput, createMemoryAuditSink } from "../src/index.ts";

const recordAll = (entries: readonly unknown[], options = {}) => {
  const sink = createMemoryAuditSink({ limits: options });
  for (const entry of entries) expect(sink.record(entry as AuditEntryInput)).toBeUndefined();
  const recorded = sink.entries();
  expect(recorded).toHaveLength(entries.length);
  for (const entry of recorded) expect(AuditEntrySchema.safeParse(entry).error).toBeUndefined();
  return recorded;
};

const one = (details: unknown, options = {}) => recordAll([{ action: "a.b", details }], options)[0];

describe("details", () => {
  it("are facts: what is no fact is named and not shown, and what is absent is left out", () => {
    const entry = one({
      nested: { text: "content" },
      list: ["content"],
      nothing: undefined,
      nan: Number.NaN,
    });
    expect(entry?.details).toEqual({ nested: "[object]", list: "[object]", nan: null });
  });

  it("may have hostile keys", () => {
    const details = JSON.parse('{"__proto__":"p","constructor":"c","":"e"}');
    expect(Object.entries(one(details)?.details ?? {})).toEqual([
      ["__proto__", "p"],
      ["constructor", "c"],
      ["", "e"],
    ]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe("bounds", () => {
  it("cut long texts visibly", () => {
    const entry = one({ text: "wörter ".repeat(1000) }, { maxStringLength: 50 });
    expect(entry?.details?.text).toBe(`${"wörter ".repeat(1000).slice(0, 50)}… [cut, 7000 characters]`);
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
    for (const options of [{ maxStringLength: 0 }, { maxEntryBytes: 100 }]) {
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
