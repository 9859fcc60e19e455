import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** Where the agent is, with its manifest. */
export const agentDirectory = fileURLToPath(new URL("../..", import.meta.url));

/** How an agent's process ended, and what it said. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A Python process in the agent's directory, started without a core. */
export class AgentProcess {
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;

  /** Python sees the standard library only (`-S`), and nothing of the user's settings (`-E -s`). */
  constructor(environment: Record<string, string>, args: readonly string[] = ["agent.py"]) {
    const { PATH = "", HOME = "" } = process.env;
    const child = spawn("python3", ["-E", "-s", "-S", "-X", "dev", "-B", ...args], {
      cwd: agentDirectory,
      env: { PATH, HOME, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]).then(
      ([[code, signal], stdout, stderr]) => ({ code, signal, stdout, stderr }) as ProcessEnd,
    );
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async clean(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}
