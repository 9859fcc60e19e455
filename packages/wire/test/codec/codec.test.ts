import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { runs } from "../../../../test-kit/nightly.ts";
import { ByteBuffer } from "../../src/codec/byte-buffer.ts";
import type { CodecOptions } from "../../src/codec/codec.ts";
import {
  type Codec,
  FrameTooLargeError,
  HarnessError,
  type InvalidMessageError,
  lengthPrefixCodec,
  newlineCodec,
} from "../../src/index.ts";

const utf8 = new TextEncoder();
const codecs: [string, (options?: CodecOptions) => Codec][] = [
  ["newlineCodec", newlineCodec],
  ["lengthPrefixCodec", lengthPrefixCodec],
];

const encode = (codec: Codec, messages: readonly unknown[]): Uint8Array => {
  const encoder = codec.createEncoder();
  for (const message of messages) encoder.add(message);
  const bytes = encoder.take();
  return typeof bytes === "string" ? utf8.encode(bytes) : bytes;
};

/** Pushes the bytes in pieces of these sizes, again and again. */
const decode = (
  codec: Codec,
  bytes: Uint8Array,
  sizes: readonly number[] = [bytes.length || 1],
): unknown[] => {
  const decoder = codec.createDecoder();
  const out: unknown[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    // A buffer of its own that is overwritten afterwards: a decoder must not keep what it was lent.
    const chunk = bytes.slice(at, at + size);
    out.push(...decoder.push(chunk));
    chunk.fill(0xff);
    at += size;
  }
  out.push(...decoder.end());
  return out;
};

const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 10 });
const frame = (payload: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(4 + payload.length);
  new DataView(bytes.buffer).setUint32(0, payload.length);
  bytes.set(payload, 4);
  return bytes;
};

describe.each(codecs)("%s", (_name, make) => {
  it("gives back any messages, in any chunks", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), sizes, (messages, chunks) => {
        const expected = messages.map((message) => JSON.parse(JSON.stringify(message)) as unknown);
        const bytes = encode(make(), messages);
        expect(decode(make(), bytes, [1])).toEqual(expected);
        expect(decode(make(), bytes)).toEqual(expected);
        expect(decode(make(), bytes, chunks)).toEqual(expected);
      }),
    );
  });

  it("never throws on any bytes, and gives the same whatever the chunks are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), sizes, (bytes, chunks) => {
        const shape = (entries: unknown[]) =>
          entries.map((entry) =>
            HarnessError.isInstance(entry) ? [entry.code, (entry as InvalidMessageError).reason] : entry,
          );
        const options = { maxFrameBytes: 64 };
        const whole = decode(make(options), bytes);
        expect(shape(decode(make(options), bytes, chunks))).toEqual(shape(whole));
        for (const entry of whole) {
          if (HarnessError.isInstance(entry))
            expect(["invalid_message", "frame_too_large"]).toContain(entry.code);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it("reads a character that is split between chunks", () => {
    const bytes = encode(make(), ["é🚀\u2028"]);
    for (let at = 1; at < bytes.length; at++) {
      expect(decode(make(), bytes, [at, bytes.length])).toEqual(["é🚀\u2028"]);
    }
  });

  it("sends and receives a message of exactly the limit, and refuses one more byte, in every chunking", () => {
    for (const limit of [2, 3, 16, 1000]) {
      const fits = "x".repeat(limit - 2);
      const large = "x".repeat(limit - 1);
      expect(decode(make({ maxFrameBytes: limit }), encode(make({ maxFrameBytes: limit }), [fits]))).toEqual([
        fits,
      ]);
      expect(() => encode(make({ maxFrameBytes: limit }), [large])).toThrow(
        expect.objectContaining({ code: "frame_too_large", maxFrameBytes: limit }),
      );
      const bytes = encode(make(), [large]);
      for (let size = 1; size <= Math.min(bytes.length, 40); size++) {
        const [refusal, ...more] = decode(make({ maxFrameBytes: limit }), bytes, [size]);
        expect(refusal).toBeInstanceOf(FrameTooLargeError);
        expect(refusal).toMatchObject({ code: "frame_too_large", maxFrameBytes: limit });
        expect(more).toEqual([]);
      }
    }
  });

  it("bounds the depth, to the level", () => {
    const nested = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth)) as unknown;
    const objects = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`) as unknown;
    for (const make_ of [nested, objects]) {
      const deeper = make({ maxDepth: 100 });
      expect(decode(make(), encode(make(), [make_(80)]))).toEqual([make_(80)]);
      const [refusal] = decode(make(), encode(deeper, [make_(81)]));
      expect(refusal).toMatchObject({ code: "invalid_message", reason: "too_deep" });
      expect(decode(make({ maxDepth: 3 }), encode(make(), [make_(3), make_(4), 1]))).toMatchObject([
        make_(3),
        { reason: "too_deep" },
        1,
      ]);
    }
  });

  it("bounds the depth of a large message too, brackets in texts left aside", () => {
    const padding = `${"[{".repeat(40_000)}\\"\\\\`;
    const deep = (depth: number) => [padding, JSON.parse("[".repeat(depth) + "]".repeat(depth)) as unknown];
    expect(decode(make(), encode(make(), [deep(79)]))).toEqual([deep(79)]);
    const bytes = encode(make({ maxDepth: 100 }), [deep(80), 1]);
    expect(decode(make(), bytes)).toMatchObject([{ reason: "too_deep" }, 1]);
  });

  it("refuses to write what the other side would find too deep, and only that", () => {
    const deep = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`) as unknown;
    const encoder = make().createEncoder();
    let refusal: unknown;
    try {
      encoder.add(deep(81));
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: "invalid_argument", name: "InvalidArgumentError" });
    expect(encoder.pending).toBe(0);
    // What counts is the JSON, not the object.
    const short = { toJSON: () => "short", hidden: deep(100) };
    expect(decode(make(), encode(make(), [[short, "x".repeat(200)]]))).toEqual([["short", "x".repeat(200)]]);
  });

  it("reads no further than 1000 in a row that are no messages", () => {
    const junk = (count: number) => {
      const texts = Array.from({ length: count }, () => utf8.encode("y"));
      return texts.flatMap((text) => [...(make === newlineCodec ? [...text, 10] : frame(text))]);
    };
    const decoder = make().createDecoder();
    const one = [...encode(make(), [{ a: 1 }])];
    expect(decoder.push(new Uint8Array([...junk(1000), ...one, ...junk(1000)]))).toHaveLength(2001);
    expect(decoder.broken).toBe(false);
    const [last, flood, ...more] = decoder.push(new Uint8Array([...junk(1), ...one, ...junk(5)]));
    expect(last).toMatchObject({ code: "invalid_message", reason: "not_json" });
    expect(flood).toMatchObject({ code: "invalid_message", reason: "faults_in_a_row" });
    expect(more).toEqual([]);
    expect(decoder.broken).toBe(true);
    expect(decoder.push(new Uint8Array(one))).toEqual([]);
    expect(decoder.end()).toEqual([]);
  });

  it("keeps hostile keys as data", () => {
    const bytes = encode(make(), [JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{}}}')]);
    const [message] = decode(make(), bytes);
    expect(Object.keys(message as object)).toEqual(["__proto__", "constructor"]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("reports an end inside a message as incomplete", () => {
    const bytes = encode(make(), [{ a: "é" }]);
    const last = make === newlineCodec ? bytes.length - 2 : bytes.length - 1;
    for (let length = 1; length <= last; length++) {
      expect(decode(make(), bytes.subarray(0, length))).toMatchObject([
        { code: "invalid_message", reason: "incomplete" },
      ]);
    }
    expect(decode(make(), new Uint8Array(0))).toEqual([]);
  });

  it("copies each byte a bounded number of times, also in one-byte chunks", () => {
    const append = vi.spyOn(ByteBuffer.prototype, "append");
    const set = vi.spyOn(Uint8Array.prototype, "set");
    try {
      const length = 100_000;
      const bytes = encode(make(), ["x".repeat(length)]);
      set.mockClear();
      const decoder = make().createDecoder();
      let messages = 0;
      for (let at = 0; at < bytes.length; at++) messages += decoder.push(bytes.subarray(at, at + 1)).length;
      expect(messages).toBe(1);
      const copied = set.mock.calls.reduce((sum, [source]) => sum + source.length, 0);
      expect(copied).toBeGreaterThanOrEqual(length);
      expect(copied).toBeLessThan(4 * length);
      expect(append.mock.calls.length).toBeLessThanOrEqual(2 * bytes.length);
    } finally {
      append.mockRestore();
      set.mockRestore();
    }
  });
});

describe("newlineCodec", () => {
  it("writes one line a message, with every line feed within it escaped", () => {
    const encoder = newlineCodec().createEncoder();
    encoder.add({ text: "a\nb" });
    encoder.add(null);
    expect(encoder.take()).toBe('{"text":"a\\nb"}\nnull\n');
  });

  it.each([
    ["empty lines", '\n\n"a"\n\n"b"\n\n'],
    ["lines of white space", ' \n"a"\n\t\r\n"b"\n   '],
    ["CR before LF", '"a"\r\n"b"\r\n'],
    ["no newline at the end", '"a"\n"b"'],
    ["white space around", '  "a"  \n\t"b"\t\n'],
  ])("reads %s", (_what, text) => {
    expect(decode(newlineCodec(), utf8.encode(text))).toEqual(["a", "b"]);
    expect(decode(newlineCodec(), utf8.encode(text), [1])).toEqual(["a", "b"]);
  });

  it("puts an error in the place of each line that is none, and reads on, in every chunking", () => {
    const bytes = new Uint8Array([
      ...utf8.encode('1\n{bad\n2\n"'),
      0xff,
      ...utf8.encode(`"\n3\n"${"x".repeat(50)}"\n4\n\ufeff5\n6`),
    ]);
    const expected = [
      1,
      { reason: "not_json" },
      2,
      { reason: "not_utf8" },
      3,
      { code: "frame_too_large" },
      4,
      5,
      6,
    ];
    for (let size = 1; size <= bytes.length; size++) {
      expect(decode(newlineCodec({ maxFrameBytes: 20 }), bytes, [size])).toMatchObject(expected);
    }
  });

  it("drops an endless line once and keeps nothing of it", () => {
    const decoder = newlineCodec({ maxFrameBytes: 100 }).createDecoder();
    const append = vi.spyOn(ByteBuffer.prototype, "append");
    const errors: unknown[] = [];
    for (let turn = 0; turn < 1000; turn++) errors.push(...decoder.push(utf8.encode("x".repeat(60))));
    expect(errors).toMatchObject([{ code: "frame_too_large" }]);
    expect(append.mock.calls.reduce((sum, [chunk]) => sum + chunk.length, 0)).toBeLessThanOrEqual(100);
    append.mockRestore();
    expect(decoder.push(utf8.encode("x\n1\n"))).toEqual([1]);
    expect(decoder.broken).toBe(false);
  });
});

describe("lengthPrefixCodec", () => {
  it("writes four bytes of length, big-endian, before the JSON", () => {
    expect([...encode(lengthPrefixCodec(), ["é"])]).toEqual([0, 0, 0, 4, 0x22, 0xc3, 0xa9, 0x22]);
    expect([...encode(lengthPrefixCodec(), ["x".repeat(300)]).subarray(0, 4)]).toEqual([0, 0, 1, 46]);
    expect([...encode(lengthPrefixCodec(), ["x".repeat(70_000)]).subarray(0, 4)]).toEqual([0, 1, 17, 114]);
  });

  it("refuses an announced length over the limit on its header, and allocates nothing for it", () => {
    for (const header of [
      [0xff, 0xff, 0xff, 0xff],
      [0x80, 0, 0, 0],
      [0, 0x40, 0, 1],
    ]) {
      for (const size of [1, 2, 3, 4]) {
        const decoder = lengthPrefixCodec().createDecoder();
        const append = vi.spyOn(ByteBuffer.prototype, "append");
        const out: unknown[] = [];
        for (let at = 0; at < 4; at += size)
          out.push(...decoder.push(new Uint8Array(header.slice(at, at + size))));
        expect(out).toMatchObject([{ code: "frame_too_large", maxFrameBytes: 4_194_304 }]);
        expect(decoder.broken).toBe(true);
        expect(append.mock.calls.reduce((sum, [chunk]) => sum + chunk.length, 0)).toBeLessThanOrEqual(4);
        append.mockRestore();
        expect(decoder.push(frame(utf8.encode("1")))).toEqual([]);
        expect(decoder.end()).toEqual([]);
      }
    }
  });

  it("reports an empty frame, garbage and what is not UTF-8, and reads on", () => {
    const bytes = new Uint8Array([
      ...frame(new Uint8Array(0)),
      ...frame(utf8.encode("1")),
      ...frame(utf8.encode("{")),
      ...frame(new Uint8Array([0x22, 0xc3, 0x28, 0x22])),
      ...frame(utf8.encode("2")),
    ]);
    for (let size = 1; size <= bytes.length; size++) {
      expect(decode(lengthPrefixCodec(), bytes, [size])).toMatchObject([
        { code: "invalid_message", reason: "empty_frame" },
        1,
        { reason: "not_json" },
        { reason: "not_utf8" },
        2,
      ]);
    }
  });
});
