import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { markNumbers, quoteRoundedNumbers, unmarkNumbers } from "../../src/json/index.ts";

const text = '{"id":1917043659912705296,"f":1.0,"e":[1e400,-0,5],"s":"9007199254740993","2":{"x":-12.50E+1}}';

describe("numbers that JavaScript does not keep", () => {
  it("have their digits again after they were parsed and written, and nothing else changes", () => {
    expect(unmarkNumbers(JSON.stringify(JSON.parse(markNumbers(text))))).toBe(
      '{"2":{"x":-12.50E+1},"id":1917043659912705296,"f":1.0,"e":[1e400,-0,5],"s":"9007199254740993"}',
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const written = JSON.stringify(value);
        expect(unmarkNumbers(markNumbers(written))).toBe(written);
        expect(quoteRoundedNumbers(written)).toBe(written);
      }),
    );
  });

  it("are judged by their digits where they would be another number", () => {
    expect(JSON.parse(quoteRoundedNumbers(text))).toEqual({
      id: "1917043659912705296",
      f: 1,
      e: ["1e400", -0, 5],
      s: "9007199254740993",
      2: { x: -125 },
    });
    expect(quoteRoundedNumbers("[9007199254740993,9007199254740994,0.1000000000000000055]")).toBe(
      '["9007199254740993",9007199254740994,0.1000000000000000055]',
    );
  });
});
