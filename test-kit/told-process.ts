import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface ToldAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly code?: string;
  readonly reason?: string;
}

/**
 * A process that runs commands from lines of JSON, `{ id, op, args }`, and answers with `{ id, result }` or `{ id, code }`;
 * it says `{ "id": 0 }` when it is ready, which is waited for.
 */
export const startToldProcess = async (script: URL, ...args: readonly string[]) => {
  const child = spawn(process.execPath, [fileURLToPath(script), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map<number, (answer: ToldAnswer) => void>();
  const hear = (id: number) => new Promise<ToldAnswer>((resolve) => waiting.set(id, resolve));
  const opened = hear(0);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as ToldAnswer;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  const closed = once(child, "close");
  let lastId = 0;
  const ready = await opened;
  return {
    ready,
    call(op: string, ...rest: unknown[]): Promise<ToldAnswer> {
      const id = ++lastId;
      const answered = hear(id);
      child.stdin.write(`${JSON.stringify({ id, op, args: rest })}\n`);
      return answered;
    },
    /** Settles when the process has said something with this id by itself. */
    reached: (id: number) => hear(id),
    /** Stops it where it is with `SIGSTOP`, or lets it go on with `SIGCONT`. */
    signal: (name: "SIGSTOP" | "SIGCONT") => child.kill(name),
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await closed;
    },
  };
};
