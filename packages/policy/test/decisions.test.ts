import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { payloads } from "../../../test-kit/ahp-payloads.ts";
import { runs } from "../../../test-kit/nightly.ts";
import { checkPolicy, createPolicyHarness } from "../src/index.ts";
import { eventOf, policyOf, refusalOf, toolEvent } from "./support/policies.ts";

const allTypes = Object.keys(ahpEvents) as AhpEventType[];

describe("the request to a model", () => {
  const request = (payload: object) => ({ ...eventOf("pre_prompt", payload as never) });

  it("is blocked without a rule, and the reason says what to set", () => {
    for (const defaults of ["", "defaults: { gate: block }\n"]) {
      const policy = policyOf(`${defaults}rules: [{ name: reads, when: { tool: read }, then: allow }]`);
      expect(checkPolicy(policy, request({ prompt: "hi" })).decision).toMatchObject({
        decision: "block",
        reason: expect.stringMatching(/pre_prompt.*defaults: \{ pre_prompt: allow \}/),
      });
    }
  });

  it("is asked about once a turn: a further one only by a rule that names it, and a block holds for each", () => {
    const policy = policyOf(`
defaults: { gate: { decision: escalate, reason: look } }
rules:
  - { name: added, when: { event: pre_prompt, cel: 'payload.step > 0 && payload.added.contains("key")' }, then: { decision: escalate, reason: a key } }
  - { name: never, when: { event: pre_prompt, cel: 'payload.prompt == "no"' }, then: block }
  - { name: prompts, when: { event: pre_prompt, cel: 'payload.prompt == "ask"' }, then: { decision: escalate, reason: asked } }
  - { name: kind, when: { event: pre_prompt, cel: 'payload.prompt == "hi"' }, then: { decision: modify, set: { prompt: hello } } }
`);
    const words = (payload: object) => checkPolicy(policy, request(payload)).decision?.decision;
    const steps = (prompt: string) => [0, 1].map((step) => words({ prompt, step, added: "a" }));
    expect([steps("other"), steps("ask"), steps("hi"), steps("no")]).toEqual([
      ["escalate", "allow"],
      ["escalate", "allow"],
      ["modify", "allow"],
      ["block", "block"],
    ]);
    expect(words({ prompt: "ask", step: 1, added: "the key" })).toBe("escalate");
  });
});

describe("skipHostPrompt", () => {
  const text = (then: string, event = "pre_action") =>
    `rules: [{ name: r, when: { event: ${event} }, then: ${then} }]`;

  it("tells the host of a hook that it need not ask its own user; a plain allow does not", () => {
    const decide = (then: string) =>
      checkPolicy(policyOf(text(then)), toolEvent("bash", { command: "ls" })).decision;
    const skipping = decide("{ decision: allow, skipHostPrompt: true, metadata: { a: 1 } }");
    expect(skipping).toMatchObject({ decision: "allow", metadata: { skip_host_prompt: true, a: 1 } });
    expect(skipping).not.toHaveProperty("skipHostPrompt");
    expect(decide("allow")).not.toHaveProperty("metadata.skip_host_prompt");
  });

  it.each([
    ["another decision", "{ decision: escalate, reason: r, skipHostPrompt: true }", "pre_action"],
    ["another event", "{ decision: allow, skipHostPrompt: true }", "pre_prompt"],
    ["another value", "{ decision: allow, skipHostPrompt: false }", "pre_action"],
  ])("is refused with %s", (_, then, event) => {
    const { code, problems } = refusalOf(`version: 1\n${text(then, event)}`);
    expect(code).toBe("policy_invalid");
    expect(problems[0]?.path).toContain("rules.0.then");
  });
});

describe("rules", () => {
  const policy = policyOf(
    `
name: team
lists: { readers: [read, glob, grep] }
rules:
  - { name: reads, when: { tool: "@readers" }, then: allow }
  - name: push
    description: Pushing by force loses work.
    when: { tool: bash, cel: [args.command.startsWith("git push"), args.command.contains("--force")] }
    then: block
  - { name: night, when: { tool: bash, agent: "night-*" }, then: { decision: defer, retry_after_ms: 5000 } }
  - { name: shell, when: { tool: bash, session: [s1, s2] }, then: { decision: escalate, reason: "run \${args.command}?", escalation_target: owner } }
  - { name: prompts, when: { event: pre_prompt }, then: { decision: modify, modified_payload: { prompt: "\${payload.prompt} Be kind.", n: "\${size(payload.prompt)}" } } }
  - { name: move, when: { tool: write }, then: { decision: modify, set: { arguments.path: "\${workspace}/\${args.path}", arguments.tags: [a, "\${tool}"] } } }
`,
    { workspace: "/work" },
  );
  const of = (event: ReturnType<typeof toolEvent>) => checkPolicy(policy, event);

  it("are asked in order, and the first that holds decides and says why", () => {
    expect(of(toolEvent("grep")).decision).toEqual({
      decision: "allow",
      metadata: { policy: { name: "team", rule: "reads", why: "tool: @readers" } },
    });
    const { decision, rule, source } = of(toolEvent("bash", { command: "git push --force" }));
    expect(decision).toMatchObject({ decision: "block", reason: "Pushing by force loses work. (rule push)" });
    expect([rule, source]).toEqual(["push", "rule"]);
    expect(of(toolEvent("bash", { command: "ls" }, { agent_id: "night-1" })).decision).toEqual({
      decision: "defer",
      retry_after_ms: 5000,
      reason: "not allowed by the policy (rule night)",
    });
    expect(of(toolEvent("bash", { command: "ls" })).decision).toEqual({
      decision: "escalate",
      reason: "run ls? (rule shell)",
      escalation_target: "owner",
    });
    expect(of(toolEvent("bash", { command: "ls" }, { session_id: "s3" })).source).toBe("default");
  });

  it("modify a payload, wholly or in places", () => {
    expect(of(eventOf("pre_prompt", { prompt: "Hello." })).decision).toMatchObject({
      decision: "modify",
      modified_payload: { prompt: "Hello. Be kind.", n: 6 },
    });
    const event = toolEvent("write", { path: "a.txt", content: "x" }, { metadata: { workspace: "/repo" } });
    const before = structuredClone(event);
    expect(of(event).decision).toMatchObject({
      modified_payload: {
        tool_name: "write",
        arguments: { path: "/repo/a.txt", content: "x", tags: ["a", "write"] },
      },
    });
    expect(event).toEqual(before);
  });

  it("that fail block, name themselves and come before those after them", () => {
    const { decision, source, rule, error } = of(toolEvent("bash", {}));
    expect(decision).toMatchObject({
      decision: "block",
      reason: "the rule push failed: No such key: command",
    });
    expect([source, rule, error?.code]).toEqual(["failure", "push", "policy_expression_failed"]);
  });

  it("whose decision is none of the event's block, too", () => {
    const bad = policyOf(
      `rules:\n  - { name: odd, when: { event: context_perception }, then: { decision: allow, injected_context: "\${payload.query}" } }\n`,
    );
    const { decision, error } = checkPolicy(bad, eventOf("context_perception", { query: 3 }));
    expect(decision).toMatchObject({
      decision: "block",
      reason: expect.stringContaining("the rule odd failed"),
    });
    expect(error?.code).toBe("policy_decision");
  });
});

describe("defaults", () => {
  it("block gates, allow what is told, and leave what has a decision of its own", () => {
    const policy = policyOf("rules: []");
    const words = Object.fromEntries(
      allTypes.map((type) => [type, checkPolicy(policy, eventOf(type, payloads[type])).decision?.decision]),
    );
    expect(words).toMatchObject({
      pre_action: "block",
      pre_prompt: "block",
      post_action: "allow",
      run_lifecycle: "allow",
      idle: "allow",
      confirmation: "escalate",
      planning: undefined,
      rate_limit: undefined,
    });
  });

  it("that allow are bare, unless a rule in shadow has something to say", () => {
    const bare = policyOf("defaults: { gate: allow }\nrules: []");
    expect(checkPolicy(bare, toolEvent("a")).decision).toEqual({ decision: "allow" });
    const told = policyOf("defaults: { gate: allow }\nrules: [{ name: r, mode: shadow, then: block }]");
    expect(checkPolicy(told, toolEvent("a")).decision).toMatchObject({
      decision: "allow",
      metadata: { policy: { source: "default", shadowed: ["r: block"] } },
    });
  });

  it("are those of the file, a type's before its class's", () => {
    const policy = policyOf(`
defaults:
  gate: { decision: escalate, reason: ask }
  pre_prompt: allow
  planning: { decision: allow, selected_strategy: none }
  rate_limit: { decision: skip, reason: "\${payload.limit_type} is hit" }
rules: []
`);
    const of = (type: AhpEventType) => checkPolicy(policy, eventOf(type, payloads[type])).decision;
    expect(of("pre_action")).toEqual({ decision: "escalate", reason: "ask" });
    expect(of("pre_prompt")?.decision).toBe("allow");
    expect(of("planning")).toMatchObject({ decision: "allow", selected_strategy: "none" });
    expect(of("rate_limit")).toEqual({
      decision: "skip",
      reason: expect.stringMatching(/is hit$/),
    });
  });

  it("refuse by the word that each type has, where a rule fails", () => {
    const policy = policyOf(
      `rules:\n${allTypes
        .map((type, index) => {
          const then = ahpEvents[type].decision.safeParse({ decision: "block", reason: "" }).success
            ? "block"
            : type === "idle"
              ? "defer"
              : type === "rate_limit"
                ? "{ decision: skip, reason: no }"
                : "{ decision: reject, reason: no }";
          return `  - { name: r${index}, when: { event: ${type}, cel: "payload.missing" }, then: ${then} }`;
        })
        .join("\n")}`,
    );
    for (const type of allTypes) {
      const { decision, source } = checkPolicy(policy, eventOf(type, payloads[type]));
      expect(source).toBe("failure");
      expect(ahpEvents[type].decision.safeParse(decision).success, type).toBe(true);
      const refusals = ["block", "defer", "skip", "reject"];
      expect(refusals).toContain(decision?.decision);
    }
  });
});

describe("what is the same for every event", () => {
  const ofFile = (name: string) =>
    policyOf(
      `name: ${name}\nrules: [{ name: r, when: { event: [pre_action, error] }, then: { decision: block, reason: no, metadata: { by: [${name}] } } }]`,
    );

  it("is not mixed up between policies that are asked in turn", () => {
    const policies = [ofFile("one"), ofFile("two")];
    for (let turn = 0; turn < 6; turn++) {
      const policy = policies[turn % 2] as (typeof policies)[number];
      expect(checkPolicy(policy, toolEvent("a")).decision).toMatchObject({
        metadata: { policy: { name: policy.name }, by: [policy.name] },
      });
    }
  });
});

describe("shadow", () => {
  it("of a policy lets everything pass, and tells what it would decide", () => {
    const policy = policyOf(
      "mode: shadow\nrules:\n  - { name: strict, when: { tool: bash }, then: block }\n",
    );
    const { decision, decided, mode } = checkPolicy(policy, toolEvent("bash"));
    expect(mode).toBe("shadow");
    expect(decision).toMatchObject({
      decision: "allow",
      metadata: { policy: { mode: "shadow", would: "block", rule: "strict" } },
    });
    expect(decided?.decision).toBe("block");
  });
});

describe("reasons", () => {
  it("show what an event says safely, cut, and without secrets", () => {
    const policy = policyOf(
      `rules:\n  - { name: r, then: { decision: block, reason: "\${args.c}|\${args.d}" } }\n`,
    );
    const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    const { decision } = checkPolicy(
      policy,
      toolEvent("bash", { c: `\u202e\u0007 ${token}`, d: "x".repeat(10_000) }),
    );
    const { reason } = decision as { reason: string };
    expect(reason).toContain("⟨U+202E⟩⟨U+0007⟩");
    expect(reason).not.toContain(token);
    expect(reason.length).toBeLessThan(600);
    expect(reason).toMatch(/\(rule r\)$/);
  });

  it(`take a $\${ for itself and a brace inside quotes for text`, () => {
    const policy = policyOf(
      `rules:\n  - { name: r, then: { decision: block, reason: '$\${a} \${"}" + tool}' } }\n`,
    );
    expect(checkPolicy(policy, toolEvent("t")).decision).toMatchObject({ reason: `\${a} }t (rule r)` });
  });
});

it("gives every event of any content a decision of its type, and never throws", () => {
  const policy = policyOf(`
limits: [{ name: l, per: [session, tool], rate: { max: 2, window_ms: 1000 }, concurrent: { max: 2 } }]
rules:
  - { name: a, when: { tool: "b*", cel: 'args.command.contains("x")' }, then: { decision: modify, set: { arguments.command: "\${tool}" } } }
  - { name: b, when: { cel: 'payload.list.exists(x, x == tool)' }, then: { decision: escalate, reason: "\${payload}" } }
  - { name: c, when: { event: [post_action, session_end] }, then: allow }
`);
  const harness = createPolicyHarness({ policy });
  const tool = fc.oneof(fc.constantFrom("bash", "b", "read", "", "__proto__", "constructor"), fc.string());
  const payload = fc.oneof(
    fc.jsonValue(),
    fc.record({
      tool_name: fc.oneof(tool, fc.jsonValue()),
      arguments: fc.oneof(fc.record({ command: fc.oneof(fc.string(), fc.integer()) }), fc.jsonValue()),
      list: fc.oneof(fc.array(tool), fc.jsonValue()),
    }),
  );
  fc.assert(
    fc.property(
      payload,
      fc.constantFrom<AhpEventType>("pre_action", "pre_prompt", "post_action", "session_end"),
      (content, type) => {
        const { decision } = harness.decide(eventOf(type, content));
        const result = ahpEvents[type].decision.safeParse(decision);
        expect(result.success).toBe(true);
        expect(decision).toEqual(JSON.parse(JSON.stringify(decision)));
      },
    ),
    { numRuns: runs(100) },
  );
});
