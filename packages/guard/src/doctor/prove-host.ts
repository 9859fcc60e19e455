import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HookFailure, Host } from "@harnesskit/agent-hooks";
import { shellWord } from "@harnesskit/wire";
import { type Probe, probeSettings, probes } from "./probes.ts";
import { protectionText } from "./protection-text.ts";
import type { DoctorAgent, DoctorRow } from "./report.ts";
import { runProgram } from "./run-program.ts";
import type { RunnableHost } from "./runnable-hosts.ts";
import { startScriptedModel } from "./scripted-model.ts";

export interface ProveHostOptions {
  readonly host: Host;
  readonly runnable: RunnableHost;
  /** The path of the host's program. */
  readonly program: string;
  /** The words that start the hook's own program. @default none; `no_hub` is not run */
  readonly hookProgram?: readonly string[] | undefined;
  /** @default all */
  readonly probes?: readonly Probe[] | undefined;
  /** How long one run may take, in milliseconds. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** Runs at one time. @default 2 */
  readonly parallel?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after each run. */
  readonly onRow?: ((row: DoctorRow) => void) | undefined;
}

const defaultTimeoutMs = 60_000;

/** What is documented, with the settings that are planned. */
const documentedEffect = (host: Host, probe: Probe): DoctorRow["documented"] => {
  if (probe === "allow") return "runs";
  if (probe === "deny" || probe === "no_hub") return "blocked";
  const fact = host.failures[probe satisfies HookFailure];
  return fact.withSettings ?? fact.documented;
};

const versionPattern = /\d+\.\d+\.\d+(?:[\w.-]*\w)?/;

const versionOf = async (
  { program, timeoutMs = defaultTimeoutMs, signal }: ProveHostOptions,
  home: string,
) => {
  const { output } = await runProgram({
    program,
    args: ["--version"],
    env: { HOME: home },
    cwd: home,
    timeoutMs,
    signal,
  });
  return versionPattern.exec(output)?.[0];
};

const withDirectory = async <T>(work: (directory: string) => Promise<T>): Promise<T> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "harness-guard-")));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
};

/** The end of what the program has said, as a reason. */
const lastLine = (output: string): string => output.trim().split("\n").at(-1)?.slice(0, 300) ?? "";

const runProbe = (options: ProveHostOptions, probe: Probe): Promise<DoctorRow> =>
  withDirectory(async (directory) => {
    const { host, runnable, program, hookProgram, timeoutMs = defaultTimeoutMs, signal } = options;
    const [home, project] = [join(directory, "home"), join(directory, "project")];
    await Promise.all([mkdir(home), mkdir(project)]);
    const proof = join(project, "made-by-the-tool");
    const started = join(directory, "hook-started");
    const row = { probe, documented: documentedEffect(host, probe) };
    const hooks = probeSettings(host, probe, {
      started,
      nothing: join(directory, "nothing"),
      program: hookProgram,
    });
    if (!hooks) return { ...row, note: "not run: the hook's program is not known" };
    const model = await startScriptedModel((outputs) =>
      outputs.length === 0 ? { command: `touch ${shellWord(proof)}` } : { say: "done" },
    );
    try {
      const isTrusted = probe !== "untrusted";
      const parts = { home, project, modelUrl: model.url, hooks, isTrusted, prompt: "create the file" };
      const { args, env } = await runnable.prepare(parts);
      const end = await runProgram({ program, args, env, cwd: project, timeoutMs, signal });
      if (existsSync(proof)) return { ...row, observed: "runs" };
      // A tool that did not run was stopped, if the model asked for it at all.
      const wasCalled = model.calls > 0;
      if (wasCalled && !end.isTimedOut) return { ...row, observed: "blocked" };
      const why = end.isTimedOut
        ? "it did not end in time"
        : `it did not ask the model: ${lastLine(end.output)}`;
      return { ...row, observed: "unknown", note: why };
    } finally {
      await model.close();
    }
  });

/**
 * Runs a host against a scripted model, once for each way in which its hook can behave, each time with a home and a project of its own in a
 * temporary directory. Nothing leaves the machine, and no settings of the user are read. Rejects as the system does where the
 * program does not start.
 */
export const proveHost = async (options: ProveHostOptions): Promise<DoctorAgent> => {
  const { host, parallel = 2, onRow } = options;
  const wanted = options.probes ?? probes;
  const version = await withDirectory((home) => versionOf(options, home));
  const rows = new Map<Probe, DoctorRow>();
  const left = [...wanted];
  const work = async (): Promise<void> => {
    for (let probe = left.shift(); probe !== undefined; probe = left.shift()) {
      const row = await runProbe(options, probe);
      rows.set(probe, row);
      onRow?.(row);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, parallel) }, work));
  const found = wanted.map((probe) => rows.get(probe) as DoctorRow);
  // Without the control, a tool that did not run proves nothing.
  const isProved = rows.get("allow")?.observed === "runs" && rows.get("deny")?.observed !== undefined;
  const shown = isProved
    ? found
    : found.map(({ observed, ...row }) => ({ ...row, note: row.note ?? unproved(observed) }));
  return {
    agent: host.id,
    name: host.name,
    version,
    isProved,
    rows: shown,
    protection: protectionText(shown, isProved),
  };
};

const unproved = (observed: DoctorRow["observed"]): string =>
  `not proved: the run in which the hook allows the tool did not make the file (here: ${observed ?? "not run"})`;

/** What is documented of a host that is not run. */
export const documentedHost = (host: Host): DoctorAgent => {
  const rows = probes.map((probe) => ({ probe, documented: documentedEffect(host, probe) }));
  return { agent: host.id, name: host.name, isProved: false, rows, protection: protectionText(rows, false) };
};
