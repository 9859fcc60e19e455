import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const supervisor = fileURLToPath(new URL("../../lib/postgres-supervisor.mjs", import.meta.url));

/** Starts a server that ends with this process, and gives its URL. */
const startPostgres = async () => {
  const child = spawn(process.execPath, [supervisor], { detached: true, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(lines, "line"), once(child, "exit").then(() => [])]);
  if (line === undefined) throw new TypeError("PostgreSQL did not start: see above");
  // The end of this process ends the pipe, and with it the server.
  for (const part of [child, child.stdin, child.stdout]) part.unref();
  return JSON.parse(line).url;
};

let started;

/** The URL of a server: of `HARNESS_TEST_POSTGRES`, or of one that ends with this process. */
export const postgresUrl = () => {
  const given = process.env.HARNESS_TEST_POSTGRES;
  started ??= given ? Promise.resolve(given) : startPostgres();
  return started;
};
