import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasRepeatedNames, memberNames } from "../../src/json/index.ts";

describe("memberNames", () => {
  it("finds every name of the outermost object, and no name of another", () => {
    const member = fc.tuple(fc.string(), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(
        fc.array(member, { maxLength: 6 }),
        fc.constantFrom("", " ", "\r\n\t"),
        (members, space) => {
          const parts = members.map(([name, value]) =>
            [JSON.stringify(name), ":", JSON.stringify(value)].join(space),
          );
          const text = `${space}{${space}${parts.join(`${space},${space}`)}${space}}`;
          expect(memberNames(text)).toEqual(members.map(([name]) => name));
          expect(memberNames(`[${text}]`)).toEqual([]);
        },
      ),
    );
  });

  it("finds duplicates, written in whatever way", () => {
    expect(memberNames(String.raw`{"method":"a","m\u0065thod":"b","x":{"y":1},"x":"\"},{"}`)).toEqual([
      "method",
      "method",
      "x",
      "x",
    ]);
    expect([memberNames("1"), memberNames('"a"')]).toEqual([[], []]);
  });
});

describe("hasRepeatedNames", () => {
  it("finds a repeated name at any depth, and none in what JSON.stringify writes", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => !hasRepeatedNames(JSON.stringify(value))));
    expect(hasRepeatedNames(String.raw`[{"a":{"b":[1,{"c":1,"x":"c","\u0063":2}]}}]`)).toBe(true);
    expect(hasRepeatedNames('{"a":{"a":1},"b":[{"a":1},{"a":2},"a","a"]}')).toBe(false);
  });
});
