import { createManualClock } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { createPolicyHarness, type Policy } from "../src/index.ts";
import { policyOf, toolEvent } from "./support/policies.ts";
import { startServer } from "./support/server.ts";

const limited = (limit: string): Policy =>
  policyOf(
    `limits:\n  - { name: l, ${limit} }\nrules:\n  - { name: no, when: { tool: never }, then: block }\n  - { name: yes, then: allow }\n`,
  );

const harnessOf = (limit: string) => {
  const clock = createManualClock();
  const harness = createPolicyHarness({ policy: limited(limit), clock });
  const word = (...args: Parameters<typeof toolEvent>) =>
    harness.decide(toolEvent(...args)).decision?.decision;
  const ends = (...args: Parameters<typeof toolEvent>) =>
    harness.decide(toolEvent(args[0], args[1], { ...args[2], event_type: "post_action" }));
  return { clock, harness, word, ends };
};

describe("rates", () => {
  it("defer what is too much until there is room", () => {
    const { clock, harness, word } = harnessOf("rate: { max: 2, window_ms: 1000 }");
    expect(word("a")).toBe("allow");
    clock.advance(400);
    expect([word("b"), word("c")]).toEqual(["allow", "defer"]);
    expect(harness.decide(toolEvent("c"))).toMatchObject({
      source: "limit",
      rule: "l",
      decision: { decision: "defer", retry_after_ms: 600, reason: "at most 2 in 1000 ms (limit l)" },
    });
    clock.advance(600);
    expect([word("c"), word("c")]).toEqual(["allow", "defer"]);
  });

  it("count by session, agent or tool, and only what may go on", () => {
    const { word } = harnessOf("per: [session, tool], rate: { max: 1, window_ms: 1000 }");
    expect([word("a"), word("a")]).toEqual(["allow", "defer"]);
    expect([word("b"), word("a", {}, { session_id: "s2" })]).toEqual(["allow", "allow"]);
    expect([word("never"), word("never")]).toEqual(["block", "block"]);
    const byAgent = harnessOf("per: agent, rate: { max: 1, window_ms: 1000 }");
    expect([byAgent.word("a"), byAgent.word("b"), byAgent.word("b", {}, { agent_id: "a2" })]).toEqual([
      "allow",
      "defer",
      "allow",
    ]);
  });

  it("decide by their own words, and only where they apply", () => {
    const { word } = harnessOf(
      "when: { tool: a, cel: args.x }, rate: { max: 1, window_ms: 1000 }, then: escalate",
    );
    expect([word("a", { x: true }), word("a", { x: true }), word("a", { x: false }), word("b")]).toEqual([
      "allow",
      "escalate",
      "allow",
      "allow",
    ]);
    expect(word("a", {})).toBe("block");
  });

  it("in shadow tell, and let pass", () => {
    const { harness, word } = harnessOf("mode: shadow, rate: { max: 1, window_ms: 1000 }");
    expect([word("a"), word("a")]).toEqual(["allow", "allow"]);
    expect(harness.decide(toolEvent("a")).shadowed).toEqual([
      { rule: "l", decision: "defer", why: "at most 1 in 1000 ms" },
    ]);
  });

  it("never let more pass in any window, whatever the times", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 80 }),
        fc.integer({ min: 1, max: 5 }),
        (gaps, max) => {
          const { clock, word } = harnessOf(`rate: { max: ${max}, window_ms: 1000 }`);
          const passed: number[] = [];
          for (const gap of gaps) {
            clock.advance(gap);
            const now = clock.now();
            const inWindow = passed.filter((time) => time > now - 1000).length;
            expect(word("a")).toBe(inWindow < max ? "allow" : "defer");
            if (inWindow < max) passed.push(now);
          }
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it("hold back who is new when too many are counted, and forget those whose time is over", () => {
    const clock = createManualClock();
    const policy = policyOf(
      "limits: [{ name: l, per: session, rate: { max: 5, window_ms: 1000 } }]\nrules: [{ name: y, then: allow }]\n",
      {
        limits: { maxLimitKeys: 2 },
      },
    );
    const harness = createPolicyHarness({ policy, clock });
    const word = (session_id: string) =>
      harness.decide(toolEvent("a", {}, { session_id })).decision?.decision;
    expect(["s1", "s2", "s3", "s1"].map(word)).toEqual(["allow", "allow", "defer", "allow"]);
    clock.advance(1001);
    expect(word("s3")).toBe("allow");
  });
});

describe("a call that is judged again, after a change or a human's answer", () => {
  const call = (call_id: string, session_id = "s1") => ({ metadata: { call_id }, session_id });

  it.each(["rate: { max: 1, window_ms: 1000 }", "concurrent: { max: 1 }"])("is counted once: %s", (limit) => {
    const { word, ends } = harnessOf(limit);
    expect([word("a", {}, call("1")), word("a", { x: 1 }, call("1"))]).toEqual(["allow", "allow"]);
    expect([word("a", {}, call("2")), word("a", {}, call("1", "s2")), word("a")]).toEqual([
      "defer",
      "defer",
      "defer",
    ]);
    ends("a", {}, call("unknown"));
    expect(word("a", {}, call("1"))).toBe("allow");
  });
});

describe("actions at a time", () => {
  it("are bounded, and end with their event, their session or their time", () => {
    const { clock, word, ends } = harnessOf("per: session, concurrent: { max: 2, expire_ms: 5000 }");
    expect([word("a"), word("b"), word("c")]).toEqual(["allow", "allow", "defer"]);
    ends("a");
    expect([word("c"), word("c")]).toEqual(["allow", "defer"]);
    ends("a");
    expect([word("c"), word("c")]).toEqual(["allow", "defer"]);
    clock.advance(5001);
    expect([word("c"), word("c"), word("c")]).toEqual(["allow", "allow", "defer"]);
  });

  it("of a session are given back when it ends", () => {
    const { harness, word } = harnessOf("per: tool, concurrent: { max: 1 }");
    expect([word("a"), word("a", {}, { session_id: "s2" })]).toEqual(["allow", "defer"]);
    harness.decide(toolEvent("", {}, { event_type: "session_end", payload: {} }));
    expect(word("a", {}, { session_id: "s2" })).toBe("allow");
  });

  it("are told apart by the call's id", () => {
    const { word, ends } = harnessOf("concurrent: { max: 2 }");
    const call = (call_id: string) => ({ metadata: { call_id } });
    expect([word("a", {}, call("1")), word("a", {}, call("2"))]).toEqual(["allow", "allow"]);
    ends("a", {}, call("unknown"));
    expect(word("a", {}, call("3"))).toBe("defer");
    ends("a", {}, call("2"));
    ends("a", {}, call("2"));
    expect([word("a", {}, call("3")), word("a", {}, call("4"))]).toEqual(["allow", "defer"]);
  });
});

describe("in a server", () => {
  it("the decisions come with their explanation, and what a policy has no say in is not supported", async () => {
    const harness = createPolicyHarness({
      policy: policyOf("rules: [{ name: y, when: { tool: a }, then: allow }]"),
    });
    const { server, ask, handshake, errors } = await startServer(harness.handlers, {
      capabilities: harness.capabilities,
    });
    expect(handshake.harness_info.capabilities).toEqual(harness.capabilities);
    const same = { session_id: "sess-abc", agent_id: "agent-xyz" };
    const { result } = await ask("ahp/event", { ...toolEvent("a"), ...same });
    expect(result).toMatchObject({ decision: "allow", metadata: { policy: { rule: "y" } } });
    const blocked = await ask("ahp/event", { ...toolEvent("b"), ...same });
    expect(blocked.result).toMatchObject({ decision: "block", reason: "no rule of the policy allows it" });
    const planning = { session_id: "s", task_description: "t", available_strategies: ["none"] };
    const refused = await ask("ahp/event", {
      ...toolEvent("a"),
      ...same,
      event_type: "planning",
      payload: planning,
    });
    expect(refused.error).toMatchObject({ code: -32603, data: { reason: "not_supported" } });
    expect(errors).toHaveLength(1);
    expect(harness.stats()).toMatchObject({ decisions: 3, failures: 0 });
    await server.close();
  });

  it("tells of every decision, and of what the listener throws", () => {
    const seen: unknown[] = [];
    const errors: unknown[] = [];
    const harness = createPolicyHarness({
      policy: limited("rate: { max: 1, window_ms: 1000 }"),
      onDecision: ({ rule }, { event_type }) => {
        seen.push([rule, event_type]);
        throw new TypeError("listener");
      },
      onError: (error) => errors.push(error),
    });
    harness.decide(toolEvent("a"));
    harness.decide(toolEvent("a"));
    expect(seen).toEqual([
      ["yes", "pre_action"],
      ["l", "pre_action"],
    ]);
    expect(errors).toHaveLength(2);
  });
});
