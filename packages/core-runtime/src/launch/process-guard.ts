import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { agentEnvironment } from "@harnesskit/protocol/runtime";
import { type Clock, createDeferred } from "@harnesskit/wire";
import { SpawnError } from "./errors.ts";

/**
 * Becomes the agent. It runs as the leader of a new session and group, sends the guard its identity, and then replaces
 * itself by the program, so that the agent is the core's own child and the system reports its exit to the core. File
 * descriptor 3 is the core's end of the guard's input; the program does not get it.
 *
 * Arguments: the program and its arguments. Nothing in them is looked at by the shell.
 */
export const agentScript = `
{ read -r born </proc/self/stat; } 2>/dev/null || born=
printf '%s\\n' "$$ $born" >&3 || exit 1
exec "$@" 3>&-
`;

/**
 * Waits until the other end of its input is closed, that is until the core has ended or ends the launch,
 * and then kills what is left of the launch: the agent's group, and each process with the launch's id in its
 * environment, again and again until none is left. Signals do not end it; only SIGKILL does, and the core notices that.
 *
 * A group's id is used only if its leader is the one that said so (its start time is compared) or is gone: while any
 * process is left in the group, the system does not reuse its id.
 *
 * Argument: the launch's id. Input: one line, the agent's process id and its /proc/PID/stat if the system has that.
 */
const guardScript = `
trap '' HUP INT QUIT TERM PIPE
id=$1
read -r born || born=
while read -r rest; do :; done
set -f
set -- $born
group=$1
start=\${23}
kill_group() {
  [ -n "$group" ] || return 0
  if [ -n "$start" ] && now=$(cat "/proc/$group/stat" 2>/dev/null); then
    now=\${now##*) }
    set -- $now
    [ "\${20}" = "$start" ] || return 0
  fi
  kill -s KILL -- "-$group" 2>/dev/null
}
kill_others() {
  set +f
  found=$(grep -lsF "HARNESS_LAUNCH_ID=$id" /proc/[0-9]*/environ)
  set -f
  for file in $found; do
    pid=\${file#/proc/}
    grep -qsF "HARNESS_LAUNCH_ID=$id" "$file" && kill -s KILL "\${pid%/environ}" 2>/dev/null
  done
  [ -n "$found" ]
}
kill_group
left=1000
while kill_others && [ $left -gt 0 ]; do left=$((left - 1)); done
[ $left -gt 0 ]
`;

/** Passes over the process table before one gives up on processes that multiply faster than they are killed. */
const maxPasses = 1000;

const markOf = (launchId: string): Buffer => Buffer.from(`${agentEnvironment.launchId}=${launchId}\0`);

/** The processes that have the launch's id in their environment. None on systems without `/proc`. */
const findLaunchProcesses = async (launchId: string): Promise<number[]> => {
  const mark = markOf(launchId);
  const names = await readdir("/proc").catch(() => []);
  const found: number[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const environment = await readFile(`/proc/${name}/environ`).catch(() => undefined);
    if (environment?.includes(mark)) found.push(Number(name));
  }
  return found;
};

/** Looks again and kills in one go, so that the id has no time to become another process's. */
const killVerified = (pid: number, mark: Buffer): void => {
  try {
    if (readFileSync(`/proc/${pid}/environ`).includes(mark)) process.kill(pid, "SIGKILL");
  } catch {
    // It is gone.
  }
};

/**
 * Kills each process that has the launch's id in its environment, until none is left. True when none is left. On systems
 * without `/proc` nothing is found.
 */
export const killLaunchProcesses = async (launchId: string): Promise<boolean> => {
  const mark = markOf(launchId);
  for (let pass = 0; pass < maxPasses; pass++) {
    const found = await findLaunchProcesses(launchId);
    if (found.length === 0) return true;
    for (const pid of found) killVerified(pid, mark);
  }
  return false;
};

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
