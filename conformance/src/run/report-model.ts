import type { ConformanceError } from "../errors.ts";
import type { Suite } from "../scenario/load-suite.ts";
import { type Requirement, type Severity, severityOf } from "../scenario/read-requirements.ts";
import type { TransportName } from "../scenario/step-schema.ts";
import type { CheckResult } from "./check-result.ts";
import type { RunLevel } from "./run-suite.ts";

/** What a scenario came to. */
export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly durationMs: number;
  readonly checks: readonly CheckResult[];
  /** How many messages of the target came. */
  readonly received: number;
  /** Steps without a check that did not work. */
  readonly problems: readonly string[];
  /** Why the rest of the scenario was not done. */
  readonly stopped?: ConformanceError | undefined;
  /** What was sent (`>`) and received (`<`). */
  readonly transcript: readonly string[];
  /** What the target wrote to standard error. */
  readonly log: string;
}

/**
 * `pass`, what the level of the requirement makes of a check that does not hold, or `unjudged` where all checks that were
 * reached hold and another one was not reached.
 */
export type Outcome = "pass" | Severity | "unjudged";

/** One check that does not hold, or was not reached. */
export interface RequirementFailure {
  readonly scenario: string;
  readonly step: string;
  /** What should have come, and what came. */
  readonly detail: string;
  /** What was sent last before it. */
  readonly sent?: string | undefined;
}

/** A requirement and the checks that cite it. */
export interface RequirementResult {
  readonly id: string;
  readonly level: Requirement["level"];
  readonly section: string;
  readonly text: string;
  /** Where a specification says it, and its own words. */
  readonly source?: Requirement["source"];
  /** The specification, by its name. */
  readonly spec: string;
  readonly outcome: Outcome;
  /** How many checks cited it. */
  readonly checks: number;
  /** The checks that do not hold; where all others do, those that were not reached. */
  readonly failures: readonly RequirementFailure[];
}

export type Counts = Readonly<Record<Outcome, number>>;

/** The outcome of a run. */
export interface SuiteReport {
  readonly suite: string;
  readonly protocol: string;
  readonly version: string;
  readonly target: string;
  readonly transport: TransportName;
  readonly seed: number;
  readonly startedAt: string;
  readonly durationMs: number;
  /** False if a MUST or a SAFETY does not hold or was not judged, or a step did not work. */
  readonly conforms: boolean;
  readonly counts: Counts;
  readonly requirements: readonly RequirementResult[];
  readonly scenarios: readonly ScenarioResult[];
}

export interface ReportParts {
  readonly suite: Suite;
  readonly target: string;
  readonly transport: TransportName;
  readonly seed: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly scenarios: readonly ScenarioResult[];
  readonly only: readonly string[] | undefined;
  readonly level: RunLevel;
}

/** The first requirement that this one needs and that does not hold. */
const brokenNeed = ({ needs = [] }: Requirement, scenarios: readonly ScenarioResult[]): string | undefined =>
  needs.find((id) =>
    scenarios.some(({ checks }) =>
      checks.some(({ ids, verdict }) => verdict === "unmet" && ids.includes(id)),
    ),
  );

const judge = (
  requirement: Requirement,
  scenarios: readonly ScenarioResult[],
): RequirementResult | undefined => {
  const all = scenarios.flatMap(({ name, checks: each }) =>
    each.filter(({ ids }) => ids.includes(requirement.id)).map((check) => ({ scenario: name, ...check })),
  );
  if (all.length === 0) return undefined;
  // What cannot be seen of this kind of target does not count where something else was seen.
  const seen = all.filter(({ isUnseen }) => isUnseen !== true);
  const checks = seen.length > 0 ? seen : all;
  const unmet = checks.filter(({ verdict }) => verdict === "unmet");
  const unjudged = checks.filter(({ verdict }) => verdict === "unjudged");
  const broken = unmet.length > 0 ? brokenNeed(requirement, scenarios) : undefined;
  const failures = (unmet.length > 0 ? unmet : unjudged).map(({ scenario, step, sent, detail = "" }) => ({
    scenario,
    step,
    sent,
    detail: broken === undefined ? detail : `${broken} does not hold, and it needs that: ${detail}`,
  }));
  const { id, level, section, text, source, spec } = requirement;
  const isUnjudged = broken !== undefined || (unmet.length === 0 && unjudged.length > 0);
  const outcome = isUnjudged ? "unjudged" : unmet.length > 0 ? severityOf(requirement) : "pass";
  return { id, level, section, text, source, spec, outcome, checks: checks.length, failures };
};

const countOutcomes = (requirements: readonly RequirementResult[]): Counts => {
  const count = (wanted: Outcome) => requirements.filter(({ outcome }) => outcome === wanted).length;
  return {
    pass: count("pass"),
    fail: count("fail"),
    warn: count("warn"),
    info: count("info"),
    unjudged: count("unjudged"),
  };
};

/** Whether the outcome of a requirement speaks against a target. */
export const isAgainst = ({ level, outcome }: Pick<RequirementResult, "level" | "outcome">): boolean =>
  outcome === "fail" || (outcome === "unjudged" && (level === "MUST" || level === "SAFETY"));

/** Puts the checks of a run together by requirement. */
export const createReport = ({ suite, only, level, ...parts }: ReportParts): SuiteReport => {
  const requirements = [...suite.requirements.values()]
    .filter(
      (each) =>
        (only === undefined || only.includes(each.id)) && (level !== "must" || each.level !== "SAFETY"),
    )
    .flatMap((requirement) => judge(requirement, parts.scenarios) ?? []);
  const counts = countOutcomes(requirements);
  const hasProblem = parts.scenarios.some(({ problems }) => problems.length > 0);
  return {
    suite: suite.name,
    protocol: suite.protocol,
    version: suite.version,
    ...parts,
    conforms: requirements.length > 0 && !requirements.some(isAgainst) && !hasProblem,
    counts,
    requirements,
  };
};
