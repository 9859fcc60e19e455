import { appendFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isNightly } from "../../../test-kit/nightly.ts";
import {
  type ConformanceLimits,
  loadSuite,
  runSuite,
  type StartModule,
  type SuiteReport,
} from "../../src/index.ts";
import { createScope } from "../../src/match/scope.ts";
import { citedIds } from "../../src/scenario/cited-ids.ts";
import { expectHolds, patient, unmetIds } from "../support.ts";
import { changedTarget } from "./changed-target.ts";
import { type Change, readChanges } from "./read-changes.ts";

/** What does not come within this is missed. Where that leaves a change unseen, it was too short for a busy machine. */
const hasty = {
  withinMs: 400,
  startTimeoutMs: 5000,
  maxUnmetWaits: 5,
  maxAttempts: 1,
  maxParallel: 8,
  scenarioTimeoutMs: 8000,
};

/** A change that is about no message: by messages where they are framed, by bytes elsewhere. */
const nothingOn = (on: Change["on"]): Partial<Change> =>
  on === "unix" || on === "tcp" ? { of: { $is: "nothing" } } : { bytes: ["nothing", "nothing"] };

/** One of so many changes is tried. */
const oneOf = isNightly ? 1 : 12;

/** Our implementation of a role behind a proxy: each change of its messages is noticed, and each check notices one. */
export const describeChanges = (name: string, start: StartModule): void => {
  const suite = loadSuite(name);
  const { changes, unseen } = readChanges(name);
  const tried = changes.filter((_, index) => index % oneOf === 0);
  const { resolve } = createScope(suite.values, Math.random);
  const named = resolve(suite.matchers) as Record<string, unknown>;

  describe("a target", () => {
    const judge = async (change: Change, limits: Partial<ConformanceLimits>): Promise<SuiteReport> => {
      const changed = changedTarget(start, suite.role, change, named);
      const target = { kind: "module", start: changed, name: change.name, transport: change.on } as const;
      const only = change.fails.length > 0 ? change.fails : undefined;
      return await runSuite({ suite, target, limits, only, seed: 1 });
    };

    it.each([...new Set(tried.map(({ on }) => on))])(
      "conforms over %s where nothing is changed",
      async (on) => {
        const none: Change = { name: "nothing", fails: [], on, side: "target", ...nothingOn(on) };
        expectHolds(await judge(none, patient));
      },
    );

    // They wait more than they work.
    it.concurrent.each(tried.map((change) => [change.name, change] as const))(
      "that %s",
      async (title, change) => {
        const isSeen = (ids: readonly string[]) => change.fails.every((id) => ids.includes(id));
        const first = unmetIds(await judge(change, hasty));
        const ids = isSeen(first)
          ? first
          : unmetIds(await judge(change, { ...hasty, withinMs: 3000, scenarioTimeoutMs: 40_000 }));
        if (process.env.SHOW_CHANGES !== undefined)
          appendFileSync(process.env.SHOW_CHANGES, `${title}: ${ids.join(" ")}\n`);
        expect(change.fails.filter((id) => !ids.includes(id))).toEqual([]);
        expect(change.fails.length).toBeGreaterThan(0);
      },
    );

    it("is judged by checks that each have a change which they must notice, but for those with a reason", () => {
      const named = changes.flatMap(({ fails }) => fails);
      const missing = [...citedIds(suite)].filter((id) => !named.includes(id));
      expect(missing.sort()).toEqual(Object.keys(unseen).sort());
    });
  });
};
