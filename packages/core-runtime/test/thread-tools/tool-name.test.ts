import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../test-kit/nightly.ts";
import { toModelToolName } from "../../src/thread-tools/agent-tools.ts";

const first = fc.stringMatching(/^[A-Za-z0-9]$/);
const agentId = fc.tuple(first, fc.stringMatching(/^[A-Za-z0-9._-]{0,12}$/)).map((parts) => parts.join(""));
const toolName = fc
  .tuple(fc.stringMatching(/^[A-Za-z0-9_]$/), fc.stringMatching(/^[A-Za-z0-9_.:-]{0,12}$/))
  .map((parts) => parts.join(""));
const toolId = fc.tuple(agentId, toolName).map((parts) => parts.join("/"));
/** Ids that only marks tell apart. */
const closeId = fc
  .tuple(
    fc.constantFrom("a.b", "a_b", "a-b", "a..b", "a.b_", "a"),
    fc.constantFrom("c", "c_d", "c.d", "c__d", "_c", "b__c"),
  )
  .map((parts) => parts.join("/"));

describe("the name of a tool for a model", () => {
  it.each([
    ["com.example.hello/greet", "com_example_hello__greet"],
    ["com.example.python/word_count", "com_example_python__word_count"],
    ["a-b/c-d", "a-b__c-d"],
  ])("shows %s as %s", (id, name) => {
    expect(toModelToolName(id)).toBe(name);
  });

  it("is one that models take, and of one tool alone", () => {
    const either = fc.oneof(toolId, closeId);
    fc.assert(
      fc.property(either, either, (a, b) => {
        expect(toModelToolName(a)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(toModelToolName(a) === toModelToolName(b)).toBe(a === b);
      }),
      { numRuns: runs(200) },
    );
  });

  it("keeps long names apart", () => {
    const agent = "a".repeat(60);
    const names = [`${agent}/one`, `${agent}/two`, `${agent}b/one`].map(toModelToolName);
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toHaveLength(64);
  });
});
