import type { EventBody } from "@harnesskit/protocol/threads";
import { describe, expect, it } from "vitest";
import { createAnswerOutput } from "../src/run/answer-output.ts";
import { FakeTerminal } from "./support/fake-terminal.ts";
import { makeWorkspace } from "./support/harness.ts";
import { startAtTerminal } from "./support/in-process.ts";

const place = { threadId: "t", turnId: "u", itemId: "i" };
const turn = { turnId: "u", threadId: "t", time: { started: 0 } };
const said = (text: string, more: object = {}) =>
  ({
    type: "item.completed",
    data: { ...place, item: { ...place, type: "assistant_message", data: { text, ...more } } },
  }) as EventBody;
const called = {
  type: "item.started",
  data: { ...place, item: { ...place, type: "tool_exec", data: { tool: "read", input: {} } } },
} as EventBody;
const ended = (status: "completed" | "cancelled") =>
  ({ type: "turn.completed", data: { ...place, status, turn: { ...turn, status } } }) as EventBody;

/** What of these events is the answer, and the types of those that are shown. */
const parted = (...events: EventBody[]) => {
  const answer = new FakeTerminal();
  const shown: EventBody[] = [];
  const output = createAnswerOutput(answer, { event: (event) => shown.push(event), summary: () => {} });
  for (const event of events) output.event(event);
  return { answer: answer.text, shown };
};

describe("the answer of a turn", () => {
  it("is what the model said after its last tool call", () => {
    const [first, last] = [said("I look."), said("It is a demo.")];
    const end = ended("completed");
    const { answer, shown } = parted(first, called, last, end);
    expect(answer).toBe("It is a demo.\n");
    expect(shown).toEqual([first, called, end]);
  });

  it("stands where the step is recorded behind it, on a server that goes on with interrupted turns", () => {
    const step = { type: "turn.step", data: { ...place, step: 0, calls: [] } } as EventBody;
    const end = ended("completed");
    const { answer, shown } = parted(said("It is a demo."), step, end);
    expect(answer).toBe("It is a demo.\n");
    expect(shown).toEqual([step, end]);
  });

  it("holds no reasoning, and joins its messages as paragraphs", () => {
    const reasoning = said("Hm.", { reasoning: true });
    const { answer, shown } = parted(said("One."), reasoning, said("Two."), ended("completed"));
    expect(answer).toBe("One.\n\nTwo.\n");
    expect(shown[0]).toBe(reasoning);
  });

  it("is none where the turn did not complete: what was said is shown", () => {
    const begun = said("It is");
    const { answer, shown } = parted(begun, ended("cancelled"));
    expect(answer).toBe("");
    expect(shown[0]).toBe(begun);
  });
});

describe("harness run", () => {
  it("asks on standard error while its answer goes into a file", async () => {
    const cwd = await makeWorkspace();
    const args = ["run", "--no-policy", "run the command: echo hi"];
    const program = startAtTerminal(args, { cwd, isAnswerRead: true });
    await program.sees(/Allow it\?/);
    program.write("\u001b[A\u001b[A\r");
    const { stdout } = await program.ended;
    expect(stdout).toMatch(/approved once by you, in harness run[\s\S]*✓ done/);
    const { answer } = program;
    expect(answer).toContain("hi");
    expect(answer).not.toContain("Allow it");
    expect(answer).not.toContain("✓");
    expect(answer).not.toContain("\u001b");
  });
});
