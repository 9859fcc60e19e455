import { ConformanceError, messageOf } from "../errors.ts";
import { isOwnFault } from "../own-fault.ts";
import type { ScenarioFile } from "../scenario/suite-schema.ts";
import type { ScenarioResult } from "./report-model.ts";
import { runScenario } from "./run-scenario.ts";
import type { OneRun } from "./run-suite.ts";

/** The scenarios of a run. */
export interface ChosenScenarios {
  readonly chosen: readonly ScenarioFile[];
  /** Where only some scenarios are run: another one, which tells whether the target answers at all. */
  readonly other: ScenarioFile | undefined;
}

/** `unavailable`, with the standard error of a target that said nothing. */
const silenceOf = (results: readonly ScenarioResult[]): ConformanceError => {
  const log = results.map((result) => result.log.trim()).find((each) => each !== "") ?? "";
  const unavailable = (message: string) =>
    new ConformanceError("unavailable", log === "" || message.endsWith(log) ? message : `${message}\n${log}`);
  const stopped = results.map((result) => result.stopped).find((each) => each?.code === "unavailable");
  if (stopped !== undefined) return unavailable(stopped.message);
  const details = results.flatMap(({ problems, checks }) => [
    ...problems,
    ...checks.map(({ detail }) => detail ?? ""),
  ]);
  const why = details.find((detail) => detail !== "") ?? "it was not asked";
  return unavailable(`the target said nothing: ${why}`);
};

/** Runs one scenario more, if the target has not answered by the time of an answer. Call it to know what came of it. */
const createProbe = (other: ScenarioFile | undefined, run: OneRun) => {
  const isOver = new AbortController();
  const signal = run.signal === undefined ? isOver.signal : AbortSignal.any([run.signal, isOver.signal]);
  let probing: Promise<unknown> | undefined;
  const start = (): void => {
    if (other === undefined || run.voice.hasAnswered) return;
    probing ??= runScenario(other, { ...run, signal }).catch(() => {});
  };
  const timer = setTimeout(start, run.resolved.withinMs);
  return async (): Promise<void> => {
    clearTimeout(timer);
    start();
    if (run.voice.hasAnswered) isOver.abort();
    await probing;
  };
};

/**
 * Runs scenarios side by side. A target that answers nothing in the first ones is not asked in the others, which are not
 * judged; as soon as it has answered anywhere, every scenario is run to its end.
 *
 * @throws {ConformanceError} `unavailable` for a target that says nothing, `interrupted` when the signal aborts
 */
export const runScenarios = async (
  { chosen, other }: ChosenScenarios,
  run: OneRun,
): Promise<readonly ScenarioResult[]> => {
  const { voice, resolved } = run;
  const results = new Map<ScenarioFile, ScenarioResult>();
  const unheard: ScenarioFile[] = [];
  const runOne = async (scenario: ScenarioFile, leftOut?: ConformanceError): Promise<void> => {
    const result = await runScenario(scenario, { ...run, leftOut }).catch((error: unknown) => {
      if (ConformanceError.isInstance(error) || isOwnFault(error)) throw error;
      throw new ConformanceError("unavailable", `${scenario.scenario}: ${messageOf(error)}`, {
        cause: error,
      });
    });
    results.set(scenario, result);
    if (!voice.hasAnswered && result.stopped !== undefined) unheard.push(scenario);
    run.onScenario?.(result, { done: results.size, total: chosen.length });
  };
  const runAll = async (scenarios: readonly ScenarioFile[]): Promise<void> => {
    const waiting = [...scenarios];
    let started = 0;
    const work = async (): Promise<void> => {
      while (voice.hasAnswered || started < resolved.maxParallel) {
        const next = waiting.shift();
        if (next === undefined) return;
        started += 1;
        await runOne(next);
      }
    };
    await Promise.all(Array.from({ length: Math.min(resolved.maxParallel, waiting.length) }, work));
  };
  const probed = createProbe(other, run);
  try {
    await runAll(chosen);
  } finally {
    await probed();
  }
  if (run.signal?.aborted === true) throw new ConformanceError("interrupted", "the run was interrupted");
  if (!voice.hasAnswered && [...results.values()].every(({ received }) => received === 0))
    throw silenceOf([...results.values()]);
  const isLeft = (scenario: ScenarioFile) => !results.has(scenario);
  if (voice.hasAnswered) await runAll(chosen.filter((each) => isLeft(each) || unheard.includes(each)));
  const silent = new ConformanceError("incomplete", "the target answered nothing in other scenarios");
  for (const scenario of chosen.filter(isLeft)) await runOne(scenario, silent);
  return [...results.values()];
};
