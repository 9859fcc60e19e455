import type { ActionDirective } from "@harnesskit/protocol/openharness";
import { expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { carry, manualClock, outcomesOf, respond, scripted } from "./support.ts";

const parallel = "openharness.actions.parallel";
const act = (name: string, more: Partial<ActionDirective> = {}): ActionDirective => ({
  action_type: "com.example.act",
  ...more,
  payload: { name },
});
const beside = (name: string, more: Partial<ActionDirective> = {}) =>
  act(name, { execution: "parallel", ...more });

/** Carries directives out, and notes when each began and ended. */
const carried = async (
  directives: readonly ActionDirective[],
  {
    more = {},
    capabilities = {},
    maxParallel = 8,
  }: { more?: object; capabilities?: object; maxParallel?: number } = {},
) => {
  const events: string[] = [];
  const { shell } = scripted((request) => respond(request, directives, more), {
    capabilities: { ...capabilities },
    limits: { maxParallel },
    approvalPolicy: { caution: "run" },
    executors: {
      "com.example.act": async ({ payload }) => {
        events.push(`${payload?.name}`);
        await nextTurn();
        events.push(`/${payload?.name}`);
        if (payload?.name === "throws") throw new RangeError("as it says");
      },
    },
  });
  const outcome = await shell.send({});
  expect(outcome.results.map(({ index }) => index)).toEqual(directives.map((_, index) => index));
  return events.join(" ");
};

it.each<[string, ActionDirective[], string]>([
  [
    "sequential ones in their order, whatever their priority",
    [act("a", { priority: "low" }), act("b", { priority: "critical" })],
    "a /a b /b",
  ],
  ["parallel neighbours together", [beside("a"), beside("b"), act("c"), beside("d")], "a b /a /b c /c d /d"],
  [
    "the urgent one of a group first",
    [
      beside("low", { priority: "low" }),
      beside("normal"),
      beside("critical", { priority: "critical" }),
      beside("high", { priority: "high" }),
    ],
    "critical high normal low /critical /high /normal /low",
  ],
  ["all of them where one throws", [beside("throws"), beside("b"), act("c")], "throws b /throws /b c /c"],
])("carries out %s", async (_name, directives, events) => {
  expect(await carried(directives)).toBe(events);
});

it("runs together what both sides can, so many at a time, and nothing where one of them cannot", async () => {
  const two = [beside("a"), beside("b")];
  expect(await carried([...two, beside("c")], { maxParallel: 2 })).toBe("a b /a c /b /c");
  const none = [
    { more: { supported_capabilities: undefined } },
    { more: { supported_capabilities: { [parallel]: false } } },
    { more: { capability_denials: [{ capability: parallel }] } },
    { capabilities: { [parallel]: false } },
  ];
  for (const options of none) expect(await carried(two, options)).toBe("a /a b /b");
});

it("lets one that hangs hold nobody but itself in its group", async () => {
  const ended: unknown[] = [];
  const clock = manualClock();
  let results = 0;
  const { outcome } = await carry(
    ["hang", "b", "c"].map((name) => beside(name, { deadline_ms: 60 })),
    {
      clock,
      onResult: () => {
        if (++results === 2) clock.advance(60);
      },
      approvalPolicy: { caution: "run" },
      executors: {
        "com.example.act": ({ payload }, { signal }) => {
          if (payload?.name !== "hang") return void ended.push(payload?.name);
          return new Promise((resolve) =>
            signal.addEventListener("abort", () => resolve(ended.push("told"))),
          );
        },
      },
    },
  );
  expect(ended).toEqual(["b", "c", "told"]);
  expect(outcomesOf(outcome)).toEqual(["expired", "done", "done"]);
});
