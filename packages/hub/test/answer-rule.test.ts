import { createMemoryApprovalStore, ruleOfAnswer } from "@harnesskit/approvals";
import { sampleQuestion } from "@harnesskit/approvals/testing";
import { checkPolicy, parsePolicy } from "@harnesskit/policy";
import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";

const lineOf = async (command: string): Promise<string> => {
  const store = createMemoryApprovalStore();
  const { record } = await store.ask(sampleQuestion({ subject: { input: { command } } }));
  await store.close();
  return ruleOfAnswer(record)?.line ?? "";
};

const decides = (line: string) => {
  const policy = parsePolicy(`version: 1\ndefaults: { gate: escalate }\nrules:\n  ${line}\n`);
  return (command: string, tool = "bash") => {
    const payload = { action_type: "tool_call", tool_name: tool, arguments: { command } };
    const event = {
      ...{ event_type: "pre_action", session_id: "s", agent_id: "a", timestamp: new Date(0).toISOString() },
      ...{ depth: 0, payload },
    };
    return checkPolicy(policy, event as never).decided?.decision;
  };
};

it("makes a rule of an answer that covers one plain command, and nothing that a shell reads as more", async () => {
  const decide = decides(await lineOf("npm test -- --watch"));
  for (const command of [
    "npm test",
    "npm test -- --watch",
    "npm test src/a.test.ts --run",
    "npm test a=b,c@d+e",
  ])
    expect([command, decide(command)]).toEqual([command, "allow"]);
  for (const command of [
    ...["npm test; ls", "npm test && ls", "npm test | sh", "npm test $(id)", "npm test `id`", "npm test\nls"],
    ...[
      "npm test\r\nls",
      "npm test > f",
      "npm test < f",
      "npm test &",
      "npm tests",
      "npm testx",
      "xnpm test",
    ],
    ...[
      " npm test",
      "npm test ../x",
      "npm test 'a'",
      'npm test "a"',
      "npm test \\",
      "npm test {a,b}",
      "npm test *",
    ],
    ...[
      "npm test -C /tmp/x",
      "npm test -C/tmp/x",
      "npm test --prefix=/tmp/x",
      "npm test https://example.org/x",
    ],
    ...["npm test ~", "npm test #x", "npm test !x", "npm test \u2028ls", "ls\nnpm test"],
  ])
    expect([command, decide(command)]).toEqual([command, "escalate"]);
  expect(decide("npm test", "exec")).toBe("escalate");
});

it("covers no command with a character that a shell interprets, whatever stands around it", async () => {
  const decide = decides(await lineOf("npm test"));
  const special = fc.constantFrom(...";&|$`()<>{}[]*?~!#'\"\\\n\r\t\0\u2028\u0085");
  fc.assert(
    fc.property(fc.string(), special, fc.string(), (before, character, after) => {
      expect(decide(`npm test ${before}${character}${after}`)).toBe("escalate");
    }),
    { numRuns: runs(300) },
  );
});

it("is exactly the call where no pattern is safe", async () => {
  const decide = decides(await lineOf("rm -rf build"));
  expect([decide("rm -rf build"), decide("rm -rf build2"), decide("rm -rf build /")]).toEqual([
    "allow",
    "escalate",
    "escalate",
  ]);
});
