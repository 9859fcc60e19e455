import { randomBytes } from "node:crypto";
import { ConformanceError } from "../errors.ts";
import { type ConformanceLimits, conformanceLimits } from "../limits.ts";
import { citedIds } from "../scenario/cited-ids.ts";
import type { Suite } from "../scenario/load-suite.ts";
import type { ScenarioFile } from "../scenario/suite-schema.ts";
import { describeTarget, type TargetSpec } from "../target/target-spec.ts";
import { createReport, type ScenarioResult, type SuiteReport } from "./report-model.ts";
import { runScenarios } from "./run-scenarios.ts";

/** What a run judges: see {@link RunOptions.level}. */
export type RunLevel = "core" | "must" | "safety";

export interface RunOptions {
  readonly suite: Suite;
  readonly target: TargetSpec;
  /** Only scenarios with a check of one of these requirements, and only their checks. @default all */
  readonly only?: readonly string[] | undefined;
  /** `core`: the statements that the suite names as most important; `must`: without those of the level SAFETY. @default "safety" */
  readonly level?: RunLevel | undefined;
  /** Names and order of what is random. @default random */
  readonly seed?: number | undefined;
  /** Replaces values of the suite, such as the prompts that a server's agent understands. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
  readonly limits?: Partial<ConformanceLimits> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after each scenario. */
  readonly onScenario?:
    | ((result: ScenarioResult, progress: { readonly done: number; readonly total: number }) => void)
    | undefined;
}

/** The options of a run, with what was left out. */
export interface OneRun extends RunOptions {
  readonly resolved: ConformanceLimits;
  readonly seed: number;
  /** Whether the target has answered, in any scenario. */
  readonly voice: { hasAnswered: boolean };
  /** Why a scenario is not run: its checks are not judged. */
  readonly leftOut?: ConformanceError | undefined;
}

const scenariosOf = (suite: Suite, target: TargetSpec, only?: readonly string[]): readonly ScenarioFile[] =>
  suite.scenarios.filter((scenario) => {
    if (scenario.only !== undefined && !scenario.only.includes(target.transport)) return false;
    if (only === undefined) return true;
    const ids = citedIds({ ...suite, scenarios: [scenario], role: { ...suite.role, always: [], noise: {} } });
    const always = citedIds({ ...suite, scenarios: [] });
    return only.some((id) => ids.has(id) || always.has(id));
  });

/**
 * Runs a suite against a target. Each scenario has a folder and, unless the target runs already, a process of its own; all
 * are gone when this settles.
 *
 * @throws {ConformanceError} `usage` for a transport that the role does not have and for an `only` that no check cites,
 *   `unavailable` for a target that cannot be reached or says nothing, `interrupted` when the signal aborts
 */
export const runSuite = async (options: RunOptions): Promise<SuiteReport> => {
  const { suite, target, level = "safety" } = options;
  const only = options.only ?? (level === "core" ? suite.role.core?.split(" ") : undefined);
  if (suite.role.transports[target.transport] === undefined) {
    const known = Object.keys(suite.role.transports).join(", ");
    throw new ConformanceError(
      "usage",
      `${suite.name} has no transport ${target.transport}; choose from: ${known}`,
    );
  }
  const cited = citedIds(suite);
  const unknown = only?.find((id) => !cited.has(id));
  if (unknown !== undefined)
    throw new ConformanceError("usage", `no check of ${suite.name} cites ${unknown}`);
  const given = conformanceLimits.resolve(options.limits);
  // On a server that runs already each scenario would hear what the others cause.
  const resolved = target.kind === "address" ? { ...given, maxParallel: 1 } : given;
  const seed = options.seed ?? randomBytes(4).readUInt32BE();
  const startedAt = new Date();
  const begun = performance.now();
  const chosen = scenariosOf(suite, target, only);
  const other =
    only === undefined ? undefined : scenariosOf(suite, target).find((each) => !chosen.includes(each));
  const run = { ...options, resolved, seed, voice: { hasAnswered: false } };
  const results = await runScenarios({ chosen, other }, run);
  return createReport({
    suite,
    target: describeTarget(target),
    transport: target.transport,
    seed,
    startedAt: startedAt.toISOString(),
    durationMs: performance.now() - begun,
    scenarios: results.toSorted((a, b) => a.name.localeCompare(b.name, "en")),
    only,
    level,
  });
};
