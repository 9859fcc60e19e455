import { createPolicyHarness, parsePolicy } from "@harnesskit/policy";
import { expect, it } from "vitest";
import { policyOptions } from "../src/ahp/policy-file.ts";
import { createStyle } from "../src/terminal/style.ts";
import { blockedLines } from "../src/timeline/judgements.ts";

it("shows of a blocked call the rule, and a line of a policy that allows exactly this call", () => {
  const input = { command: 'rm -rf "it\'s"' };
  const judgement = { decision: "block", by: "policy coding-agent", rule: "destructive-commands" } as const;
  const [head = "", line = ""] = blockedLines({ tool: "bash", input, judgement }, createStyle(false));
  expect(head).toContain("rule destructive-commands of policy coding-agent; to allow it, put this line");
  const text = `version: 1\nname: mine\nrules:\n  ${line.replace(/^ *│ /, "")}\n`;
  const policy = createPolicyHarness({ policy: parsePolicy(text, policyOptions) });
  const decide = (command: string) =>
    policy.decide({
      event_type: "pre_action",
      payload: { action_type: "tool_call", tool_name: "bash", arguments: { command } },
    } as never).decision as { readonly decision: string };
  expect(decide(input.command).decision).toBe("allow");
  expect(decide("rm -rf /").decision).not.toBe("allow");
  const long = { path: "x".repeat(400) };
  expect(blockedLines({ tool: "write", input: long, judgement }, createStyle(false))).toHaveLength(1);
});
