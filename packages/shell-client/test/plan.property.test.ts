import type {
  ActionDirective,
  DirectiveExecution,
  DirectivePriority,
} from "@harnesskit/protocol/openharness";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../scripts/lib/test-kit.ts";
import { planOf } from "../src/plan.ts";
import { carry, outcomesOf, respond, scripted } from "./support.ts";

interface Step {
  readonly execution: DirectiveExecution | undefined;
  readonly priority: DirectivePriority | undefined;
  readonly ticks: number;
  readonly fate: "done" | "throws" | "unknown" | "refused" | "approved" | "hangs not";
}

const step: fc.Arbitrary<Step> = fc.record({
  execution: fc.constantFrom(undefined, "sequential" as const, "parallel" as const, "parallel" as const),
  priority: fc.constantFrom(
    undefined,
    "low" as const,
    "normal" as const,
    "high" as const,
    "critical" as const,
  ),
  ticks: fc.nat(2),
  fate: fc.constantFrom("done", "throws", "unknown", "refused", "approved", "hangs not"),
});

const toDirective = ({ execution, priority, fate, ticks }: Step): ActionDirective => ({
  action_type: fate === "unknown" ? "com.example.unknown" : "com.example.act",
  ...(execution && { execution }),
  ...(priority && { priority }),
  ...((fate === "refused" || fate === "approved") && { requires_user_approval: true }),
  payload: { fate, ticks },
});

/** Carries steps out, and writes down when each began and ended. */
const carried = async (
  steps: readonly Step[],
  afterRefusal: "continue" | "stop",
  offers: boolean,
  maxParallel: number,
) => {
  const events: { index: number; what: "begin" | "end" }[] = [];
  let running = 0;
  let most = 0;
  const { shell } = scripted(
    (request) => respond(request, steps.map(toDirective), offers ? {} : { supported_capabilities: {} }),
    {
      afterRefusal,
      limits: { maxParallel },
      approvalPolicy: { caution: "run" },
      approve: ({ directive }) => (directive.payload?.fate === "approved" ? "approved" : "refused"),
      executors: {
        "com.example.act": async ({ payload }, { index }) => {
          events.push({ index, what: "begin" });
          most = Math.max(most, ++running);
          for (let tick = Number(payload?.ticks); tick > 0; tick--) await nextTurn();
          running--;
          events.push({ index, what: "end" });
          if (payload?.fate === "throws") throw new RangeError("as the step says");
        },
      },
    },
  );
  return { outcome: await shell.send({}), events, most: () => most };
};

const expectedOf = (fate: Step["fate"]): string => {
  const outcomes = { throws: "failed", unknown: "skipped_unknown", refused: "refused" } as const;
  return fate in outcomes ? outcomes[fate as keyof typeof outcomes] : "done";
};

describe("the plan", () => {
  it("has each place once; groups follow the order, and hold neighbours that are parallel", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.boolean(), (steps, isParallel) => {
        const groups = planOf(steps.map(toDirective), isParallel);
        const sorted = groups.map((group) => [...group].sort((one, other) => one - other));
        expect(sorted.flat()).toEqual(steps.map((_, index) => index));
        const may = (index: number) => isParallel && steps[index]?.execution === "parallel";
        for (const group of groups) if (group.length > 1) expect(group.every(may)).toBe(true);
        // Two neighbours that may run together are in one group.
        for (let index = 1; index < steps.length; index++) {
          const together = groups.some((group) => group.includes(index - 1) && group.includes(index));
          expect(together).toBe(may(index - 1) && may(index));
        }
        const ranks = ["critical", "high", "normal", "low"];
        for (const group of groups) {
          const found = group.map((index) => ranks.indexOf(steps[index]?.priority ?? "normal"));
          expect(found).toEqual([...found].sort());
        }
      }),
    );
  });

  it("is kept: nothing of a group begins before all before it has ended, and each has its own end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 9 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 4 }),
        async (steps, offers, maxParallel) => {
          const { outcome, events, most } = await carried(steps, "continue", offers, maxParallel);
          expect(outcomesOf(outcome)).toEqual(steps.map(({ fate }) => expectedOf(fate)));
          expect(outcome.results.map(({ index }) => index)).toEqual(steps.map((_, index) => index));
          expect(most()).toBeLessThanOrEqual(maxParallel);
          const groups = planOf(steps.map(toDirective), offers);
          const groupOf = (index: number) => groups.findIndex((group) => group.includes(index));
          const open = new Set<number>();
          for (const { index, what } of events) {
            if (what === "end") open.delete(index);
            else {
              for (const other of open) expect(groupOf(other)).toBe(groupOf(index));
              open.add(index);
            }
          }
          expect(events.map(({ index }) => groupOf(index))).toEqual(
            events.map(({ index }) => groupOf(index)).sort((one, other) => one - other),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it("ends with the group of the first refusal, where a refusal ends it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 9 }), fc.boolean(), async (steps, offers) => {
        const { outcome, events } = await carried(steps, "stop", offers, 8);
        const groups = planOf(steps.map(toDirective), offers);
        const isRefused = (index: number) => steps[index]?.fate === "refused";
        const last = groups.findIndex((group) => group.some(isRefused));
        const after = last < 0 ? [] : groups.slice(last + 1).flat();
        for (const [index, result] of outcome.results.entries()) {
          const outcomes = [expectedOf(steps[index]?.fate ?? "done")];
          const isIn = last >= 0 && groups[last]?.includes(index);
          if (after.includes(index)) expect(result.outcome).toBe("not_reached");
          else expect(isIn ? [...outcomes, "not_reached"] : outcomes).toContain(result.outcome);
        }
        for (const { index } of events) expect(after).not.toContain(index);
      }),
      { numRuns: 40 },
    );
  });

  it("runs together what both sides can, and nothing where one of them cannot", async () => {
    const two = ["a", "b"].map((name) => ({
      action_type: "com.example.act",
      execution: "parallel",
      payload: { name },
    }));
    const runs = async (more: object, capabilities = {}) => {
      let running = 0;
      let most = 0;
      const executor = async () => {
        most = Math.max(most, ++running);
        await nextTurn();
        running--;
      };
      const { shell } = scripted((request) => respond(request, two, more), {
        capabilities,
        approvalPolicy: { caution: "run" },
        executors: { "com.example.act": executor },
      });
      await shell.send({});
      return most;
    };
    const parallel = "openharness.actions.parallel";
    expect(await runs({})).toBe(2);
    expect(await runs({ supported_capabilities: undefined })).toBe(1);
    expect(await runs({ supported_capabilities: { [parallel]: false } })).toBe(1);
    expect(await runs({ capability_denials: [{ capability: parallel }] })).toBe(1);
    expect(await runs({}, { [parallel]: false })).toBe(1);
  });

  it("lets one that hangs hold nobody but itself in its group", async () => {
    const ended: unknown[] = [];
    const directives = ["hang", "b", "c"].map((name) => ({
      action_type: "com.example.act",
      execution: "parallel",
      deadline_ms: 60,
      payload: { name },
    }));
    const { outcome } = await carry(directives, {
      approvalPolicy: { caution: "run" },
      executors: {
        "com.example.act": ({ payload }, { signal }) => {
          if (payload?.name !== "hang") return void ended.push(payload?.name);
          return new Promise((resolve) =>
            signal.addEventListener("abort", () => resolve(ended.push("told"))),
          );
        },
      },
    });
    expect(ended).toEqual(["b", "c", "told"]);
    expect(outcomesOf(outcome)).toEqual(["expired", "done", "done"]);
  });
});
