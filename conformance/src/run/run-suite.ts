import { randomBytes } from "node:crypto";
import { ConformanceError, messageOf } from "../errors.ts";
import { type ConformanceLimits, conformanceLimits } from "../limits.ts";
import { createRandom, createScope } from "../match/scope.ts";
import { citedIds } from "../scenario/cited-ids.ts";
import { packageDirectory, type Suite } from "../scenario/load-suite.ts";
import type { ScenarioFile } from "../scenario/suite-schema.ts";
import { createClientTarget } from "../target/client-target.ts";
import { createFolder } from "../target/place.ts";
import { createServerTarget } from "../target/server-target.ts";
import { describeTarget, type TargetSpec } from "../target/target-spec.ts";
import { createReport, type ScenarioResult, type SuiteReport } from "./report-model.ts";
import { ScenarioRun } from "./scenario-run.ts";
import type { StepContext } from "./step-context.ts";

export interface RunOptions {
  readonly suite: Suite;
  readonly target: TargetSpec;
  /** Only scenarios with a check of one of these requirements, and only their checks. @default all */
  readonly only?: readonly string[];
  /** Names and order of what is random. @default random */
  readonly seed?: number;
  /** Replaces values of the suite, such as the prompts that a server's agent understands. */
  readonly values?: Readonly<Record<string, unknown>>;
  readonly limits?: Partial<ConformanceLimits>;
  readonly signal?: AbortSignal;
  /** Called after each scenario. */
  readonly onScenario?: (
    result: ScenarioResult,
    progress: { readonly done: number; readonly total: number },
  ) => void;
}

interface OneRun extends RunOptions {
  readonly resolved: ConformanceLimits;
  readonly seed: number;
}

const seedOf = (seed: number, name: string): number =>
  [...name].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193), seed ^ 0x811c9dc5);

const runScenario = async (scenario: ScenarioFile, options: OneRun): Promise<ScenarioResult> => {
  const { suite, target: spec, resolved: limits } = options;
  const startedAt = performance.now();
  const folder = await createFolder();
  const random = createRandom(seedOf(options.seed, scenario.scenario));
  const transcript: string[] = [];
  const note = (line: string): void => {
    if (transcript.length < limits.maxTranscript) transcript.push(line.slice(0, limits.maxShownLength * 2));
  };
  const facts = new Map<unknown, unknown>();
  const parts = {
    spec,
    role: suite.role,
    folder: folder.path,
    token: randomBytes(24).toString("hex"),
    limits,
  };
  let target: { stop(): Promise<void>; log(): string } | undefined;
  try {
    const isServer = suite.role.plays === "server";
    const server = isServer ? createServerTarget(parts) : undefined;
    const onMessage = (message: unknown, fact: unknown) => void facts.set(message, fact);
    const client = isServer ? undefined : await createClientTarget({ ...parts, onMessage });
    target = server ?? client;
    let lastId = 0;
    const scope = createScope(
      {
        token: parts.token,
        transport: spec.transport,
        directory: folder.path,
        node: process.execPath,
        package: packageDirectory,
        ...suite.values,
        ...scenario.values,
        ...options.values,
      },
      random,
      suite.envelope,
    );
    const context: StepContext = {
      scope,
      named: scope.resolve(suite.matchers) as Record<string, unknown>,
      transport: spec.transport,
      limits,
      folder: folder.path,
      links: new Map(),
      endedLinks: [],
      ...(server === undefined ? {} : { server }),
      ...(client === undefined ? {} : { client }),
      outcomes: new Map(),
      facts,
      nextId: () => `c-${++lastId}`,
      random,
      note,
    };
    const dueAt = startedAt + limits.scenarioTimeoutMs;
    const run = new ScenarioRun({ suite, scenario, context, dueAt, signal: options.signal });
    await run.run();
    const links = [...context.endedLinks, ...context.links.values()];
    const received = links.reduce((sum, { inbox }) => sum + inbox.messages.length, 0);
    await Promise.all(links.map((link) => link.close()));
    await target?.stop();
    return {
      name: scenario.scenario,
      title: scenario.title,
      durationMs: performance.now() - startedAt,
      checks: run.checks,
      received,
      problems: run.problems,
      ...(run.stopped === undefined ? {} : { stopped: run.stopped }),
      transcript,
      log: target?.log() ?? "",
    };
  } finally {
    try {
      await target?.stop();
    } finally {
      await folder.remove();
    }
  }
};

/** How a step says that the shell did not find the program, or could not run it. */
const notFound = /the target exited with 12[67]\)/;

/** Throws `unavailable` where the target was never there. */
const throwIfUnreached = (results: readonly ScenarioResult[]): void => {
  if (results.some(({ received }) => received > 0)) return;
  const stopped = results.map((result) => result.stopped).find((each) => each?.code === "unavailable");
  if (stopped !== undefined) throw stopped;
  const isMissing = results.some(({ checks }) => checks.some(({ detail }) => notFound.test(detail ?? "")));
  const [{ log } = { log: "" }] = results;
  if (isMissing) throw new ConformanceError("unavailable", `the target cannot be started: ${log.trim()}`);
};

const scenariosOf = ({ suite, target, only }: RunOptions): readonly ScenarioFile[] =>
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
 *   `unavailable` when no scenario could reach the target, `interrupted` when the signal aborts
 */
export const runSuite = async (options: RunOptions): Promise<SuiteReport> => {
  const { suite, target, only } = options;
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
  const resolved = conformanceLimits.resolve(options.limits);
  const seed = options.seed ?? randomBytes(4).readUInt32BE();
  const startedAt = new Date();
  const begun = performance.now();
  const waiting = [...scenariosOf(options)];
  const total = waiting.length;
  const results: ScenarioResult[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const scenario = next;
      const result = await runScenario(scenario, { ...options, resolved, seed }).catch((error: unknown) => {
        if (ConformanceError.isInstance(error)) throw error;
        throw new ConformanceError("unavailable", `${scenario.scenario}: ${messageOf(error)}`, {
          cause: error,
        });
      });
      results.push(result);
      options.onScenario?.(result, { done: results.length, total });
    }
  };
  await Promise.all(Array.from({ length: Math.min(resolved.maxParallel, total) }, work));
  if (options.signal?.aborted === true) throw new ConformanceError("interrupted", "the run was interrupted");
  throwIfUnreached(results);
  results.sort((a, b) => a.name.localeCompare(b.name, "en"));
  return createReport({
    suite,
    target: describeTarget(target),
    transport: target.transport,
    seed,
    startedAt: startedAt.toISOString(),
    durationMs: performance.now() - begun,
    scenarios: results,
    only,
  });
};
