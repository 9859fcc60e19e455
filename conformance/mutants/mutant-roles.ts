import type { StartModule } from "../src/index.ts";
import { agentMutants } from "./agent-mutants.ts";
import { chatMutants } from "./chat-mutants.ts";
import { coreMutants } from "./core-mutants.ts";
import { engineMutants } from "./engine-mutants.ts";
import { harnessMutants } from "./harness-mutants.ts";
import type { Mutant, MutantTransport } from "./mutant.ts";
import { startReferenceAgent } from "./reference-agent.ts";
import { createReferenceChat } from "./reference-chat.ts";
import { startReferenceCore } from "./reference-core.ts";
import { startReferenceRuntimeAgent } from "./reference-runtime-agent.ts";
import { startReferenceShell } from "./reference-shell.ts";
import { startReferenceThreadClient } from "./reference-thread-client.ts";
import { startReferenceThreads } from "./reference-threads.ts";
import { runtimeAgentMutants } from "./runtime-agent-mutants.ts";
import { serveAdapter } from "./serve-adapter.ts";
import { serveReferenceEngine } from "./serve-engine.ts";
import { serveReferenceHarness } from "./serve-harness.ts";
import { shellMutants } from "./shell-mutants.ts";
import { threadClientMutants } from "./thread-client-mutants.ts";
import { threadsMutants } from "./threads-mutants.ts";
import type { weakChecks } from "./weak-checks.ts";

/** A reference peer with one deviation. */
type StartedMutant = Required<Mutant<{ readonly start: StartModule }>>;

/** The reference peer of a role and its mutants. */
export interface MutantRole {
  readonly reference: StartModule;
  /** Where the reference is judged. */
  readonly transports: readonly MutantTransport[];
  readonly mutants: readonly StartedMutant[];
}

const role = <D>(
  start: (deviation?: D) => StartModule,
  deviations: readonly Mutant<D>[],
  ...transports: readonly MutantTransport[]
): MutantRole => ({
  reference: start(),
  transports,
  mutants: deviations.map((deviation) => {
    const { name, kills, transport = "unix" } = deviation;
    return { name, kills, transport, start: start(deviation) };
  }),
});

/** By the suite that judges the role. */
export const mutantRoles: Readonly<Record<keyof typeof weakChecks, MutantRole>> = {
  "ahp-server": role(serveReferenceHarness, harnessMutants, "unix", "http", "ws"),
  "ahp-client": role(startReferenceAgent, agentMutants, "unix", "http", "ws"),
  "threads-server": role(startReferenceThreads, threadsMutants, "unix"),
  "threads-client": role(startReferenceThreadClient, threadClientMutants, "unix"),
  "runtime-core": role(startReferenceCore, coreMutants, "unix", "tcp"),
  "runtime-agent": role(startReferenceRuntimeAgent, runtimeAgentMutants, "unix", "tcp"),
  "openharness-engine": role(serveReferenceEngine, engineMutants, "unix", "http"),
  "openharness-shell": role(startReferenceShell, shellMutants, "unix", "http"),
  chat: role((mutant) => serveAdapter(createReferenceChat(mutant)), chatMutants, "unix"),
};

/** Limits of a run against a mutant, which leaves many waits without an answer. */
export const mutantLimits = { withinMs: 250, startTimeoutMs: 3000, maxUnmetWaits: 2, maxParallel: 8 };
