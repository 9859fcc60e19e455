import { expect, it } from "vitest";
import { createPolicyHarness } from "../src/index.ts";
import { handWritten, ruleEvents, rulePolicy } from "./hand-written.ts";

it("200 rules with 50 expressions decide as the same rules written by hand", () => {
  const harness = createPolicyHarness({ policy: rulePolicy() });
  const byHand = handWritten();
  const words = ruleEvents().map((event) => {
    const { decision, rule } = harness.decide(event);
    const hand = byHand(event);
    expect({ ...decision, metadata: undefined }).toEqual({ ...hand, metadata: undefined });
    expect(rule).toBe(hand.metadata.policy.rule);
    return decision?.decision;
  });
  expect(new Set(words)).toEqual(new Set(["allow", "block"]));
});
