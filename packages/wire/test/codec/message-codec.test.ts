import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMessageCodec } from "../../src/index.ts";

const utf8 = new TextEncoder();
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

describe("a codec of whole messages", () => {
  it("reads back what it wrote", () => {
    const codec = createMessageCodec();
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (message) => {
        expect(codec.decode(utf8.encode(codec.encode(message)))).toEqual(JSON.parse(JSON.stringify(message)));
      }),
    );
  });

  it.each([
    ["nothing", new Uint8Array(0), "not_json"],
    ["half a message", utf8.encode('{"a":'), "not_json"],
    ["two messages", utf8.encode("1 2"), "not_json"],
    ["a byte order mark", utf8.encode("\ufeff1"), "not_json"],
    ["what is not UTF-8", new Uint8Array([0x22, 0xc3, 0x28, 0x22]), "not_utf8"],
    ["81 levels", utf8.encode(nested(81)), "too_deep"],
    ["a million levels", utf8.encode(nested(1_000_000)), "too_deep"],
  ])("refuses %s, and reads the next message", (_name, bytes, reason) => {
    const codec = createMessageCodec();
    expect(() => codec.decode(bytes)).toThrow(expect.objectContaining({ code: "invalid_message", reason }));
    expect(codec.decode(utf8.encode(nested(80)))).toHaveLength(1);
  });

  it("bounds the bytes of a message in both directions", () => {
    const codec = createMessageCodec({ maxFrameBytes: 8 });
    const tooLarge = expect.objectContaining({ code: "frame_too_large", maxFrameBytes: 8 });
    expect(codec.encode("éée")).toBe('"éée"');
    expect(() => codec.encode("éééé")).toThrow(tooLarge);
    expect(() => codec.decode(utf8.encode('"éééé"'))).toThrow(tooLarge);
  });
});
