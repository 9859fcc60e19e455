import type { TimelineRow } from "@harnesskit/protocol/hub";
import { describe, expect, it } from "vitest";
import { happenings, shownAtMs } from "../src/client/happenings.ts";

const row = (seq: number, fields: Partial<TimelineRow>): TimelineRow => ({
  ...{ id: seq, seq, type: "post_response", atMs: seq, changedAtMs: seq, agent: "a", session: "s" },
  ...{ turn: "t", depth: 0, summary: "post_response: hi", state: "noted", ...fields },
});
const allow = { decision: "allow", source: "default" as const };
const prompt = { type: "pre_prompt", summary: "pre_prompt: hi", decision: allow };

describe("what people read of a timeline", () => {
  it("has the end of a run last, although its row is the first one", () => {
    const run = row(9, {
      id: 1,
      atMs: 1,
      changedAtMs: 9,
      type: "run_lifecycle",
      summary: "run_lifecycle: completed",
    });
    const shown = happenings([row(2, prompt), run]);
    expect(shown.map(({ type }) => type)).toEqual(["pre_prompt", "run_lifecycle"]);
    expect(shown.map(shownAtMs)).toEqual([2, 9]);
  });

  it("orders rows of one moment by their number", () => {
    const shown = happenings([row(3, { atMs: 1 }), row(2, { atMs: 1 })]);
    expect(shown.map(({ seq }) => seq)).toEqual([2, 3]);
  });

  it("shows a judgement once in its turn, and a different one too", () => {
    const blocked = { ...prompt, decision: { decision: "block", source: "rule" as const, rule: "r" } };
    const shown = happenings([
      row(1, prompt),
      row(2, prompt),
      row(3, blocked),
      row(4, { ...prompt, turn: "u" }),
    ]);
    expect(shown.map(({ seq }) => seq)).toEqual([1, 3, 4]);
  });

  it("leaves out a list of tasks that says nothing", () => {
    const empty = row(1, { type: "task_list", summary: "task_list" });
    const full = row(2, { type: "task_list", summary: "task_list: 2 of 3 done" });
    expect(happenings([empty, full])).toEqual([full]);
  });
});
