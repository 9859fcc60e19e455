import { spawn } from "node:child_process";

const running = new Set();
let isStopping = false;

/** Ends every child that {@link run} started; the runs then settle by themselves, and no further one starts. */
function stopChildren(signal) {
  isStopping = true;
  for (const child of running) child.kill(signal);
}

/**
 * Runs a program to its end, without a shell and with its stdin closed.
 *
 * Takes the program, its arguments and `{ cwd, env, timeoutMs, inherit }`; `env` is added to this process's own,
 * `inherit` passes the three standard streams through instead of capturing them, `forward` passes the output through, too.
 * With `as` (`{ uid, gid, env }`) it runs as that user, with that environment and nothing of this process's. Returns
 * `{ code, output, stdout, ms }`, where `output` holds both streams as they came and `code` is
 * 127 for a program that cannot be started and 130 after an interruption. Never rejects.
 */
export function run(
  program,
  args,
  { cwd, env = {}, timeoutMs = 600_000, inherit = false, forward = false, as } = {},
) {
  const started = performance.now();
  if (isStopping) return Promise.resolve({ code: 130, output: "interrupted\n", stdout: "", ms: 0 });
  return new Promise((settle) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      ...as,
      stdio: inherit ? "inherit" : ["ignore", "pipe", "pipe"],
      shell: false,
    });
    const chunks = [];
    const stdout = [];
    const say = (text) => chunks.push(Buffer.from(`\n${program}: ${text}\n`));
    let failure;
    const timer = setTimeout(() => {
      say(`killed after ${timeoutMs / 1000} s`);
      child.kill("SIGKILL");
    }, timeoutMs);
    running.add(child);
    child.stdout?.on("data", (chunk) => {
      chunks.push(chunk);
      stdout.push(chunk);
    });
    child.stderr?.on("data", (chunk) => chunks.push(chunk));
    if (forward) {
      child.stdout.on("data", (chunk) => process.stdout.write(chunk));
      child.stderr.on("data", (chunk) => process.stderr.write(chunk));
    }
    child.on("error", (error) => {
      failure = error;
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      running.delete(child);
      if (failure !== undefined) say(failure.message);
      settle({
        code: failure === undefined ? code : 127,
        output: Buffer.concat(chunks).toString("utf8"),
        stdout: Buffer.concat(stdout).toString("utf8"),
        ms: performance.now() - started,
      });
    });
  });
}

/** Passes an interruption of this process on to its children, so that none outlives it. */
export function stopChildrenOnSignals() {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, () => {
      stopChildren("SIGTERM");
      process.exitCode = 128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal];
    });
  }
}

/** Runs `task(item)` for every item, at most `limit` at a time, and returns the results in the items' order. */
export async function mapLimit(items, limit, task) {
  const results = new Array(items.length);
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await task(items[index]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}
