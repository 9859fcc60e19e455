import { expect, it } from "vitest";
import { PolicyError, parsePolicy } from "../src/index.ts";

const good = `version: 1
rules:
  - name: reads
    when: { tool: read }
    then: allow
`;

it.each([
  ["a text", "x", '1 a policy is a map with version: 1 and a list of rules, and this is "x"'],
  ["no rules", "version: 1\n", '1 "rules" is missing: write rules: []'],
  ["another version", good.replace("1", "2"), '1 "version" is 2 and must be 1: write version: 1'],
  ["a misspelt decision", good.replace("allow", "alow"), '5 "then" cannot be "alow"; did you mean "allow"?'],
  ["no decision", good.replace("    then: allow\n", ""), '3 "then" is missing: write then: allow'],
  [
    "a condition that is a text",
    good.replace("{ tool: read }", "read"),
    '4 "when" is "read" and must be a map of keys and values: write when: { tool: bash }',
  ],
  ["a misspelt key", good.replace("tool:", "tools:"), '4 unknown key "tools"; did you mean "tool"?'],
  [
    "an unknown kind of action",
    good.replace("tool: read", "action: delete"),
    '4 "action" cannot be "delete"; write run, write, edit, read, search, fetch, mcp, bookkeeping, other',
  ],
  [
    "a line that is indented otherwise",
    good.replace("    then", "   then"),
    "5 this line is indented otherwise than those around it",
  ],
  [
    "a key without a colon",
    good.replace("then: allow", "then allow"),
    "5 a key needs a colon, a space and a value, such as then: allow",
  ],
  ["a star", good.replace("tool: read", "tool: *"), "4 a value that begins with * or & needs quotes"],
  [
    "an assignment",
    good.replace("tool: read", `cel: 'tool = "x"'`),
    "4 = is no operator: two values are compared with ==",
  ],
  [
    "a misspelt name",
    good.replace("tool: read", `cel: 'arg.path == "x"'`),
    '4 unknown name "arg"; did you mean "args"?',
  ],
  [
    "a misspelt function",
    good.replace("tool: read", `cel: 'args.path.startWith("x")'`),
    '4 no function "startWith" takes these values; did you mean "startsWith"?',
  ],
  [
    "an open parenthesis",
    good.replace("tool: read", `cel: 'args.path.startsWith("x"'`),
    '4 ")" is missing before the end',
  ],
  [
    "a change without values",
    good.replace("allow", "modify"),
    '5 modify needs values, such as set: { "arguments.command": ls }',
  ],
])("says of %s what is wrong, at which line, and what to write", (_, text, expected) => {
  const refuse = () => parsePolicy(text);
  expect(refuse).toThrow(PolicyError);
  try {
    refuse();
  } catch (error) {
    const [problem] = PolicyError.isInstance(error) ? error.problems : [];
    expect(`${problem?.line} ${problem?.message}`).toBe(expected);
  }
});
