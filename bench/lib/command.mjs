import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../apps/cli/dist/bin.cjs", import.meta.url));

/** Ends the program that it starts when its input ends, which is also how a bench ends that was killed. */
const untilInputEnds = '"$@" >/dev/null & echo $!; read -r _; kill $!; wait';

/**
 * Starts a server of the command, and resolves once its socket is there: `pid`, and `close`. The server does not outlive this process.
 * `BENCH_NODE_ARGS` are options of its Node.
 */
export const startCommand = async (args, { socket, env }) => {
  const nodeArgs = process.env.BENCH_NODE_ARGS?.split(" ") ?? [];
  const command = [process.execPath, ...nodeArgs, bin, ...args];
  const child = spawn("sh", ["-c", untilInputEnds, "sh", ...command], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const exited = once(child, "exit");
  const [pid] = await once(createInterface({ input: child.stdout }), "line");
  while (!existsSync(socket)) await sleep(50);
  return {
    pid: Number(pid),
    async close() {
      child.stdin.end();
      await exited;
    },
  };
};
