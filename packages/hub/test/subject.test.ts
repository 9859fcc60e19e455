import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { canonicalJson } from "@harnesskit/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { actionOf } from "./support/action-of.ts";

const subject = (type: AhpEventType, payload: JsonObject): string | undefined => actionOf(type, payload);

describe("the subject of a question", () => {
  it.each<[string, [AhpEventType, JsonObject], [AhpEventType, JsonObject]]>([
    [
      "a prompt and a call of a tool `prompt`",
      ["pre_prompt", { prompt: "hi" }],
      ["pre_action", { tool_name: "prompt", arguments: { text: "hi" } }],
    ],
    [
      "an event and a call of a tool with its name",
      ["planning", { goal: "hi" }],
      ["pre_action", { tool_name: "planning", arguments: { goal: "hi" } }],
    ],
    [
      "a tool's name and its escaped form",
      ["pre_action", { tool_name: "prompt", arguments: {} }],
      ["pre_action", { tool_name: "tool:prompt", arguments: {} }],
    ],
    [
      "arguments that are a list, and an object with it",
      ["pre_action", { tool_name: "t", arguments: ["a"] }],
      ["pre_action", { tool_name: "t", arguments: { value: ["a"] } }],
    ],
    [
      "a call without arguments, and one that says what it does beside them",
      ["pre_action", { tool_name: "t" }],
      ["pre_action", { tool_name: "t", command: "rm -rf /" }],
    ],
    [
      "actions without a tool",
      ["pre_action", { action_type: "write", path: "a" }],
      ["pre_action", { action_type: "write", path: "b" }],
    ],
    [
      "prompts with another text beside them",
      ["pre_prompt", { prompt: "a", text: "b" }],
      ["pre_prompt", { prompt: "a" }],
    ],
    [
      "a prompt's field `payload` and the payload",
      ["pre_prompt", { prompt: "a", text: "b" }],
      ["pre_prompt", { prompt: "a", payload: { text: "b" } }],
    ],
    [
      "a list of messages and its text",
      ["pre_prompt", { prompt: ["a"] }],
      ["pre_prompt", { prompt: '["a"]' }],
    ],
  ])("differs for %s", (_, one, other) => {
    expect(subject(...one)).not.toBe(subject(...other));
  });

  it("differs for each tool and input, whatever they are", () => {
    const name = fc.constantFrom("bash", "prompt", "tool:prompt", "tool:tool:prompt", "pre_action", "tool:");
    const leaf = fc.constantFrom("x", 1, null, true);
    const input = fc.oneof(
      leaf.filter((value) => value !== null),
      fc.array(leaf, { maxLength: 2 }),
      fc.dictionary(fc.constantFrom("value", "text", "arguments", "(arguments)", "(payload)"), leaf, {
        maxKeys: 2,
      }),
    );
    const action = fc.record({ tool_name: name, arguments: input });
    fc.assert(
      fc.property(action, action, (one, other) => {
        const [a, b] = [one, other].map((each) => subject("pre_action", each as JsonObject));
        if (a === undefined || b === undefined) return;
        expect(a === b).toBe(canonicalJson(one) === canonicalJson(other));
      }),
    );
  });
});
