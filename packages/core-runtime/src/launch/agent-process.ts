import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { isAlive, OutputLines, systemErrorCode } from "@harnesskit/node-kit";
import { type Clock, createDeferred } from "@harnesskit/wire";
import type { CoreLimits } from "../core-limits.ts";
import { type AgentExit, SpawnError } from "./errors.ts";
import { agentScript, ProcessGuard, shell } from "./process-guard.ts";

/** How long a guard may take before the core kills by itself, and how long a killed process may take to end. */
const killTimeoutMs = 5000;
/** How long to wait for the last output of a process that has ended. */
const outputTimeoutMs = 500;

type OutputStream = "stdout" | "stderr";

export interface AgentProcessOptions {
  readonly launchId: string;
  /** A program, by its path from the directory or its name on the PATH of the environment, and its arguments. */
  readonly command: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly onLine: ((stream: OutputStream, line: string) => void) | undefined;
  readonly limits: Pick<CoreLimits, "maxOutputLineLength" | "maxStderrBytes">;
}

/** What is known when nothing of a launch is left. */
export interface AgentEnd {
  readonly exit: AgentExit;
  readonly stderrTail: string;
  /** The guard was gone before the agent; that is why the agent was killed. */
  readonly guardLost: boolean;
  /** Set when the program could not be run: the system's sentence. */
  readonly notExecuted: string | undefined;
  /** False when a process could not be killed. */
  readonly complete: boolean;
}

/** One run of an agent: its process, everything that this started, and the guard. */
export class AgentProcess {
  readonly pid: number;
  readonly guardPid: number;
  /** Settles in the moment in which the agent's own process has ended. */
  readonly exited: Promise<AgentExit>;
  /** Settles when nothing of the launch is left and its output was read. Never rejects. */
  readonly gone: Promise<AgentEnd>;
  readonly #guard: ProcessGuard;
  readonly #options: AgentProcessOptions;
  readonly #stdout: OutputLines;
  readonly #stderr: OutputLines;
  readonly #settleExit: (exit: AgentExit) => void;
  #exit: AgentExit | undefined;
  #guardLost = false;
  /** The system does not let it die. */
  #survived = false;
  #cancelKillTimer: (() => void) | undefined;

  constructor(options: AgentProcessOptions, guard: ProcessGuard, child: ChildProcess, pid: number) {
    this.#options = options;
    this.#guard = guard;
    this.pid = pid;
    this.guardPid = guard.pid;
    const exited = createDeferred<AgentExit>();
    this.exited = exited.promise;
    this.#settleExit = exited.resolve;
    const closed = createDeferred<void>();
    child.once("exit", (code, signal) => this.#ended({ code, signal }));
    child.once("close", () => closed.resolve());
    this.#stdout = this.#read(child.stdout as Readable, "stdout");
    this.#stderr = this.#read(child.stderr as Readable, "stderr");
    void guard.gone.then(() => this.#guardGone());
    this.gone = this.#finish(closed.promise);
  }

  /** Asks the agent's group to end. */
  terminate(): void {
    this.#signal("SIGTERM");
  }

  /** Kills the agent's group at once; what left the group is killed as soon as the agent's process is gone. */
  kill(): void {
    this.#signal("SIGKILL");
    this.#cancelKillTimer ??= this.#options.clock.after(killTimeoutMs, () => {
      this.#survived = true;
      this.#ended({ code: null, signal: "SIGKILL" });
    });
  }

  #read(stream: Readable, name: OutputStream): OutputLines {
    const { onLine, limits } = this.#options;
    const { maxOutputLineLength: maxLineLength, maxStderrBytes } = limits;
    return new OutputLines(stream, {
      maxLineLength,
      maxTailBytes: name === "stderr" ? maxStderrBytes : 0,
      onLine: onLine && ((line) => onLine(name, line)),
    });
  }

  /** To the group, as long as the agent's process was not reaped: until then no other process has its id. */
  #signal(signal: NodeJS.Signals): void {
    if (this.#exit) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      // ESRCH: it ends in this moment. EPERM: it has become another user's.
    }
  }

  #ended(exit: AgentExit): void {
    if (this.#exit) return;
    this.#exit = exit;
    this.#cancelKillTimer?.();
    this.#killRemains();
    this.#settleExit(exit);
  }

  /** The group keeps its id while it has members; a live process with that id is another one, and so is its group. */
  #killRemains(): void {
    if (isAlive(this.pid)) return;
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // No member is left.
    }
  }

  /** Without a guard the agent would survive the core. */
  #guardGone(): void {
    if (this.#exit) return;
    this.#guardLost = true;
    this.kill();
  }

  async #finish(closed: Promise<void>): Promise<AgentEnd> {
    const exit = await this.exited;
    const complete = await this.#guard.finish();
    await this.#untilRead(closed);
    const { tail } = this.#stderr;
    const problem = notExecuted(this.#options.launchId, exit, tail);
    return {
      exit,
      stderrTail: problem === undefined ? tail : "",
      guardLost: this.#guardLost,
      notExecuted: problem,
      complete: complete && !this.#survived,
    };
  }

  /** A process that could not be found may hold the outputs open for ever. */
  async #untilRead(closed: Promise<void>): Promise<void> {
    const givenUp = createDeferred<void>();
    const cancel = this.#options.clock.after(outputTimeoutMs, givenUp.resolve);
    await Promise.race([closed, givenUp.promise]);
    cancel();
    this.#stdout.destroy();
    this.#stderr.destroy();
  }
}

const nameOfShell = (launchId: string): string => `harnesskit-launch-${launchId}`;

/** The shell says with its own name in front why it could not become the program. */
const notExecuted = (launchId: string, exit: AgentExit, stderrTail: string): string | undefined => {
  if (exit.code !== 126 && exit.code !== 127) return undefined;
  const prefix = `${nameOfShell(launchId)}: `;
  return stderrTail.startsWith(prefix) ? stderrTail.slice(prefix.length) : undefined;
};

const spawnAgent = (options: AgentProcessOptions, guard: ProcessGuard): ChildProcess => {
  const { launchId, command, directory, environment } = options;
  return spawn(shell, ["-c", agentScript, nameOfShell(launchId), ...command], {
    stdio: ["ignore", "pipe", "pipe", guard.input],
    cwd: directory,
    env: { ...environment },
    detached: true,
  });
};

/**
 * Starts an agent with its guard. The guard is there first, and the agent sends it its id before it runs the program,
 * so that the program never outlives the core. Rejects with `start_failed`.
 */
export const startAgentProcess = async (options: AgentProcessOptions): Promise<AgentProcess> => {
  const { launchId, clock } = options;
  const guard = new ProcessGuard({ launchId, clock, timeoutMs: killTimeoutMs });
  try {
    const child = spawnAgent(options, guard);
    child.on("error", () => {});
    if (child.pid !== undefined) return new AgentProcess(options, guard, child, child.pid);
  } catch (cause) {
    await guard.finish();
    throw new SpawnError(`the process could not be started (${systemErrorCode(cause) ?? "unknown"})`);
  }
  await guard.finish();
  throw new SpawnError(
    "the process could not be started: is the agent's directory there, and are the arguments not too long?",
  );
};
