import { commandJudge } from "@harnesskit/command-judge";
import { createPolicyHarness } from "@harnesskit/policy";
import { defaultPolicyFile, loadPolicy } from "@harnesskit/policy/node";
import { beforeAll, describe, expect, it } from "vitest";
import { answerHook, type HookCall, hosts } from "../src/index.ts";
import { examplesOf, readExample } from "./support/examples.ts";

let harness: ReturnType<typeof createPolicyHarness>;
beforeAll(async () => {
  harness = createPolicyHarness({ policy: await loadPolicy(defaultPolicyFile, commandJudge()) });
});

const decide = (call: HookCall) => {
  if (!call.event) throw new Error("nothing to decide");
  return harness.decide(call.event);
};

describe.each(hosts.map((host) => ({ id: host.id, host })))(
  "the policy for coding agents, for $id",
  ({ host }) => {
    const callsOf = (kind: string) =>
      examplesOf(host)
        .map((example) => ({ example, call: readExample(host, example) }))
        .filter(({ call }) => call.event?.event_type === "pre_action" && call.action?.kind === kind);

    it("blocks a command that destroys", () => {
      for (const { example } of callsOf("run")) {
        const text = JSON.stringify(example.input, (key, value) => (key === "command" ? "rm -rf /" : value));
        const replaced = text.replace(/\{\\"command\\":[^}]*\}/, String.raw`{\"command\":\"rm -rf /\"}`);
        const call = readExample(host, { ...example, input: JSON.parse(replaced) });
        const { decision, rule } = decide(call);
        expect(rule).toBe("destructive-commands");
        expect(answerHook(call, decision)).toMatchObject({ effect: "block" });
      }
      expect(callsOf("run").length).toBeGreaterThan(0);
    });

    it("lets reads inside the workspace pass, and asks about writes and about what it does not know", () => {
      for (const { call } of callsOf("read")) expect(decide(call).rule).toBe("reads");
      for (const kind of ["write", "edit"]) {
        for (const { call } of callsOf(kind)) expect(decide(call).rule).toBe("writes");
      }
      expect(callsOf("other").length).toBeGreaterThan(0);
      for (const { call } of [...callsOf("other"), ...callsOf("mcp")]) {
        expect(decide(call).decision).toMatchObject({ decision: "escalate" });
      }
    });
  },
);
