import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AuditEntryInput } from "../src/entry.ts";
import { EntryFormatter } from "../src/entry-formatter.ts";
import { toLimits } from "../src/limits.ts";
import { createRedactor } from "../src/redactor.ts";

/** Few of each, so that entries in a row have much in common. */
const id = fc.option(fc.constantFrom("a", "b", 'q"', "x".repeat(600), "hunter2hunter2", ""), {
  nil: undefined,
});
const details = fc.constantFrom<AuditEntryInput["details"][]>(
  undefined,
  { one: "a", two: 1 },
  { one: "a", two: 2 },
  { one: "a", two: "hunter2hunter2" },
  { one: "a", two: undefined, three: 1 },
  { one: undefined, two: 2 },
  { one: "a", two: [] as never, three: 1 },
  { one: "hunter2hunter2" },
  { one: "hunter2hunter2", two: undefined },
  { one: undefined, two: "hunter2hunter2" },
  { two: 1, one: "a" },
  { one: 0 },
  { one: -0 },
  { one: Number.NaN },
  { password: "a" },
  { "a key": "y".repeat(600) },
  { one: "a", two: 1, three: true, four: null },
);
const entry: fc.Arbitrary<AuditEntryInput> = fc.record({
  action: fc.constantFrom("tool.call", "ahp.event", "No action"),
  outcome: fc.constantFrom("ok" as const, "refused" as const, undefined),
  actor: fc.constantFrom(undefined, undefined, { type: "user", id: "u" }),
  agent_id: id,
  tool_id: id,
  call_id: id,
  session_id: id,
  duration_ms: fc.constantFrom(undefined, 0, 1.5),
  details,
});
const step = fc.oneof(
  { weight: 4, arbitrary: entry.map((input) => ({ input })) },
  { weight: 1, arbitrary: fc.constant({ input: undefined }) },
);

describe("what entries in a row have in common", () => {
  it("is written as if each were the first, also behind a secret that was added in between", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 30 }), fc.boolean(), (steps, isSmall) => {
        const limits = toLimits(isSmall ? { maxStringLength: 32, maxKeys: 2 } : {});
        const redactor = createRedactor();
        const formatter = new EntryFormatter(redactor, limits);
        steps.forEach(({ input }, index) => {
          if (input === undefined) redactor.addSecret("hunter2hunter2");
          else {
            const alone = new EntryFormatter(redactor, limits).format(input, index, 1000 * index);
            expect(formatter.format(input, index, 1000 * index)).toBe(alone);
          }
        });
      }),
      { numRuns: 500 },
    );
  });

  it("is written anew behind a secret that a value brings while it is read", () => {
    const redactor = createRedactor();
    const formatter = new EntryFormatter(redactor, toLimits({}));
    const first = { action: "tool.call", details: { one: 1, two: "abcdef12" } };
    expect(formatter.format(first, 1, 0)).toContain("abcdef12");
    const details = {
      get one() {
        redactor.addSecret("abcdef12");
        return 2;
      },
      two: "abcdef12",
    };
    expect(formatter.format({ action: "tool.call", details }, 2, 0)).not.toContain("abcdef12");
    expect(formatter.format(first, 3, 0)).not.toContain("abcdef12");
  });
});
