import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { type Clock, createDeferred } from "@harnesskit/wire";
import { SpawnError } from "./errors.ts";
import { guardScript } from "./guard-scripts.ts";
import { killLaunchProcesses } from "./process-table.ts";

/** Nothing of the core's environment is needed to kill. */
const guardEnvironment = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" };

/** The shell that every POSIX system has at this path. */
export const shell = "/bin/sh";

export interface ProcessGuardOptions {
  readonly launchId: string;
  readonly clock: Clock;
  /** How long it may take to kill what is left before the core does that itself. */
  readonly timeoutMs: number;
}

/**
 * A small process beside each launch that outlives the core and then kills the launch's processes. Made before the
 * agent, and in a session of its own, so that neither a signal to the core's group nor one to the agent's reaches it.
 */
export class ProcessGuard {
  /** Settles when the guard's process is gone, whether it was asked to end or killed. */
  readonly gone: Promise<void>;
  readonly pid: number;
  readonly #options: ProcessGuardOptions;
  readonly #child: ChildProcess;
  readonly #input: Socket;
  #finished = false;

  /** Starts a guard. Throws `start_failed` when the shell or another process cannot be started. */
  constructor(options: ProcessGuardOptions) {
    this.#options = options;
    this.#child = spawn(shell, ["-c", guardScript, "harnesskit-guard", options.launchId], {
      stdio: ["pipe", "ignore", "ignore"],
      env: guardEnvironment,
      cwd: "/",
      detached: true,
    });
    const gone = createDeferred<void>();
    this.gone = gone.promise;
    this.#child.once("exit", (code) => {
      this.#finished = code === 0;
      gone.resolve();
    });
    this.#child.on("error", () => gone.resolve());
    const { pid } = this.#child;
    if (pid === undefined) throw new SpawnError(`a guard (${shell}) could not be started`);
    this.pid = pid;
    this.#input = this.#child.stdin as Socket;
    this.#input.on("error", () => {});
  }

  /** The core's end of the guard's input: the process that becomes the agent writes its identity there. */
  get input(): Socket {
    return this.#input;
  }

  /**
   * Ends the launch: the guard kills what is left of it. Settles when nothing is left; false when something could not
   * be killed. If the guard itself was killed or does not come to an end, the core does its work.
   */
  async finish(): Promise<boolean> {
    this.#input.end();
    const cancel = this.#options.clock.after(this.#options.timeoutMs, () => this.#child.kill("SIGKILL"));
    await this.gone;
    cancel();
    this.#input.destroy();
    return this.#finished || killLaunchProcesses(this.#options.launchId);
  }
}
