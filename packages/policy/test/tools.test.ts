import type { AuditEntry } from "@harnesskit/audit";
import type { AhpEventType } from "@harnesskit/protocol/ahp";
import { describe, expect, it } from "vitest";
import { backtest, PolicyError, parsePolicyCases, testPolicy } from "../src/index.ts";
import { policyOf, toolEvent } from "./support/policies.ts";

const policy = policyOf(`
name: team
limits: [{ name: calm, when: { tool: fetch }, rate: { max: 2, window_ms: 1000 } }]
rules:
  - { name: reads, when: { tool: read }, then: allow }
  - { name: fetches, when: { tool: fetch }, then: allow }
  - { name: moves, when: { tool: write }, then: { decision: modify, set: { arguments.path: /tmp/x } } }
  - { name: looks, mode: shadow, when: { tool: bash }, then: block }
  - { name: never, when: { tool: nobody }, then: block }
  - { name: breaks, when: { tool: odd, cel: "args.path.startsWith('x')" }, then: block }
`);

describe("testing a policy", () => {
  it("compares decisions, rules, reasons and payloads, and says which rules nobody tried", () => {
    const cases = parsePolicyCases(`
cases:
  - { name: reading, tool: read, expect: allow }
  - { name: reading by rule, tool: read, args: { path: a }, expect: { decision: allow, rule: reads } }
  - { name: moving, tool: write, expect: { decision: modify, modified_payload: { tool_name: write, arguments: { path: /tmp/x } } } }
  - { name: too often, tool: fetch, repeat: 3, expect: { decision: defer, rule: calm, reason: at most 2 } }
  - { name: not too often, tool: fetch, repeat: 2, expect: { rule: fetches } }
  - { name: default, tool: bash, expect: { decision: block, rule: null } }
  - { name: failing, tool: odd, expect: { decision: block, rule: breaks, reason: "the rule breaks failed: No such key" } }
  - { name: wrong, tool: read, expect: { decision: block, rule: never, reason: because } }
`);
    const report = testPolicy(policy, cases);
    expect([report.passed, report.failed]).toEqual([7, 1]);
    const wrong = report.results.find(({ passed }) => !passed);
    expect(wrong).toMatchObject({
      name: "wrong",
      problems: [
        'decision: expected "block", got "allow"',
        'rule: expected "never", got "reads"',
        'reason: expected "because", got none',
      ],
    });
    expect(report.coverage.uncovered).toEqual(["never"]);
    expect(report.coverage.ratio).toBeCloseTo(6 / 7);
    expect(report.coverage.decisions.get("reads")).toBe(3);
  });

  it("refuses a broken file of cases with its place", () => {
    let thrown: unknown;
    try {
      parsePolicyCases("cases:\n  - name: a\n    expect: perhaps\n", { file: "x.test.yaml" });
    } catch (error) {
      thrown = error;
    }
    expect(PolicyError.isInstance(thrown) && thrown.code).toBe("policy_invalid");
    expect((thrown as PolicyError).problems[0]).toMatchObject({ line: 3, column: 13 });
    expect((thrown as PolicyError).message).toMatch(/^x\.test\.yaml:3:13: /);
  });
});

describe("testing against what was recorded", () => {
  const entry = (
    seq: number,
    decision: string | undefined,
    details: Record<string, string | number | boolean>,
    ms = seq,
  ): AuditEntry => ({
    seq,
    time: new Date(Date.UTC(2026, 4, 1) + ms).toISOString(),
    action: "ahp.event",
    session_id: "s1",
    agent_id: "a1",
    details: {
      event_type: "pre_action",
      depth: 0,
      ...(decision === undefined ? {} : { decision }),
      ...details,
    },
  });
  const eventIn = (tool: string, event_type: AhpEventType = "pre_action") => ({
    event: JSON.stringify(toolEvent(tool, {}, { event_type })),
  });

  it("tells what would have been decided otherwise, with limits at the times of then", async () => {
    const report = await backtest(policy, [
      entry(1, "allow", eventIn("read")),
      entry(2, "allow", eventIn("bash")),
      entry(3, "block", eventIn("read")),
      entry(4, "allow", eventIn("fetch"), 0),
      entry(5, "allow", eventIn("fetch"), 10),
      entry(6, "allow", eventIn("fetch"), 20),
      entry(7, "allow", { ...eventIn("fetch"), event_cut: true }, 1500),
      entry(8, "allow", {}),
      entry(9, "allow", { event: "{ torn" }),
      entry(10, undefined, eventIn("read", "post_action")),
      { seq: 11, time: "2026-05-01T00:00:00.000Z", action: "ahp.handshake" },
    ]);
    expect(report).toMatchObject({ decided: 9, withoutEvent: 2, cut: 1, same: 4, changed: 3 });
    expect(report.transitions).toEqual({
      "allow → allow": 4,
      "allow → block": 1,
      "block → allow": 1,
      "allow → defer": 1,
    });
    expect(report.changes.map(({ seq, was, now, explanation }) => [seq, was, now, explanation.rule])).toEqual(
      [
        [2, "allow", "block", undefined],
        [3, "block", "allow", "reads"],
        [6, "allow", "defer", "calm"],
      ],
    );
  });

  it("lists so many changes as asked for, and takes events from elsewhere", async () => {
    async function* entries() {
      for (let seq = 1; seq <= 5; seq++) yield entry(seq, "block", {});
    }
    const report = await backtest(policy, entries(), { eventOf: () => toolEvent("read"), maxChanges: 2 });
    expect([report.changed, report.changes.length]).toEqual([5, 2]);
  });
});
