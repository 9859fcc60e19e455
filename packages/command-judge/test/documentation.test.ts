import { readFileSync } from "node:fs";
import { parsePolicy, parsePolicyCases, secretFunctions } from "@harnesskit/policy";
import { describe, expect, it } from "vitest";
import { commandJudge } from "../src/index.ts";

const page = readFileSync(new URL("../../../docs/policies.md", import.meta.url), "utf8");
const fences = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

describe("the page about policies", () => {
  it("shows policies and cases that can be read", () => {
    const cases = fences.filter((text) => /^cases:/m.test(text));
    const policies = fences.filter((text) => /^version: 1$/m.test(text));
    expect([cases.length, policies.length, fences.length]).toEqual([1, 2, 3]);
    expect(parsePolicyCases(cases[0] as string)).toHaveLength(2);
    const read = policies.map(
      (text) => parsePolicy(text, { functions: [...commandJudge().functions, ...secretFunctions] }).rules,
    );
    expect(read).toEqual([
      ["reads", "force", "into-tmp"],
      ["tests", "tmp"],
    ]);
  });
});
