import { ahpEvents } from "@harnesskit/protocol/ahp";
import { describe, expect, it } from "vitest";
import { policyOf } from "./support/policies.ts";

const warningsOf = (then: string, when = "{ tool: bash }") =>
  policyOf(`rules:\n  - { name: a, when: ${when}, then: ${then} }\n`).warnings;

describe("a change of a place that no event has", () => {
  it.each([
    ["command", "did you mean arguments.command?"],
    ["args.command", "did you mean arguments.command?"],
    ["payload.arguments.command", "did you mean arguments.command?"],
    ["tool_name.x", "did you mean arguments.tool_name.x?"],
  ])("is warned of, with the place that was meant: %s", (place, advice) => {
    const [warning, ...others] = warningsOf(`{ decision: modify, set: { ${place}: ls } }`);
    expect(others).toEqual([]);
    expect(warning).toMatchObject({
      line: 3,
      column: `  - { name: a, when: { tool: bash }, then: { decision: modify, set: { `.length + 1,
      path: `rules.0.then.set.${place}`,
      message: `set: pre_action has no ${place}, so agents refuse the change; ${advice}`,
    });
  });

  it("is warned of in a whole payload, and in a prompt", () => {
    expect(
      warningsOf("{ decision: modify, modified_payload: { command: ls, arguments: {} } }"),
    ).toMatchObject([{ message: expect.stringContaining("modified_payload: pre_action has no command") }]);
    const [warning] = warningsOf("{ decision: modify, set: { text: x } }", "{ event: pre_prompt }");
    expect(warning?.message).toMatch(/^set: pre_prompt has no text, .*; did you mean prompt\?$/);
    const [either] = warningsOf("{ decision: modify, set: { text: x } }", '{ cel: "true" }');
    expect(either?.message).toMatch(/^set: none of pre_action, pre_prompt has text, /);
  });

  it.each([
    ["{ decision: modify, set: { arguments.command: ls, arguments.env.PATH: x } }", "{ tool: bash }"],
    ["{ decision: modify, set: { arguments.command: ls } }", '{ cel: "true" }'],
    ["{ decision: modify, set: { prompt: hi } }", "{ event: pre_prompt }"],
    ["{ decision: modify, set: { prompt.0.content: hi } }", "{ event: pre_prompt }"],
    ["{ decision: modify, set: { tasks.0.title: x } }", "{ event: task_list }"],
    ["{ decision: modify, set: { anything: x } }", "{ event: session_start }"],
    ["allow", "{ tool: bash }"],
  ])("is not warned of where an event has it, or may have anything: %s", (then, when) => {
    expect(warningsOf(then, when)).toEqual([]);
  });

  it("takes the places of an event with a schema from that", () => {
    expect(warningsOf("{ decision: modify, set: { tasks.0.name: x } }", "{ event: task_list }")).toHaveLength(
      1,
    );
    expect(
      warningsOf("{ decision: modify, set: { tasks.x.title: x } }", "{ event: task_list }"),
    ).toHaveLength(1);
    expect(Object.keys(ahpEvents.task_list.payload.shape)).toContain("tasks");
  });
});
