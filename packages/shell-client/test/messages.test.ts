import type { ActionDirective } from "@harnesskit/protocol/openharness";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { carry, codesOf, diagnosed, outcomesOf } from "./support.ts";

const message = (payload: object): object => ({ action_type: "render_message", payload });
const insteadOf = ({ results }: Awaited<ReturnType<typeof carry>>["outcome"]) =>
  results.map(({ shownInstead }) => shownInstead);

describe("a render_message", () => {
  it.each([
    [{ message: "", text: "hello" }],
    [{ message: { html: "<b>" }, text: "hello" }],
    [{ text: "hello", format: "bbcode" }],
    [{ message: "hello", format: 5 }],
  ])("of %j is shown, and its executor reads its string by either name", async (payload) => {
    const read: unknown[] = [];
    const executors = {
      render_message: ({ payload: shown }: ActionDirective) => void read.push([shown?.message, shown?.text]),
    };
    const { outcome } = await carry([message(payload)], { executors });
    expect(outcomesOf(outcome)).toEqual(["done"]);
    expect(read).toEqual([["hello", "hello"]]);
    expect(Object.isFrozen(outcome.results[0]?.directive.payload)).toBe(true);
  });
});

it("a payload that does not fit its type shows nothing where messages are not shown without a question, or cannot be shown", async () => {
  const misfit = message({ message: 5, fallback_message: "A message." });
  const asks = await carry([misfit], { approvalPolicy: { safe: "ask" }, approve: () => "approved" });
  expect([asks.shown, insteadOf(asks.outcome)]).toEqual([[], [undefined]]);
  const fails = await carry([misfit], {
    executors: { render_message: () => Promise.reject(new Error("x")) },
  });
  expect(insteadOf(fails.outcome)).toEqual([undefined]);
});

it("a directive that is not valid costs itself, and its text is shown in its place", async () => {
  const { outcome, shown, diagnostics } = await carry([
    message({ text: "before" }),
    { action_type: "com.example.pay", risk_tier: "none", payload: { message: "Pay 5 EUR." } },
    { action_type: "render_message", priority: "now", payload: { message: { html: "x" }, text: "At once." } },
    { payload: { message: "Of no type." } },
    null,
    { action_type: "request_approval", requires_user_approval: "perhaps", payload: { message: "Sure?" } },
    message({ text: "after" }),
  ]);
  expect(shown).toEqual(["before", "Pay 5 EUR.", "At once.", "Of no type.", "Sure?", "after"]);
  const ends = ["done", "failed", "failed", "failed", "failed", "failed", "done"];
  expect([outcome.status, outcomesOf(outcome)]).toEqual(["success", ends]);
  expect(outcome.results.map(({ error }) => error && [error.code, error.message])).toEqual([
    undefined,
    ["invalid_directive", "it is not valid: risk_tier"],
    ["invalid_directive", "it is not valid: priority"],
    ["invalid_directive", "it is not valid: action_type"],
    ["invalid_directive", "it is not valid: an object is expected"],
    ["invalid_directive", "it is not valid: requires_user_approval"],
    undefined,
  ]);
  expect(diagnosed(diagnostics)).toEqual(Array.from({ length: 5 }, () => "invalid_directive"));
});

it("a core type has the schema and the executor that an application gives it", async () => {
  const cards: unknown[] = [];
  const card = z.object({ card: z.string() });
  const { outcome, sent } = await carry(
    [
      { action_type: "render_ui", payload: { card: "<x/>" } },
      { action_type: "render_ui", payload: { component: "chart" } },
    ],
    {
      actionTypes: [{ type: "render_ui", payload: card, defaultRisk: "safe" }],
      executors: { render_ui: ({ payload }) => void cards.push(payload) },
    },
  );
  expect([cards, outcomesOf(outcome)]).toEqual([[{ card: "<x/>" }], ["done", "failed"]]);
  expect(sent[0]?.capabilities).toMatchObject({ "openharness.ui.rich_cards": true });
});

it("a shell that cannot ask its user refuses what needs a yes, shows its text, and carries the rest out", async () => {
  const done: unknown[] = [];
  const { outcome, shown } = await carry(
    [
      message({ text: "before" }),
      {
        action_type: "simulate_action",
        requires_user_approval: true,
        payload: { macro: "cmd+c", fallback_message: "Press cmd+c." },
      },
      { action_type: "simulate_action", requires_user_approval: true, payload: { macro: "cmd+q" } },
      message({ text: "after" }),
    ],
    {
      executors: {
        render_message: ({ payload }) => void done.push(payload?.message),
        simulate_action: () => void done.push("simulated"),
      },
    },
  );
  expect(shown).toEqual([]);
  const unasked =
    "The engine wants to do something that needs your approval (simulate_action). This shell cannot ask for it: it was not done.";
  expect(done).toEqual(["before", "Press cmd+c.", unasked, "after"]);
  expect(outcomesOf(outcome)).toEqual(["done", "refused", "refused", "done"]);
  expect(codesOf(outcome)).toEqual([undefined, "no_approver", "no_approver", undefined]);
  expect(insteadOf(outcome)).toEqual([undefined, "Press cmd+c.", unasked, undefined]);
});

describe("an executor", () => {
  it.each(["open_door", "order", "x", "constructor"])("can have the name %j", async (type) => {
    const done: unknown[] = [];
    const directives = [{ action_type: type, payload: { a: 1 } }];
    const executors = { [type]: ({ payload }: ActionDirective) => void done.push(payload) };
    const policy = { approvalPolicy: { caution: "run" } } as const;
    const plain = await carry(directives, { executors, ...policy });
    const known = { type, payload: z.object({ a: z.int() }), defaultRisk: "safe" } as const;
    const registered = await carry(directives, { executors, actionTypes: [known] });
    expect([outcomesOf(plain.outcome), outcomesOf(registered.outcome)]).toEqual([["done"], ["done"]]);
    expect(done).toEqual([{ a: 1 }, { a: 1 }]);
  });
});
