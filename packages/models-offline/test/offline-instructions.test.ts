import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { maxInstructions, maxRequestChars } from "../src/limits.ts";
import { type Instruction, parseRequest } from "../src/parse-request.ts";

const parse = (text: string) => parseRequest(text).instructions;

const cases: [string, Instruction[]][] = [
  ["list files", [{ kind: "list" }]],
  ["Please list files.", [{ kind: "list" }]],
  ["list files in src/core", [{ kind: "list", directory: "src/core" }]],
  ["list files in .", [{ kind: "list", directory: "." }]],
  ['list files in "my dir"', [{ kind: "list", directory: "my dir" }]],
  [
    'use the tool com.example.hello greet with {"name":"Ada"}',
    [{ kind: "use", tool: "com.example.hello greet", input: { name: "Ada" } }],
  ],
  ["use the tool word_count.", [{ kind: "use", tool: "word_count", input: {} }]],
  [
    'use the tool a/b with {"text":"read a.txt, then stop"} then read b.txt',
    [
      { kind: "use", tool: "a/b", input: { text: "read a.txt, then stop" } },
      { kind: "read", path: "b.txt" },
    ],
  ],
  ["use the tool a with {broken}", [{ kind: "unknown", text: "use the tool a with {broken}" }]],
  ["read README.md.", [{ kind: "read", path: "README.md" }]],
  ["read `a b.txt`", [{ kind: "read", path: "a b.txt" }]],
  ["search for TODO", [{ kind: "search", text: "TODO" }]],
  ["search for foo bar in src", [{ kind: "search", text: "foo bar", directory: "src" }]],
  ["search for `a in b`", [{ kind: "search", text: "a in b" }]],
  ["search for read and write", [{ kind: "search", text: "read and write" }]],
  ["run the command: ls -la | wc -l", [{ kind: "run", command: "ls -la | wc -l" }]],
  ["run the command `npm test`.", [{ kind: "run", command: "npm test" }]],
  ["run the command: find .", [{ kind: "run", command: "find ." }]],
  ["run the command: echo 'a then read c.txt'", [{ kind: "run", command: "echo 'a then read c.txt'" }]],
  [
    "edit notes.txt: replace hello with goodbye",
    [{ kind: "edit", path: "notes.txt", oldText: "hello", newText: "goodbye" }],
  ],
  [
    'edit a.ts: replace "x with y" with ""',
    [{ kind: "edit", path: "a.ts", oldText: "x with y", newText: "" }],
  ],
  ["edit a.ts: replace x with y with z", [{ kind: "unknown", text: "edit a.ts: replace x with y with z" }]],
  [
    "write notes/today.txt: hello there",
    [{ kind: "write", path: "notes/today.txt", content: "hello there" }],
  ],
  ['write a.json:\n```json\n{ "a": 1 }\n```', [{ kind: "write", path: "a.json", content: '{ "a": 1 }' }]],
  ["describe this repository", [{ kind: "describe" }]],
  ["Please run the tests!", [{ kind: "test" }]],
];

describe("one instruction", () => {
  it.each(cases)("%j", (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });
});

describe("several instructions", () => {
  it("are split at then and new lines", () => {
    const expected = [{ kind: "list" }, { kind: "read", path: "a.md" }, { kind: "test" }];
    for (const text of [
      "list files then read a.md then run the tests",
      "list files, then read a.md, and then run the tests",
      "list files\nread a.md\nthen run the tests.",
    ]) {
      expect(parse(text), text).toEqual(expected);
    }
  });

  it("keeps what ends a text, and what it does not understand, in its place", () => {
    expect(parse("write a.txt: Hello, world! Then read a.txt. then list files")).toEqual([
      { kind: "write", path: "a.txt", content: "Hello, world!" },
      { kind: "read", path: "a.txt" },
      { kind: "list" },
    ]);
    expect(parse("make coffee, then list files")).toEqual([
      { kind: "unknown", text: "make coffee" },
      { kind: "list" },
    ]);
    expect(parse("do not run the tests")).toEqual([{ kind: "unknown", text: "do not run the tests" }]);
  });

  it("stops at its limits", () => {
    const many = parseRequest(
      Array(maxInstructions + 5)
        .fill("list files")
        .join("\n"),
    );
    expect(many.instructions).toHaveLength(maxInstructions);
    expect(many.leftOut).toBe(5);
    expect(parseRequest(`list files ${"x".repeat(maxRequestChars)}`)).toEqual({
      instructions: [],
      leftOut: 0,
      tooLong: true,
    });
  });
});

describe("any text", () => {
  const words = fc.constantFrom(
    ..."list files|read|a.md|search for|in|run the command:|run the tests|edit|: replace|with|write|:|then|and|,|\n|`|\"|'|1. |;|describe this repository|```".split(
      "|",
    ),
  );
  const sentence = fc
    .array(fc.oneof(words, fc.string({ maxLength: 8 })), { maxLength: 60 })
    .map((all) => all.join(" "));

  it("gives a bounded list and never throws", () => {
    fc.assert(
      fc.property(fc.oneof(sentence, fc.string({ unit: "binary", maxLength: 300 })), (text) => {
        const { instructions } = parseRequest(text);
        expect(instructions.length).toBeLessThanOrEqual(maxInstructions);
        // Every instruction is made of the request's own words.
        for (const instruction of instructions) {
          for (const [key, value] of Object.entries(instruction)) {
            if (key !== "kind" && value !== undefined) expect(text).toContain(value);
          }
        }
      }),
      { numRuns: runs(60) },
    );
  }, 30_000);
});
