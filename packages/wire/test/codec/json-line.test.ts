import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrameTooLargeError, InvalidArgumentError, JsonLine, newlineCodec } from "../../src/index.ts";

const codec = newlineCodec({ keepLines: true, maxFrameBytes: 1024 });
const spaced = (value: unknown, space: number): string =>
  JSON.stringify(value, null, space).replaceAll("\n", "\r");

describe("newlineCodec with keepLines", () => {
  it("passes each line on as it came, in any chunks, with its white space and its duplicate members", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.jsonValue({ maxDepth: 3 }), fc.nat(2)), { maxLength: 5 }),
        fc.integer({ min: 1, max: 9 }),
        (values, size) => {
          const lines = [...values.map(([value, space]) => spaced(value, space)), '{"a":1,"a":2}'];
          const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
          const decoder = codec.createDecoder();
          const encoder = codec.createEncoder();
          const read: unknown[] = [];
          for (let at = 0; at < bytes.length; at += size) {
            read.push(...decoder.push(bytes.subarray(at, at + size)));
          }
          for (const line of read) encoder.add(line);
          expect(encoder.take()).toBe(new TextDecoder().decode(bytes));
          expect((read as JsonLine[]).map(({ value }) => value)).toEqual([
            ...values.map(([value]) => JSON.parse(JSON.stringify(value))),
            { a: 2 },
          ]);
        },
      ),
    );
  });

  it("reports what is no message as without it, and refuses a text of two lines or over the limit", () => {
    const encoder = codec.createEncoder();
    expect(codec.createDecoder().push(new TextEncoder().encode("nonsense\n"))).toMatchObject([
      { code: "invalid_message" },
    ]);
    expect(() => encoder.add(new JsonLine("1\n2", 1))).toThrow(InvalidArgumentError);
    expect(() => encoder.add(new JsonLine(`"${"x".repeat(1024)}"`, ""))).toThrow(FrameTooLargeError);
    expect(encoder.take()).toBe("");
  });

  it("has the two ends of a line over the limit in its error, in any chunks", () => {
    const line = `{"id":7,"result":"${"x".repeat(1200)}ü","jsonrpc":"2.0"}`;
    const bytes = new TextEncoder().encode(`${line}\n1\n`);
    for (const size of [1, 600, 1000, 5000]) {
      const decoder = codec.createDecoder();
      const read: unknown[] = [];
      for (let at = 0; at < bytes.length; at += size)
        read.push(...decoder.push(bytes.subarray(at, at + size)));
      expect(read).toMatchObject([{ code: "frame_too_large" }, { value: 1 }]);
      const { first = "", last = "" } = (read[0] as FrameTooLargeError).ends ?? {};
      expect([line.startsWith(first), line.endsWith(last)]).toEqual([true, true]);
      expect([first, last]).toEqual([expect.stringContaining('"id":7'), expect.stringContaining("ü")]);
    }
  });
});
