import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const supervisor = fileURLToPath(new URL("../../lib/postgres-supervisor.mjs", import.meta.url));

/**
 * Starts a server that ends with this process: its URL, its directory, and what restarts it as after a crash.
 *
 * @param {string} [parent] where its directory lies; the system's directory for temporary files by default
 */
const startPostgres = async (parent) => {
  const child = spawn(process.execPath, [supervisor], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...(parent === undefined ? {} : { TMPDIR: parent }) },
  });
  const lines = createInterface({ input: child.stdout });
  const exited = once(child, "exit");
  const ready = async () => {
    const [line] = await Promise.race([once(lines, "line"), exited.then(() => [])]);
    if (line === undefined) throw new TypeError("PostgreSQL did not start: see above");
    return JSON.parse(line);
  };
  const { url, directory } = await ready();
  // The end of this process ends the pipe, and with it the server.
  for (const part of [child, child.stdin, child.stdout]) part.unref();
  return {
    url,
    directory,
    async restart() {
      const again = ready();
      child.stdout.ref();
      child.stdin.write("restart\n");
      await again;
    },
    async stop() {
      child.ref();
      child.stdin.end();
      await exited;
    },
  };
};

let started;

/** The URL of a server: of `HARNESS_TEST_POSTGRES`, or of one that ends with this process. */
export const postgresUrl = () => {
  const given = process.env.HARNESS_TEST_POSTGRES;
  started ??= given ? Promise.resolve(given) : startPostgres().then(({ url }) => url);
  return started;
};
