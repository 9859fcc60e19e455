import { randomBytes } from "node:crypto";
import { createRandom, createScope } from "../match/scope.ts";
import { packageDirectory } from "../scenario/load-suite.ts";
import type { ScenarioFile } from "../scenario/suite-schema.ts";
import { createClientTarget } from "../target/client-target.ts";
import { createFolder } from "../target/place.ts";
import { createServerTarget } from "../target/server-target.ts";
import type { ScenarioResult } from "./report-model.ts";
import type { OneRun } from "./run-suite.ts";
import { ScenarioRun } from "./scenario-run.ts";
import { shownSent } from "./shown-step.ts";
import type { StepContext } from "./step-context.ts";

const seedOf = (seed: number, name: string): number =>
  [...name].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193), seed ^ 0x811c9dc5);

type Target = { stop(): Promise<void>; log(): string };

/** One attempt: a folder and, unless the target runs already, a process of its own. Both are gone when this settles. */
const attempt = async (
  scenario: ScenarioFile,
  options: OneRun,
  missed: Map<string, string>,
  dueAt: number,
): Promise<Omit<ScenarioResult, "durationMs">> => {
  const { suite, target: spec, resolved: limits } = options;
  const folder = await createFolder();
  const random = createRandom(seedOf(options.seed, scenario.scenario));
  const transcript: string[] = [];
  const facts = new Map<unknown, unknown>();
  const token = randomBytes(24).toString("hex");
  const parts = { spec, role: suite.role, folder: folder.path, token, limits };
  let target: Target | undefined;
  const interrupt = (): void => void target?.stop();
  options.signal?.addEventListener("abort", interrupt);
  try {
    const isServer = suite.role.plays === "server";
    const isRun = options.leftOut === undefined;
    const server = isServer && isRun ? createServerTarget(parts) : undefined;
    const onMessage = (message: unknown, fact: unknown) => void facts.set(message, fact);
    const client = isServer || !isRun ? undefined : await createClientTarget({ ...parts, onMessage });
    target = server ?? client;
    let lastId = 0;
    const scope = createScope(
      {
        token,
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
    const links = new Map<string, StepContext["endedLinks"][number]>();
    const receivedOn = (name: string): number => links.get(name)?.inbox.messages.length ?? 0;
    let sent: string | undefined;
    const context: StepContext = {
      get sent() {
        return sent;
      },
      scope,
      named: scope.resolve(suite.matchers) as Record<string, unknown>,
      transport: spec.transport,
      limits,
      folder: folder.path,
      isStarted: spec.kind !== "address",
      hasCredential: spec.kind === "address" ? Object.keys(spec.credentials ?? {}).length > 0 : !spec.isOpen,
      links,
      endedLinks: [],
      server,
      client,
      outcomes: new Map(),
      driverSpoke: false,
      voice: options.voice,
      hasWaited: false,
      facts,
      nextId: () => `c-${++lastId}`,
      random,
      hasSpoken: () =>
        context.driverSpoke ||
        context.endedLinks.length > 0 ||
        [...links.keys()].some((name) => receivedOn(name) > 0),
      // Over stdio each connection is a process, which has to start before it answers.
      waitOf(name) {
        const isThere = spec.transport === "stdio" && isServer ? receivedOn(name) > 0 : context.hasSpoken();
        return isThere || context.hasWaited
          ? limits.withinMs
          : Math.max(limits.withinMs, limits.startTimeoutMs);
      },
      note(line) {
        if (/^(> |do )/.test(line)) sent = shownSent(line.replace(/^> /, ""), limits.maxShownLength);
        if (transcript.length < limits.maxTranscript)
          transcript.push(line.slice(0, limits.maxShownLength * 2));
      },
    };
    const { signal, leftOut } = options;
    const run = new ScenarioRun({ suite, scenario, context, dueAt, signal, missed, leftOut });
    await run.run();
    const all = [...context.endedLinks, ...links.values()];
    const received = all.reduce((sum, { inbox }) => sum + inbox.messages.length, Number(context.driverSpoke));
    await Promise.all(all.map((link) => link.close()));
    await target?.stop();
    return {
      name: scenario.scenario,
      title: scenario.title,
      checks: run.checks,
      received,
      problems: run.problems,
      stopped: run.stopped,
      transcript,
      log: target?.log() ?? "",
    };
  } finally {
    options.signal?.removeEventListener("abort", interrupt);
    try {
      await target?.stop();
    } finally {
      await folder.remove();
    }
  }
};

/**
 * Runs one scenario. After too many waits in vain it begins again, without those waits, so that what is behind them is
 * judged too.
 */
export const runScenario = async (scenario: ScenarioFile, options: OneRun): Promise<ScenarioResult> => {
  const startedAt = performance.now();
  const dueAt = startedAt + options.resolved.scenarioTimeoutMs;
  const missed = new Map<string, string>();
  for (let attempts = 1; ; attempts += 1) {
    const known = missed.size;
    const result = await attempt(scenario, options, missed, dueAt);
    const isStuck = !options.voice.hasAnswered || missed.size === known;
    const isOver = isStuck || attempts >= options.resolved.maxAttempts || performance.now() > dueAt;
    if (result.stopped?.code === "incomplete" && !isOver) continue;
    return { ...result, durationMs: performance.now() - startedAt };
  }
};
