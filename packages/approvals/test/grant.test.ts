import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { AlwaysSchema, InputPatternSchema } from "@harnesskit/protocol/hub";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findGrant, grantCovers } from "../src/grant.ts";
import { type FieldPattern, type Grant, presentGrant } from "../src/index.ts";

const digest = `sha256:${"a".repeat(64)}`;
const grantOf = (change: Partial<Grant>): Grant => ({
  ...{ id: "g", seq: 1, by: "ada", createdAtMs: 0, approvalId: "apr_1", expiresAtMs: 100 },
  ...{ agent: "agent", tool: "t", match: { digest } },
  ...change,
});
const askedFor = (input: JsonObject, preview?: string) => ({
  origin: { agent: "agent", session: "s" },
  subject: { tool: "t", input, ...(preview === undefined ? {} : { preview }) },
  digest,
});
const matches = (field: FieldPattern, value: JsonValue) =>
  grantCovers(grantOf({ match: { input: { field } } }), askedFor({ field: value }));

describe("what a grant covers", () => {
  it.each<[FieldPattern, JsonValue[], JsonValue[]]>([
    [{ is: { b: [1], a: null } }, [{ a: null, b: [1] }], [{ a: null }, "x", null]],
    [{ any: true }, ["x", null, { a: 1 }], []],
    [
      { under: "src" },
      ["src", "src/a.ts", "src/a/b c"],
      ["srcs/a", "src/../etc", "src/./a", "src//a", "src\\..\\a", "src/a\n", "/src/a", "", 1, ["src"], null],
    ],
    [{ under: "/" }, ["/etc"], ["etc", "/../etc"]],
    [{ under: "/a/" }, ["/a/b", "/a"], ["/ab"]],
    [
      { startsWith: "npm test" },
      ["npm test", "npm test -- --run a/b.ts", "npm tests"],
      [
        ...[
          "npm test; ls",
          "npm test && ls",
          "npm test | sh",
          "npm test `ls`",
          "npm test $(ls)",
          "npm test\nls",
        ],
        ...[
          "npm test > f",
          "npm test ../x",
          "npm test 'a'",
          "npm test \u202e",
          "npm tes",
          " npm test",
          1,
          null,
        ],
      ],
    ],
  ])("%j", (pattern, good, bad) => {
    expect(good.filter((value) => !matches(pattern, value))).toEqual([]);
    expect(bad.filter((value) => matches(pattern, value))).toEqual([]);
  });

  it("has each field named, and nothing that a human could not see", () => {
    const grant = grantOf({ match: { input: { a: { is: 1 }, b: { any: true } } } });
    const covers = (input: JsonObject, preview?: string) => grantCovers(grant, askedFor(input, preview));
    expect([covers({ a: 1 }), covers({ a: 1, b: 2 }), covers({ a: 1 }, "+x")]).toEqual([true, true, true]);
    expect([covers({}), covers({ b: 2 }), covers({ a: 1, c: 3 })]).toEqual([false, false, false]);
    expect(covers({ a: 1 }, "+x\n[the diff is cut here]")).toBe(false);
    expect(covers(JSON.parse('{"a":1,"toString":2}') as JsonObject)).toBe(false);
    const inherited = grantOf({ match: { input: { constructor: { is: 1 } } } });
    expect(grantCovers(inherited, askedFor({}))).toBe(false);
  });

  it("is of its agent, tool, session and time", () => {
    const asked = askedFor({ a: 1 });
    const found = (change: Partial<Grant>, nowMs = 99) =>
      findGrant([grantOf(change)], asked, nowMs) !== undefined;
    expect([found({}), found({ session: "s" })]).toEqual([true, true]);
    const others = [{ agent: "x" }, { tool: "x" }, { session: "x" }, { revoked: { by: "ada", atMs: 1 } }];
    expect(others.map((change) => found(change))).toEqual([false, false, false, false]);
    expect(found({}, 100)).toBe(false);
  });

  it("is decided by the exact grant first, then by the oldest, in whatever order they are listed", () => {
    const input = { a: { any: true as const } };
    const grants = [
      grantOf({ id: "pattern", seq: 1, match: { input } }),
      grantOf({ id: "new", seq: 3 }),
      grantOf({ id: "old", seq: 2 }),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(grants, { minLength: 3 }), (listed) => {
        expect(findGrant(listed, askedFor({ a: 1 }), 1)?.id).toBe("old");
      }),
    );
    expect(findGrant([], askedFor({}), 1)).toBe(undefined);
  });
});

describe("patterns from strangers", () => {
  it("are refused where they are too many, too long, mixed or unknown", () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`f${index}`, { any: true }]));
    const bad = [
      many,
      { a: { is: "x".repeat(4000) } },
      { a: { regex: "(a+)+" } },
      { a: { is: 1, any: true } },
    ];
    const worse = [
      { a: {} },
      { a: { any: false } },
      { a: { under: "" } },
      { a: { startsWith: "" } },
      { "": { any: true } },
    ];
    for (const pattern of [...bad, ...worse])
      expect(InputPatternSchema.safeParse(pattern).success).toBe(false);
    expect(AlwaysSchema.safeParse({ reach: "everything" }).success).toBe(false);
    expect(AlwaysSchema.safeParse({ reach: "agent", tool: "other" }).success).toBe(false);
  });
});

it("a grant is shown whole, and hides nothing", () => {
  const is = "\u202e\u0000\n⟩";
  const input = {
    command: { startsWith: "npm\u200btest" },
    path: { under: "src" },
    n: { is },
    x: { any: true as const },
  };
  expect(presentGrant(grantOf({ session: "s", match: { input } }))).toEqual([
    "allows t without a question",
    "for the agent agent, in the session s",
    'if command is: starts with "npm⟨U+200B⟩test" and goes on with letters, digits, spaces or _ . / : = @ , + -',
    'if path is: a path in "src" or below',
    'if n is: exactly "⟨U+202E⟩\\u0000\\n⟩"',
    "if x is: anything, or absent",
    "if no other field is given",
    'careful: "npm⟨U+200B⟩test" may go on with any option, file and address as arguments',
    "until 1970-01-01T00:00:00.100Z, or until it is revoked",
  ]);
  expect(presentGrant(grantOf({})).slice(1, 3)).toEqual([
    "for the agent agent, in all its sessions",
    `for exactly this call: ${digest}`,
  ]);
});

it("names the call of an exact grant in words", () => {
  const lineOf = (tool: string, input: JsonObject) => presentGrant(grantOf({ tool }), { tool, input })[2];
  expect(lineOf("bash", { command: "npm test\n\u202ex" })).toBe(
    "for exactly this call: bash: run this command: npm test⟨U+000A⟩⟨U+202E⟩x",
  );
  expect(lineOf("write", { path: "a.txt", content: "x", mode: 1 })).toBe(
    'for exactly this call: write: write a.txt: and with { "mode": 1 }',
  );
});
