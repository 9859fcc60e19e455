import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const supervisor = fileURLToPath(new URL("postgres-supervisor.mjs", import.meta.url));

/**
 * Starts a PostgreSQL server that ends with this process, and does not keep it running. With `isSynced` its commits wait for the disk.
 * `say("stop")` stops the server and `say("start")` starts it again; `end` stops it for good.
 */
export const startPostgres = async ({ isSynced = false } = {}) => {
  // Detached: a signal to this process's group ends this process, and the end of the pipe ends the server.
  const child = spawn(process.execPath, [supervisor, ...(isSynced ? ["--sync"] : [])], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const heard = async () => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error("PostgreSQL did not start: see above");
    return JSON.parse(value);
  };
  const { url } = await heard();
  for (const part of [child, child.stdin, child.stdout]) part.unref();
  return {
    url,
    async say(word) {
      child.stdout.ref();
      child.stdin.write(`${word}\n`);
      await heard();
      child.stdout.unref();
    },
    async end() {
      child.ref();
      child.stdin.end();
      await exited;
    },
  };
};

/** The server of the URL in `HARNESS_TEST_POSTGRES`, or one as `startPostgres` starts it. */
export const openPostgres = async (options) => {
  const given = process.env.HARNESS_TEST_POSTGRES;
  return given ? { url: given, end: async () => {} } : startPostgres(options);
};
