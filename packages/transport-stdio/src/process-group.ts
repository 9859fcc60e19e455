import type { ChildProcess } from "node:child_process";

const onWindows = process.platform === "win32";
const live = new Set<ProcessGroup>();

const killAll = (): void => {
  for (const group of live) group.signal("SIGKILL");
};

/**
 * A child process and everything it started that stayed in its group. When this process ends normally, every group
 * that is left is killed. Windows has no groups: there only the child itself is reached.
 */
export class ProcessGroup {
  readonly #child: ChildProcess;
  readonly #id: number;

  constructor(child: ChildProcess, id: number) {
    this.#child = child;
    this.#id = id;
    if (live.size === 0) process.on("exit", killAll);
    live.add(this);
  }

  /** Sends a signal to all processes of the group; an empty group is not an error. */
  signal(signal: NodeJS.Signals): void {
    if (!live.has(this)) return;
    try {
      if (onWindows) this.#child.kill(signal);
      else process.kill(-this.#id, signal);
    } catch {
      // ESRCH: the group is empty. EPERM: what is left has become another user's, or is a zombie (macOS).
    }
  }

  /**
   * The leader is gone: kills what remains and forgets the group. To be called when the exit is reported and not
   * later, because an empty group's id may be given to others.
   */
  dissolve(): void {
    this.signal("SIGKILL");
    live.delete(this);
    if (live.size === 0) process.off("exit", killAll);
  }
}
