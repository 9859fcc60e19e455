import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { cpuTimer } from "../../../test-kit/test-kit.ts";
import { EventView } from "../src/cel/event-view.ts";
import { type Expression, Expressions } from "../src/cel/expressions.ts";
import { createPatterns } from "../src/cel/patterns.ts";
import { checkPolicy, type PolicyFunction, RuleError } from "../src/index.ts";
import { type PolicyLimits, policyLimits } from "../src/policy-limits.ts";
import { policyOf, refusalOf, toolEvent } from "./support/policies.ts";

const languageOf = (
  limits: Partial<PolicyLimits> = {},
  functions: PolicyFunction[] = [],
  elapsedMs = () => 0,
): Expressions =>
  new Expressions({
    limits: policyLimits.resolve(limits),
    functions,
    lists: { words: ["a", "b"] },
    elapsedMs,
    matches: createPatterns(),
  });

const evaluate = (text: string, args: Record<string, unknown>, language = languageOf()): unknown => {
  const expression = language.compile(text, "any");
  expect(typeof expression, JSON.stringify(expression)).toBe("function");
  language.start();
  try {
    return (expression as Expression)(new EventView(toolEvent("bash", args), "/work"));
  } catch (error) {
    if (RuleError.isInstance(error)) return error.code;
    throw error;
  }
};

describe("expressions see the event", () => {
  it.each([
    ["tool == 'bash' && session == 's1' && agent == 'a1'", true],
    ["event_type == 'pre_action' && event.event_type == event_type", true],
    ["depth + 1 == 1 && event.depth == 0", true],
    ["workspace == '/work'", true],
    ["payload.tool_name == tool && !has(metadata.tool_id)", true],
    ["args.n > 2 && args.n == 3 && args.n < 3.5", true],
    ["args.list.exists(x, x == 'b') && 'a' in args.list", true],
    ["tool in lists.words || 'a' in lists.words", true],
    ["lists.words.all(w, size(w) == 1)", true],
    ["args.map(key, key).size() == 3", true],
    ["cel.bind(n, args.n, n * 2.0 == 6.0)", true],
    ["args.text.matches('^h.*o$')", true],
    ["args.missing == 1", "policy_expression_failed"],
    ["args.text > 3", "policy_expression_failed"],
    ["args.constructor == 'x'", "policy_expression_failed"],
    ["has(args.constructor) || has(args.__proto__) || has(args.toString)", false],
    ["args['__proto__'] == args", "policy_expression_failed"],
  ])("%s", (text, expected) => {
    expect(evaluate(text, { n: 3, list: ["a", "b"], text: "hello" })).toBe(expected);
  });

  it("take an event's own keys of dangerous names for what they are", () => {
    const args = JSON.parse('{"__proto__": {"admin": true}, "constructor": "x", "command": "ls"}');
    const view = new EventView(toolEvent("bash", args), "");
    expect(view.tool).toBe("bash");
    expect(evaluate("has(args.admin)", args)).not.toBe(true);
    const policy = policyOf("rules:\n  - { name: admin, when: { cel: 'args.admin' }, then: allow }\n");
    expect(checkPolicy(policy, toolEvent("bash", args)).decision?.decision).toBe("block");
  });
});

describe("cost", () => {
  const many = Array.from({ length: 2000 }, (_, index) => `x${index}`);

  it.each([
    "args.l.exists(a, args.l.exists(b, a == 'q' && b == 'q'))",
    "args.l.all(a, args.l.all(b, true))",
    "args.l.map(a, args.l.map(b, b)).size() > 0",
    "args.l.filter(a, args.l.exists_one(b, b == a)).size() > 0",
    "true || args.l.exists(a, args.l.exists(b, false)) ? args.l.exists(a, args.l.exists(b, false)) : true",
    "args.l.exists(a, args.l.exists(b, b == 'q')) || true",
  ])("of nested loops is bounded: %s", (text) => {
    const spentMs = cpuTimer();
    expect(evaluate(text, { l: many })).toBe("policy_cost");
    expect(spentMs()).toBeLessThan(3000);
  });

  it("of loops is counted for the whole decision", () => {
    const language = languageOf({ maxSteps: 3000 });
    const expression = language.compile("args.l.exists(x, x == 'q')", "bool") as Expression;
    const view = new EventView(toolEvent("bash", { l: many }), "");
    language.start();
    expect(expression(view)).toBe(false);
    expect(() => expression(view)).toThrow(expect.objectContaining({ code: "policy_cost" }));
    language.start();
    expect(expression(view)).toBe(false);
  });

  it("of a pattern is linear, and its text bounded", () => {
    const spentMs = cpuTimer();
    expect(evaluate("args.t.matches('(a+)+$')", { t: `${"a".repeat(50_000)}b` })).toBe(false);
    expect(evaluate("args.t.matches(args.p)", { t: "a".repeat(5000), p: "(a|aa)+$" })).toBe(true);
    expect(spentMs()).toBeLessThan(5000);
    expect(evaluate("args.t.matches('b')", { t: "a".repeat(262_145) })).toBe("policy_cost");
    expect(evaluate("args.t.matches(args.p)", { t: "a", p: "[" })).toBe("policy_expression_failed");
    expect(evaluate("args.t.matches(args.p)", { t: "a", p: "a".repeat(1001) })).toBe(
      "policy_expression_failed",
    );
  });

  it("of values that grow and of large events is bounded", () => {
    const limits = { maxValueLength: 5000 };
    expect(
      evaluate("cel.bind(a, args.l + args.l + args.l, size(a) > 1)", { l: many }, languageOf(limits)),
    ).toBe("policy_cost");
    expect(evaluate("args.t == 'x'", { t: "a".repeat(2000) }, languageOf({ maxEventLength: 1000 }))).toBe(
      "policy_cost",
    );
  });

  it("ends at the deadline, within a loop too", () => {
    let now = 0;
    const language = languageOf({ maxDecisionMs: 50 }, [], () => now++);
    expect(evaluate("args.l.exists(x, x == 'q')", { l: many }, language)).toBe("policy_deadline");
  });

  it.each([
    ["length", `tool == '${"a".repeat(4100)}'`],
    ["nodes", Array(400).fill("tool == 'a'").join(" || ")],
    ["levels", `${"(".repeat(100)}true${")".repeat(100)}`],
    ["loops", "args.a.all(a, args.a.all(b, args.a.all(c, args.a.all(d, true))))"],
    [
      "bindings",
      "cel.bind(a, tool + tool, cel.bind(b, a + a, cel.bind(c, b + b, cel.bind(d, c + c, d == 'x'))))",
    ],
    ["brackets", "[".repeat(5000)],
    ["unknown names", "globalThis.process.exit()"],
    ["unknown functions", "eval('1') == 1"],
    ["nothing", " "],
  ])("refuses an expression of too many %s when the file is read", (_, text) => {
    const error = refusalOf(
      `version: 1\nrules:\n  - name: a\n    when: { cel: ${JSON.stringify(text)} }\n    then: allow\n`,
    );
    expect(error.code).toBe("policy_expression");
    expect(error.problems[0]?.line).toBe(4);
  });

  it("gives an expression or a problem for any text", () => {
    const language = languageOf();
    const piece = fc.constantFrom(
      "tool",
      "args",
      ".",
      "a",
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      "'",
      "&&",
      "!",
      "?",
      ":",
      "1",
      " ",
      "map",
      "exists",
      ",",
      "==",
      "+",
      "matches",
      "cel",
      "bind",
      "has",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const made = language.compile(pieces.join(""), "any");
        if (typeof made !== "function") expect(made.message).not.toBe("");
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("functions", () => {
  it("give objects, are asked once for one event, and see it", () => {
    const calls: unknown[][] = [];
    const command: PolicyFunction = {
      signature: "command(map): map",
      call: (args, { workspace, event }) => {
        calls.push([...args, workspace, event.event_type]);
        return { verdict: "block", reasons: ["removes"], programs: ["rm"] };
      },
    };
    const language = languageOf({}, [command]);
    expect(
      evaluate(
        "command(event).verdict == 'block' && 'rm' in command(event).programs",
        { command: "rm" },
        language,
      ),
    ).toBe(true);
    expect(calls).toHaveLength(1);
    expect(calls[0]?.slice(1)).toEqual(["/work", "pre_action"]);
  });

  it("that throw or promise make the rule a block that names it", () => {
    const functions: PolicyFunction[] = [
      {
        signature: "broken(string): bool",
        call: () => {
          throw new TypeError("secret internals");
        },
      },
      { signature: "later(string): bool", call: () => Promise.reject(new TypeError("no")) },
    ];
    for (const name of ["broken", "later"]) {
      const policy = policyOf(`rules:\n  - { name: judged, when: { cel: "${name}(tool)" }, then: allow }\n`, {
        functions,
      });
      const { decision, source, rule, error } = checkPolicy(policy, toolEvent("bash"));
      expect(decision).toMatchObject({
        decision: "block",
        reason: expect.stringContaining("rule judged failed"),
      });
      expect(JSON.stringify(decision)).not.toContain("secret internals");
      expect([source, rule, error?.code]).toEqual(["failure", "judged", "policy_function"]);
    }
  });

  it("with a signature that is none are refused", () => {
    const functions = [{ signature: "what is this", call: () => true }];
    expect(() => policyOf("rules: []", { functions })).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });
});
