import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { cpuTimer } from "../../../test-kit/test-kit.ts";
import { checkPolicy, PolicyError, parsePolicy, policyJsonSchema } from "../src/index.ts";
import { policyOf, refusalOf, toolEvent } from "./support/policies.ts";

const where = (text: string): string => {
  const { code, problems } = refusalOf(text);
  return `${code} ${problems[0]?.line}:${problems[0]?.column} ${problems[0]?.path}`;
};

describe("a broken file is refused with its place", () => {
  it("names line and column of invalid YAML", () => {
    expect(where("version: 1\nrules:\n  - name: [a\n")).toMatch(/^policy_syntax 4:1/);
    expect(where('version: 1\nrules: "a\n')).toMatch(/^policy_syntax \d+:\d+/);
  });

  it("names the key that is unknown, and the value that is wrong", () => {
    expect(where("version: 1\nrules:\n  - name: a\n    them: allow\n    then: allow\n")).toBe(
      "policy_invalid 4:5 rules.0.them",
    );
    expect(where("version: 1\nrules:\n  - name: a\n    then: perhaps\n")).toMatch(
      /^policy_invalid 4:11 rules\.0\.then/,
    );
    expect(where("version: 2\nrules: []\n")).toBe("policy_invalid 1:10 version");
    expect(where("version: 1\nrules:\n  - then: allow\n")).toMatch(/^policy_invalid 3:5 rules\.0/);
    expect(where("version: 1\nrules:\n  - name: a\n    when: { event: never }\n    then: allow\n")).toMatch(
      /^policy_invalid 4:20 rules\.0\.when\.event/,
    );
  });

  it("points into an expression, however it is written", () => {
    const rule = (cel: string) =>
      `version: 1\nrules:\n  - name: a\n    when:\n      cel: ${cel}\n    then: allow\n`;
    expect(where(rule("tool == nobody"))).toBe("policy_expression 5:20 rules.0.when.cel");
    expect(where(rule("'tool == nobody'"))).toBe("policy_expression 5:21 rules.0.when.cel");
    expect(where(rule("|\n        tool == 'a' &&\n        nobody == 'b'"))).toBe(
      "policy_expression 7:9 rules.0.when.cel",
    );
    expect(where(rule("size(tool)"))).toMatch(/^policy_expression 5:12/);
    expect(where(rule('["true", tool ==]'))).toMatch(/^policy_expression 5:\d+ rules\.0\.when\.cel/);
  });

  it("points into a template", () => {
    expect(
      where(`version: 1\nrules:\n  - name: a\n    then: { decision: block, reason: "no \${nobody}" }\n`),
    ).toBe("policy_expression 4:44 rules.0.then.reason");
    expect(
      where(`version: 1\nrules:\n  - name: a\n    then: { decision: block, reason: "no \${tool" }\n`),
    ).toMatch(/^policy_expression 4:42/);
  });

  it("refuses decisions that the events do not have, lists that are not there and names that stand twice", () => {
    expect(
      where("version: 1\nrules:\n  - name: a\n    when: { event: planning }\n    then: escalate\n"),
    ).toBe("policy_invalid 5:11 rules.0.then");
    expect(where("version: 1\nrules:\n  - name: a\n    then: { decision: allow, retry_after_ms: 3 }\n")).toBe(
      "policy_invalid 4:46 rules.0.then.retry_after_ms",
    );
    expect(where('version: 1\nrules:\n  - name: a\n    when: { tool: "@none" }\n    then: allow\n')).toBe(
      "policy_invalid 4:19 rules.0.when.tool",
    );
    expect(where("version: 1\nrules:\n  - name: a\n    then: allow\n  - name: a\n    then: block\n")).toBe(
      "policy_invalid 5:11 rules.1.name",
    );
    expect(
      where('version: 1\nrules:\n  - name: a\n    when: { tool: "*a*b*c*d" }\n    then: allow\n'),
    ).toMatch(/^policy_invalid 4:19/);
  });

  it("tells all problems in the order of the file, and the first in its message", () => {
    const error = refusalOf(
      "version: 1\nrules:\n  - name: a\n    x: 1\n    then: allow\n  - name: b\n    y: 1\n    then: allow\n",
      {
        file: "dir/p.yaml",
      },
    );
    expect(error.problems.map(({ line }) => line)).toEqual([4, 7]);
    expect(error.message).toBe('dir/p.yaml:4:5: unknown key "x" (and 1 more)');
  });
});

describe("hostile YAML", () => {
  it("refuses a bomb of aliases", () => {
    const levels = Array.from({ length: 9 }, (_, level) => {
      const inner = level === 0 ? '"lol"' : `*a${level - 1}`;
      return `a${level}: &a${level} [${Array(9).fill(inner).join(",")}]`;
    });
    expect(refusalOf(levels.join("\n")).code).toMatch(/^policy_(too_large|syntax)$/);
    expect(refusalOf("version: 1\na: &a [*a]\n").code).toMatch(/^policy_/);
  });

  it.each([
    ["brackets", "[".repeat(200_000)],
    ["braces", "{a: ".repeat(100_000)],
    ["dashes", "- ".repeat(200_000)],
    ["questions", "? ".repeat(100_000)],
    ["levels", Array.from({ length: 600 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
  ])("refuses a file of nothing but %s", (_, text) => {
    const error = refusalOf(text);
    expect(error.code).toBe("policy_too_large");
    expect(error.problems[0]?.line).toBeGreaterThan(0);
  });

  it("refuses a file that is too long, or has too many values", () => {
    expect(refusalOf("#".repeat(1_048_577)).code).toBe("policy_too_large");
    expect(refusalOf(`version: 1\nrules: []\nlists: { a: [${"a,".repeat(50_001)}] }`).code).toBe(
      "policy_too_large",
    );
    expect(refusalOf("version: 1\nrules: []\n", { limits: { maxFileLength: 10 } }).code).toBe(
      "policy_too_large",
    );
  });

  it("takes keys that stand twice, and many keys, in time linear to them", () => {
    expect(where("version: 1\nversion: 1\nrules: []\n")).toBe("policy_syntax 2:1 ");
    const spentMs = cpuTimer();
    const keys = Array.from({ length: 40_000 }, (_, index) => `k${index}: 1`).join("\n");
    expect(refusalOf(keys).code).toBe("policy_invalid");
    expect(spentMs()).toBeLessThan(8000);
  });

  it.each(["__proto__", "constructor", "prototype"])("refuses the key %s wherever it stands", (key) => {
    expect(refusalOf(`version: 1\nrules: []\n${key}: { polluted: 1 }\n`).code).toBe("policy_syntax");
    expect(refusalOf(`version: 1\nrules: []\nlists: { ${key}: [a] }\n`).code).toBe("policy_syntax");
    expect(
      refusalOf(
        `version: 1\nrules:\n  - name: a\n    then: { decision: allow, metadata: { ${key}: { x: 1 } } }\n`,
      ).code,
    ).toBe("policy_syntax");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("refuses tags, keys that are no text and a second document", () => {
    expect(refusalOf("version: 1\nrules: !!js/function 'x'\n").code).toMatch(/^policy_/);
    expect(refusalOf("version: 1\nrules: !own []\n").code).toMatch(/^policy_/);
    expect(refusalOf("? [a]\n: 1\n").code).toBe("policy_syntax");
    expect(refusalOf("version: 1\nrules: []\n---\nversion: 1\n").code).toBe("policy_syntax");
    expect(refusalOf("").code).toBe("policy_invalid");
  });

  it("gives a policy or a typed error for any text", () => {
    const piece = fc.constantFrom(
      ..."[]{}:-?&*!|>'\"%@`,# \n\t",
      "rules",
      "version: 1",
      "a",
      `\${`,
      "&a ",
      "*a",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 60 }).map((all) => all.join("")),
        ),
        (text) => {
          try {
            parsePolicy(text);
          } catch (error) {
            if (!PolicyError.isInstance(error)) throw error;
            expect(error.problems[0]?.line).toBeGreaterThan(0);
            expect(error.problems[0]?.column).toBeGreaterThan(0);
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });
});

describe("the JSON Schema", () => {
  const schema = policyJsonSchema();

  it("takes what the reader takes, and refuses what it refuses", () => {
    const validate = new Ajv2020({ strict: false }).compile(schema);
    const rule = (text: string) => validate({ version: 1, rules: [JSON.parse(text)] });
    expect(rule('{"name": "a", "when": {"tool": "bash"}, "then": "block"}')).toBe(true);
    expect(rule('{"name": "a", "then": "perhaps"}')).toBe(false);
    expect(validate({ version: 1, rules: [], unknown: 1 })).toBe(false);
    expect(validate({ version: 1 })).toBe(false);
  });
});

it("uses anchors, lists and globs", () => {
  const policy = policyOf(`
lists: { readers: [read, "fs.*"] }
rules:
  - { name: most, when: { tool: ["@readers", "net*", "!net.post"] }, then: &yes { decision: allow } }
  - { name: glob, when: { tool: "{a,b}?" }, then: *yes }
`);
  const rule = (tool: string) => checkPolicy(policy, toolEvent(tool)).rule;
  expect(["read", "fs.list", "fs/x", "net.get", "a1", "b2"].map(rule)).toEqual([
    "most",
    "most",
    undefined,
    "most",
    "glob",
    "glob",
  ]);
  expect(["net.post", "reads", "", "c1", "constructor"].map(rule)).toEqual(Array(5).fill(undefined));
});
