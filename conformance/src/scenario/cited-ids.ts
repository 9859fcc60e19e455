import type { Suite } from "./load-suite.ts";
import type { Checks, EachStep, LeafStep, Step, UseStep } from "./step-schema.ts";

/** The ids of one key of checks. */
export const idsOf = (key: string): readonly string[] => key.split(" ");

/** The checks of a step, as pairs of ids and matcher; undefined for one that only needs the step to be met. */
export const checksOf = (checks: Checks | undefined): readonly (readonly [readonly string[], unknown])[] => {
  if (checks === undefined) return [];
  if (typeof checks === "string") return [[idsOf(checks), undefined]];
  return Object.entries(checks).map(([key, matcher]) => [idsOf(key), matcher] as const);
};

const idsOfSteps = (steps: readonly Step[], suite: Pick<Suite, "fragments">): readonly string[] =>
  steps.flatMap((step) => {
    if ("each" in step) return idsOfSteps((step as EachStep).steps, suite);
    if ("use" in step) return idsOfSteps(suite.fragments[(step as UseStep).use] ?? [], suite);
    return checksOf((step as LeafStep).checks).flatMap(([ids]) => ids);
  });

/** The ids that the checks of a suite cite, each once. */
export const citedIds = (suite: Pick<Suite, "fragments" | "role" | "scenarios">): ReadonlySet<string> =>
  new Set([
    ...suite.scenarios.flatMap(({ steps }) => idsOfSteps(steps, suite)),
    ...(suite.role.always ?? []).flatMap(({ checks }) => idsOf(checks)),
    ...Object.values(suite.role.noise ?? {}).flatMap(idsOf),
  ]);
