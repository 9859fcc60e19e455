import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMessageCodec, newlineCodec, withJsonText } from "../../src/index.ts";

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
    ["65 levels", utf8.encode(nested(65)), "too_deep"],
    ["a million levels", utf8.encode(nested(1_000_000)), "too_deep"],
  ])("refuses %s, and reads the next message", (_name, bytes, reason) => {
    const codec = createMessageCodec();
    expect(() => codec.decode(bytes)).toThrow(expect.objectContaining({ code: "invalid_message", reason }));
    expect(codec.decode(utf8.encode(nested(64)))).toHaveLength(1);
  });

  it("bounds the bytes of a message in both directions", () => {
    const codec = createMessageCodec({ maxFrameBytes: 8 });
    const tooLarge = expect.objectContaining({ code: "frame_too_large", maxFrameBytes: 8 });
    expect(codec.encode("éée")).toBe('"éée"');
    expect(() => codec.encode("éééé")).toThrow(tooLarge);
    expect(() => codec.decode(utf8.encode('"éééé"'))).toThrow(tooLarge);
  });

  it.each([
    ["has no JSON", undefined],
    ["has a number that JSON does not know", { a: 1n }],
    ["nests too deeply", JSON.parse(nested(65))],
  ])("does not write what %s", (_name, message) => {
    expect(() => createMessageCodec().encode(message)).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });
});

describe("a message that has its JSON text with it", () => {
  it("is sent as that text by every codec", () => {
    const message = withJsonText({ a: 1 }, '{"a" : 1}');
    expect(createMessageCodec().encode(message)).toBe('{"a" : 1}');
    const lines = newlineCodec().createEncoder();
    lines.add(message);
    expect(lines.take()).toBe('{"a" : 1}\n');
  });

  it("is as any other to everybody else, and so is a copy of it", () => {
    const message = withJsonText({ a: 1 }, "2");
    expect(message).toEqual({ a: 1 });
    expect(Reflect.ownKeys({ ...message })).toEqual(["a"]);
    expect(JSON.stringify(message)).toBe('{"a":1}');
    expect(createMessageCodec().encode({ ...message, b: 2 })).toBe('{"a":1,"b":2}');
  });

  it("is under the limits as any other", () => {
    const deep = JSON.parse(nested(65)) as object;
    expect(() => createMessageCodec().encode(withJsonText(deep, nested(65)))).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
    expect(() => createMessageCodec({ maxFrameBytes: 3 }).encode(withJsonText({}, '"aa"'))).toThrow(
      expect.objectContaining({ code: "frame_too_large" }),
    );
  });
});
