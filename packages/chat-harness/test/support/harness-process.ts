import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const fixture = fileURLToPath(new URL("../fixtures/harness-process.mjs", import.meta.url));

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly code?: string;
}

/** Another process with a harness over the same file. */
export const startHarnessProcess = async (bundle: string, file: string) => {
  const child = spawn(process.execPath, [fixture, bundle, file], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, (answer: Answer) => void>();
  const hear = (id: number) => new Promise<Answer>((resolve) => waiting.set(id, resolve));
  const opened = hear(0);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as Answer;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  const closed = once(child, "close");
  let lastId = 0;
  await opened;
  return {
    call(op: string, ...args: unknown[]): Promise<Answer> {
      const id = ++lastId;
      const answered = hear(id);
      child.stdin.write(`${JSON.stringify({ id, op, args })}\n`);
      return answered;
    },
    /** Settles when the process has said that it is at a point. */
    reached: (id: number) => hear(id),
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
