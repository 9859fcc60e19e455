import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { cpuTimer } from "../../../scripts/lib/test-kit.ts";
import { maxInstructions, maxRequestChars } from "../src/limits.ts";
import { parseInstructions } from "../src/parse-instructions.ts";
import type { Instruction } from "../src/verbs.ts";

const parse = (text: string) => parseInstructions(text).instructions;

const cases: [string, Instruction[]][] = [
  ["list files", [{ kind: "list" }]],
  ["List all the files in this repository.", [{ kind: "list" }]],
  ["list files in src/core", [{ kind: "list", directory: "src/core" }]],
  ["please list the files in the src directory", [{ kind: "list", directory: "src" }]],
  ["list files in .", [{ kind: "list", directory: "." }]],
  ['list files in "my dir"', [{ kind: "list", directory: "my dir" }]],
  ["list files in code", [{ kind: "list", directory: "code" }]],
  [
    'use the tool com.example.hello greet with {"name":"Ada"}',
    [{ kind: "use", tool: "com.example.hello greet", input: { name: "Ada" } }],
  ],
  ["call tool word_count.", [{ kind: "use", tool: "word_count", input: {} }]],
  [
    'use the tool a/b with {"text":"read a.txt, then stop"} then read b.txt',
    [
      { kind: "use", tool: "a/b", input: { text: "read a.txt, then stop" } },
      { kind: "read", path: "b.txt" },
    ],
  ],
  ["use the tool a with {broken}", [{ kind: "unknown", text: "use the tool a with {broken}" }]],
  ["read README.md", [{ kind: "read", path: "README.md" }]],
  ["Could you read the file `a b.txt`?", [{ kind: "read", path: "a b.txt" }]],
  ["show me the file src/a.ts.", [{ kind: "read", path: "src/a.ts" }]],
  [
    "read a.md and b.md, and c.md",
    [
      { kind: "read", path: "a.md" },
      { kind: "read", path: "b.md" },
      { kind: "read", path: "c.md" },
    ],
  ],
  ["search for TODO", [{ kind: "search", text: "TODO" }]],
  ["search for foo bar in src", [{ kind: "search", text: "foo bar", directory: "src" }]],
  ["search the code for `a in b`", [{ kind: "search", text: "a in b" }]],
  ["search for 'x y' in lib.", [{ kind: "search", text: "x y", directory: "lib" }]],
  ["grep for needle in the whole repository", [{ kind: "search", text: "needle" }]],
  ["search for read and write", [{ kind: "search", text: "read and write" }]],
  ["run the command: ls -la | wc -l", [{ kind: "run", command: "ls -la | wc -l" }]],
  ["run the command `npm test`.", [{ kind: "run", command: "npm test" }]],
  ["run the command: find .", [{ kind: "run", command: "find ." }]],
  ["execute: cat x; read y", [{ kind: "run", command: "cat x; read y" }]],
  ['run the command: echo "a" "b and read c.txt"', [{ kind: "run", command: 'echo "a" "b and read c.txt"' }]],
  [
    "edit notes.txt: replace hello with goodbye",
    [{ kind: "edit", path: "notes.txt", oldText: "hello", newText: "goodbye" }],
  ],
  [
    'edit the file a.ts and replace "x with y" with ""',
    [{ kind: "edit", path: "a.ts", oldText: "x with y", newText: "" }],
  ],
  ['replace "a" with "b" in c.txt', [{ kind: "edit", path: "c.txt", oldText: "a", newText: "b" }]],
  [
    "write notes/today.txt: hello there",
    [{ kind: "write", path: "notes/today.txt", content: "hello there" }],
  ],
  ['write a.json:\n```json\n{ "a": 1 }\n```', [{ kind: "write", path: "a.json", content: '{ "a": 1 }' }]],
  ['create a file b.txt with the content "x"', [{ kind: "write", path: "b.txt", content: "x" }]],
  ["write 'hi' to c.txt", [{ kind: "write", path: "c.txt", content: "hi" }]],
  [
    "write a.txt: I can write well and read well",
    [{ kind: "write", path: "a.txt", content: "I can write well and read well" }],
  ],
  ["write c.txt with 'hi'", [{ kind: "write", path: "c.txt", content: "hi" }]],
  ["in a.txt, replace x with y", [{ kind: "edit", path: "a.txt", oldText: "x", newText: "y" }]],
  ["Hello, please, can you list files?", [{ kind: "list" }]],
  ["describe this repository", [{ kind: "describe" }]],
  ["What is this project about?", [{ kind: "describe" }]],
  ["run the tests", [{ kind: "test" }]],
  ["Please run all the tests!", [{ kind: "test" }]],
  ["run the tests, please", [{ kind: "test" }]],
];

describe("one instruction", () => {
  it.each(cases)("%j", (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });
});

describe("several instructions", () => {
  it("are split at then, and, commas, sentences, new lines and numbers", () => {
    const expected = [{ kind: "list" }, { kind: "read", path: "a.md" }, { kind: "test" }];
    for (const text of [
      "list files then read a.md then run the tests",
      "list files, then read a.md, and then run the tests",
      "list files and read a.md and run the tests.",
      "list files, read a.md, run the tests",
      "List files. Read a.md. Run the tests.",
      "list files\nread a.md\nrun the tests",
      "1. list files\n2. read a.md\n3) run the tests",
      "- list files\n- read a.md\n- please run the tests",
      "First list files; next read a.md; finally, run the tests",
    ]) {
      expect(parse(text), text).toEqual(expected);
    }
  });

  it("ends a command or a text where the next known verb begins", () => {
    expect(parse("write a.sh: echo hi, then run the command: sh a.sh and read a.sh")).toEqual([
      { kind: "write", path: "a.sh", content: "echo hi" },
      { kind: "run", command: "sh a.sh" },
      { kind: "read", path: "a.sh" },
    ]);
  });

  it("keeps what ends a text, and not what ends a sentence", () => {
    expect(parse("write a.txt: Hello, world! Then read a.txt. List files")).toEqual([
      { kind: "write", path: "a.txt", content: "Hello, world!" },
      { kind: "read", path: "a.txt" },
      { kind: "list" },
    ]);
  });

  it("takes loose verbs only after a firm joint", () => {
    expect(parse("list files then read Makefile")).toEqual([
      { kind: "list" },
      { kind: "read", path: "Makefile" },
    ]);
    expect(parse("write a.txt: sit and read books")).toEqual([
      { kind: "write", path: "a.txt", content: "sit and read books" },
    ]);
  });

  it("keeps what it does not understand, in its place", () => {
    expect(parse("make coffee, then list files and dance")).toEqual([
      { kind: "unknown", text: "make coffee" },
      { kind: "list" },
      { kind: "unknown", text: "dance" },
    ]);
    expect(parse("do not run the tests")).toEqual([{ kind: "unknown", text: "do not run the tests" }]);
    expect(parse("run the tests in French")).toEqual([{ kind: "unknown", text: "run the tests in French" }]);
  });

  it("does not guess where a replacement ends", () => {
    const text = "edit a.txt: replace x with y and replace p with q";
    expect(parse(text)).toEqual([{ kind: "unknown", text, reason: "ambiguous" }]);
  });

  it("stops at its limits", () => {
    const many = parseInstructions(
      Array(maxInstructions + 5)
        .fill("list files")
        .join("\n"),
    );
    expect(many.instructions).toHaveLength(maxInstructions);
    expect(many.leftOut).toBe(5);
    expect(parseInstructions(`list files ${"x".repeat(maxRequestChars)}`)).toEqual({
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
        const { instructions } = parseInstructions(text);
        expect(instructions.length).toBeLessThanOrEqual(maxInstructions);
        // Every instruction is made of the request's own words.
        for (const instruction of instructions) {
          for (const [key, value] of Object.entries(instruction)) {
            if (key !== "kind" && key !== "reason") expect(text).toContain(value);
          }
        }
      }),
      { numRuns: runs(60) },
    );
  }, 30_000);

  it.each([
    ["backticks", "`", "`"],
    ["quotation marks", '"', '"'],
    ["curly marks", "\u201c", "\u201d"],
  ])("is kept verbatim in %s", (_, open, close) => {
    const quoted = fc
      .oneof(sentence, fc.string({ unit: "grapheme" }))
      .map((text) => text.replaceAll(open, "").replaceAll(close, ""));
    fc.assert(
      fc.property(quoted, quoted, (first, second) => {
        const q = (text: string) => `${open}${text}${close}`;
        expect(parse(`write f.txt: ${q(first)}`)).toEqual([{ kind: "write", path: "f.txt", content: first }]);
        if (first === "") return;
        expect(parse(`edit f.txt: replace ${q(first)} with ${q(second)}, then run the tests`)).toEqual([
          { kind: "edit", path: "f.txt", oldText: first, newText: second },
          { kind: "test" },
        ]);
        if (first.trim() === "") return;
        expect(parse(`run the command: ${q(first)} and list files`)).toEqual([
          { kind: "run", command: first },
          { kind: "list" },
        ]);
        expect(parse(`search for ${q(first.slice(0, 900))} in src`)).toEqual([
          { kind: "search", text: first.slice(0, 900), directory: "src" },
        ]);
      }),
    );
  });

  it("is kept verbatim in a fenced block", () => {
    fc.assert(
      fc.property(
        sentence.map((text) => text.replaceAll("`", "")),
        (content) => {
          const text = `write f.txt:\n\`\`\`text\n${content}\n\`\`\`\nthen run the tests`;
          expect(parse(text)).toEqual([{ kind: "write", path: "f.txt", content }, { kind: "test" }]);
        },
      ),
    );
  });

  it.each([
    "\n",
    " ",
    "'",
    " '",
    " `",
    "a,",
    "read ",
    "then ",
    "search in in ",
    "1. ",
    "\u201c",
    " and",
    "with ",
  ])(
    "of the longest length made of %j is parsed in reasonable time",
    (piece) => {
      const text = `edit a: replace ${piece.repeat(Math.floor((maxRequestChars - 20) / piece.length))}`;
      const spentMs = cpuTimer();
      expect(parseInstructions(text).instructions.length).toBeGreaterThan(0);
      expect(spentMs()).toBeLessThan(5_000);
    },
    30_000,
  );
});
