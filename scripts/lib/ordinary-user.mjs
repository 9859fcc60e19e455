import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makeBarePath } from "./bare-path.mjs";
import { repositoryRoot } from "./root.mjs";

const user = "nobody";
/** What a machine needs to reach the registry. */
const passedOn = /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|(?:https?|no)_proxy|p?npm_config_registry)$/i;
const idOf = (option) => Number(execFileSync("id", [option, user], { encoding: "utf8" }));

/** Copies what git would have in a clone, with what is not committed yet. */
function copyRepository(to) {
  const options = { cwd: repositoryRoot, encoding: "utf8", maxBuffer: 1e8 };
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  for (const file of execFileSync("git", args, options).split("\0").filter(Boolean)) {
    const source = join(repositoryRoot, file);
    if (!existsSync(source)) continue;
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(source, join(to, file));
  }
}

/**
 * Prepares a machine of its own for a user who is not root, in an empty folder: a copy of the repository without anything
 * that was installed or built, a home, a folder for temporary files, and a path with the commands of a bare machine.
 * Takes root to call. Returns the options of `run` to start a program as that user there.
 */
export function prepareOrdinaryUser(base) {
  const folder = (name) => {
    mkdirSync(join(base, name));
    return join(base, name);
  };
  const [repository, home, temporary] = ["repo", "home", "tmp"].map(folder);
  copyRepository(repository);
  const path = makeBarePath(folder("bin"));
  const [uid, gid] = [idOf("-u"), idOf("-g")];
  execFileSync("chown", ["-R", `${uid}:${gid}`, repository, home, temporary]);
  chmodSync(base, 0o755);
  const shared = Object.entries(process.env).filter(([name]) => passedOn.test(name));
  const own = {
    PATH: path,
    HOME: home,
    TMPDIR: temporary,
    USER: user,
    LOGNAME: user,
    LANG: "C.UTF-8",
    CI: "true",
  };
  return { cwd: repository, as: { uid, gid, env: { ...Object.fromEntries(shared), ...own } } };
}

/** The processes that were started in the folder's machine, by their environment: `PID COMMAND`. */
const processesOf = (base) =>
  readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      if (!readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${base}/`)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 200)}`];
    } catch {
      return [];
    }
  });

const graceMs = 10_000;
/** What the programs of others leave: pnpm's locks, and the compiled code of Node. */
const notOurs = /^(?:pnpm-|node-compile-cache$)/;

/** What is left of the folder's machine: processes that do not end by themselves, sockets and files among the temporary ones. */
export async function leftovers(base) {
  const end = performance.now() + graceMs;
  while (processesOf(base).length > 0 && performance.now() < end) await delay(100);
  return [
    ...processesOf(base).map((line) => `process ${line}`),
    ...readdirSync(join(base, "tmp"))
      .filter((name) => !notOurs.test(name))
      .map((name) => `temporary file ${name}`),
  ];
}
