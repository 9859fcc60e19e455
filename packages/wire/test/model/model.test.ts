import { roundedNumber } from "@harnesskit/wire/json";
import { mediaOf, replaceMedia, toModelFailure, toModelOutput } from "@harnesskit/wire/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noAnswerReason } from "../../src/model/no-answer.ts";

describe("a number that would be read as another one", () => {
  it.each([
    ['{"id":1917043659912705297}', "1917043659912705297"],
    ['{"id":9007199254740993}', "9007199254740993"],
    ['{"a":"9007199254740993\\"","b":[-9007199254740993]}', "-9007199254740993"],
    ['{"big":1e400}', "1e400"],
    ['{"id":9007199254740991,"wei":1000000000000000000,"pi":3.14159265358979323846,"max":1e300}', undefined],
    ['"1917043659912705297"', undefined],
  ])("in %s is %s", (text, number) => expect(roundedNumber(text)).toBe(number));

  it("is none in what was written from numbers that are whole and exact, or are fractions", () => {
    const numbers = fc.oneof(
      fc.maxSafeInteger(),
      fc.double({ noDefaultInfinity: true, noNaN: true, max: 1e15, min: -1e15 }),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(numbers, fc.string())), (values) => {
        expect(roundedNumber(JSON.stringify(values))).toBeUndefined();
      }),
    );
  });
});

describe("an error of a provider", () => {
  it("is read whatever it is, and never longer than its limits", () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (value, text) => {
        for (const thrown of [value, { error: value }, { message: text, responseBody: text, url: text }]) {
          const { message, code } = toModelFailure(thrown);
          expect(message.length).toBeLessThan(5000);
          expect(code).toMatch(/^[a-z_]+$/);
        }
      }),
    );
  });

  it.each([
    [{ error: { message: "over\nloaded", code: 529 } }, "over loaded"],
    [{ responseBody: '{"error":"model \'x\' not found"}', message: "Not Found" }, "model 'x' not found"],
    [{ responseBody: '{"detail":[{"msg":"too long"}]}' }, "too long"],
    [{ responseBody: "AccountKey=c2VjcmV0c2VjcmV0MTIz; no" }, "AccountKey=[redacted]; no"],
    [{ responseBody: "<html>busy</html>", message: "Bad Gateway" }, "Bad Gateway"],
  ])("%j says %s", (error, said) => {
    const message = `the model could not be reached or failed: ${said}`;
    expect(toModelFailure(error)).toMatchObject({ code: "unavailable", message, cause: error });
  });

  it("names the system's code of a connection that failed, and no words of the program", () => {
    const cause = Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
    const { message } = toModelFailure(new TypeError("secret", { cause }));
    expect(message).toBe("the model could not be reached or failed: (ECONNREFUSED)");
  });
});

describe("the result of a tool", () => {
  const image = { type: "image", mimeType: "image/png", data: "AAAA" };

  it("has media in MCP's form alone, which can be replaced and put back", () => {
    const file = { type: "resource", resource: { uri: "f:x", mimeType: "application/pdf", blob: "BBBB" } };
    const output = { content: [{ type: "text", text: "a" }, image, file], more: 1 };
    expect(mediaOf(output).map(({ data }) => data)).toEqual(["AAAA", "BBBB"]);
    const named = replaceMedia(output, [{ size: 3 }, { size: 3, artifact: "x.pdf" }]);
    expect(JSON.stringify(named)).not.toMatch(/AAAA|BBBB/);
    expect(replaceMedia(output, [{ data: "AAAA" }, { data: "BBBB" }])).toEqual(output);
    for (const other of [null, "x", [], { content: "x" }, { content: [1] }, { content: [{ type: "row" }] }])
      expect([mediaOf(other), toModelOutput(other, "result")]).toEqual([[], undefined]);
  });

  it("is shown as a medium by its bytes alone: what no provider would read as that is a note", () => {
    const said = (item: object) => toModelOutput({ content: [item] } as never, "result")?.result;
    const gif = { ...image, data: "R0lGODlhAQ==" };
    expect(said(gif)).toMatchObject({ value: [{ type: "image-data", mediaType: "image/gif" }] });
    expect(said(image)).toEqual({ type: "text", value: "[image/png, 3 bytes: not included]" });
  });

  it("says of structured content that no text repeats that its integers may be rounded", () => {
    const value = (structuredContent: object) =>
      toModelOutput(
        { content: [image, { type: "text", text: "see" }], structuredContent } as never,
        undefined,
      )?.result;
    expect(value(JSON.parse('{"id":1917043659912705297}'))).toMatchObject({
      value: expect.stringMatching(/may be rounded/),
    });
    const alone = { content: [], structuredContent: JSON.parse('{"id":1917043659912705297}') };
    expect(toModelOutput(alone, undefined)?.result.value).toMatch(/^\{"id":\d+\}\n.* may be rounded/);
    expect(value({ id: 7 })).toEqual({
      type: "text",
      value: '[image/png, 3 bytes: not included]\nsee\n{"id":7}',
    });
  });

  it("has half of a surrogate pair in structured content as U+FFFD, once where a text repeats it", () => {
    const cut = { t: "cut \ud83d" };
    const said = (text: string) =>
      toModelOutput({ content: [{ type: "text", text }], structuredContent: cut }, undefined)?.result.value;
    expect(said("plain")).toBe('plain\n{"t":"cut \ufffd"}');
    expect(said(JSON.stringify(cut))).toBe(JSON.stringify(cut));
  });
});

it("an answer is one with a text or a call, and an ending of its kind", () => {
  const good = { reason: "stop", calls: 0, hasText: true };
  expect(noAnswerReason(good)).toBeUndefined();
  expect(noAnswerReason({ ...good, reason: "other", rawReason: "eos_token" })).toBeUndefined();
  expect(noAnswerReason({ ...good, reason: "stop", calls: 1, hasText: false })).toBeUndefined();
  expect(noAnswerReason({ ...good, reason: "error" })).toContain("error");
  expect(noAnswerReason({ ...good, hasText: false, rawReason: "" })).toMatch(/its finish reason is stop$/);
  expect(noAnswerReason({ ...good, calls: 1, rawReason: "MALFORMED_FUNCTION_CALL" })).toContain("MALFORMED");
});
