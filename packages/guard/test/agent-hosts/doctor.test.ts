import { fileURLToPath } from "node:url";
import { findHost, type HookFailure } from "@harnesskit/agent-hooks";
import { describe, expect, inject, it } from "vitest";
import { proveHost, runnableHosts } from "../../src/doctor/index.ts";
import { isAnswered, type Probe, probes } from "../../src/doctor/probes.ts";

const programs = inject("agentHosts");
/** The hook's own program, as it is built: the doctor starts it as a host does. */
const hookProgram = [
  process.execPath,
  fileURLToPath(new URL("../../../../apps/cli/dist/guard-hook.cjs", import.meta.url)),
];

/** These take seconds for each run: those in which a tool runs that should not, or that differ from the documentation. `harness guard doctor` makes all. */
const wanted: Readonly<Record<string, readonly Probe[]>> = {
  codex: probes,
  "copilot-cli": ["allow", "deny", "no_hub", "crash", "garbage"],
  "gemini-cli": ["allow", "deny", "no_hub", "silent_exit", "missing"],
};
const answered: Readonly<Record<string, string>> = { allow: "runs", deny: "blocked", no_hub: "blocked" };

describe.each(runnableHosts.map((runnable) => ({ id: runnable.id, runnable })))(
  "the doctor, with the real $id",
  ({ id, runnable }) => {
    const program = programs[id];
    const host = findHost(id);
    const expected = (probe: Probe) =>
      isAnswered(probe) ? answered[probe] : host.failures[probe satisfies HookFailure].observed?.effect;

    it.skipIf(program === undefined)(
      "finds what agent-hooks states of each failure, and that its refusals are obeyed",
      async () => {
        const chosen = wanted[id] ?? probes;
        const options = { host, runnable, program: program as string, hookProgram, probes: chosen };
        const agent = await proveHost(options);
        expect(Object.fromEntries(agent.rows.map(({ probe, observed }) => [probe, observed]))).toEqual(
          Object.fromEntries(chosen.map((probe) => [probe, expected(probe)])),
        );
        expect(agent.isProved).toBe(true);
        expect(agent.version).toBe(host.failures.crash.observed?.version);
        expect(agent.protection).toMatch(
          /^checked and recorded; without the hub it refuses every tool; it runs the tool if /,
        );
        expect(agent.protection).not.toMatch(/sandbox/i);
      },
      240_000,
    );
  },
);
