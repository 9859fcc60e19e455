import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pagePrograms } from "./lib/page-programs.mjs";
import { pnpm } from "./lib/pnpm.mjs";
import { readmeProgram } from "./lib/readme-program.mjs";
import { printLog } from "./lib/rehearsal/log.mjs";
import { startRegistry } from "./lib/rehearsal/registry.mjs";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { mapLimit, run, stopChildrenOnSignals } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";
import { workspacePackages } from "./lib/workspace.mjs";

// npm run rehearse: a release in full, into a registry on this machine. A clone is versioned by the changesets and published; then
// each package is installed by the lines of its README into an empty directory, and the README's program is run there. npx finds a
// command by the package's name only where the package has one command. With --keep nothing is tried: the registry stays until Ctrl-C, so
// that you can install from it and follow the site by hand.

const programTimeoutMs = 180_000;
const installTimeoutMs = 600_000;
const keeps = process.argv.includes("--keep");
const only = option("only", "packages,pages").split(",");
const starts = join(repositoryRoot, "docs/start");
const published = workspacePackages(repositoryRoot).filter(({ isPublic }) => isPublic);

const must = async (what, work) => {
  const { code, output, ms } = await work;
  if (code !== 0)
    throw new Error(`${what} ended with ${code}:\n${output.trim().split("\n").slice(-30).join("\n")}`);
  return ms;
};

/** A clone of the last commit, with its dependencies and with what was built here. */
async function cloneRelease(dir) {
  const clone = join(dir, "clone");
  await must(
    "git clone",
    run("git", ["clone", "--quiet", "--depth", "1", `file://${repositoryRoot}`, clone]),
  );
  const options = { cwd: clone, env: { CI: "true" } };
  await must("pnpm install", pnpm(["install", "--frozen-lockfile", "--prefer-offline"], options));
  for (const { dir: from, path, manifest } of published) {
    for (const built of ["dist", ...(manifest.files ?? [])].filter((name) =>
      /^(dist|page|schema)$/.test(name),
    ))
      cpSync(join(repositoryRoot, path, built), join(clone, path, built), { recursive: true, force: true });
    // Only a workflow on the forge can prove where a package comes from.
    const file = join(clone, path, "package.json");
    const { publishConfig, ...rest } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
    const { provenance: _, ...config } = publishConfig;
    writeFileSync(file, `${JSON.stringify({ ...rest, publishConfig: config }, null, 2)}\n`);
  }
  await must("changeset version", pnpm(["exec", "changeset", "version"], options));
  return clone;
}

/** The lines of a Markdown file that install packages, as arguments of npm. */
const installLines = (file) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("npm install ") && !line.includes("--global"))
    .map((line) =>
      line
        .replace(/\s+#.*/, "")
        .split(/\s+/)
        .slice(1),
    );

async function tryPackage(pkg, dir, env) {
  const { program } = readmeProgram(pkg.dir);
  const cwd = join(dir, pkg.short);
  mkdirSync(cwd, { recursive: true });
  const options = { cwd, env, timeoutMs: installTimeoutMs };
  const started = performance.now();
  await must("npm init", run("npm", ["init", "-y"], options));
  for (const args of installLines(join(pkg.dir, "README.md")))
    await must(`npm ${args.join(" ")}`, run("npm", args, options));
  const installMs = performance.now() - started;
  if (program === undefined) return { name: `\`${pkg.name}\``, installMs };
  writeFileSync(join(cwd, program.name), program.code);
  const { code, output, ms } = await run(process.execPath, [program.name], {
    cwd,
    env,
    timeoutMs: programTimeoutMs,
  });
  if (code !== 0) throw new Error(`node ${program.name} ended with ${code}:\n${output.trim()}`);
  return { name: `\`${pkg.name}\``, installMs, program: program.name, ms, output };
}

/** Follows a page of docs/start in an empty directory. */
async function tryPage(file, dir, env) {
  const name = file.replace(/\.md$/, "");
  const cwd = join(dir, name);
  mkdirSync(cwd, { recursive: true });
  const path = join(starts, file);
  const options = { cwd, env, timeoutMs: installTimeoutMs };
  const started = performance.now();
  await must("npm init", run("npm", ["init", "-y"], options));
  for (const args of installLines(path)) await must(`npm ${args.join(" ")}`, run("npm", args, options));
  const installMs = performance.now() - started;
  const { files, commands } = pagePrograms(readFileSync(path, "utf8"));
  for (const { name: target, code } of files) {
    mkdirSync(dirname(join(cwd, target)), { recursive: true });
    writeFileSync(join(cwd, target), code);
  }
  let said = "";
  let ran = 0;
  for (const { bin, args } of commands) {
    const [program, all] = bin === undefined ? [process.execPath, args] : ["npx", [bin, ...args]];
    const { code, output, ms } = await run(program, all, { cwd, env, timeoutMs: programTimeoutMs });
    if (code !== 0 && !output.includes("does not conform"))
      throw new Error(`${bin ?? "node"} ${args.join(" ")} ended with ${code}:\n${output.trim()}`);
    said = output;
    ran += ms;
  }
  const program = commands.map(({ bin, args }) => [bin ?? "node", args[0]].join(" ")).join(", ");
  return { name: `[${name}](start/${file})`, installMs, program, ms: ran, output: said };
}

/** The command line by name only, in an empty directory. */
async function tryCommand(dir, env) {
  const cwd = join(dir, "npx");
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "notes.txt"), "buy milk\n");
  const args = ["--yes", "@harnesskit/cli", "run", "--approve", "reject", "read notes.txt"];
  const { code, output, ms } = await run("npx", args, { cwd, env, timeoutMs: installTimeoutMs });
  if (code !== 0 || !output.includes("buy milk"))
    throw new Error(`npx ended with ${code}:\n${output.trim()}`);
  return {
    name: "the command line, by name",
    installMs: undefined,
    program: `npx ${args.slice(1, 3).join(" ")} …`,
    ms,
    output,
  };
}

const interrupted = () =>
  new Promise((resolve) => {
    const timer = setInterval(() => {}, 60_000);
    for (const signal of ["SIGINT", "SIGTERM"])
      process.once(signal, () => {
        clearInterval(timer);
        resolve();
      });
  });

stopChildrenOnSignals();
const failures = [];
await withTempDir(join(realpathSync(tmpdir()), "harnesskit-rehearsal-"), async (dir) => {
  const registry = await startRegistry(dir);
  try {
    const clone = await cloneRelease(dir);
    const { version } = JSON.parse(readFileSync(join(clone, "packages/wire/package.json"), "utf8"));
    writeFileSync(join(clone, ".npmrc"), registry.npmrc);
    const args = ["-r", "publish", "--no-git-checks", "--access", "public", "--registry", registry.url];
    const filters = published.flatMap(({ name }) => ["--filter", name]);
    await must("pnpm publish", pnpm([...filters, ...args], { cwd: clone, env: { CI: "true" } }));
    const env = {
      npm_config_registry: registry.url,
      npm_config_cache: join(dir, "npm-cache"),
      npm_config_fund: "false",
      npm_config_audit: "false",
      npm_config_update_notifier: "false",
      XDG_STATE_HOME: join(dir, "state"),
    };
    const attempt = async (work, name) =>
      work().catch((error) => {
        failures.push(`${name}: ${error.message}`);
        return undefined;
      });
    const tryAll = async (mark, tasks) => {
      const tried = await mapLimit(tasks, 2, ([name, work]) => attempt(work, name));
      printLog(mark, { version, dir, tried: tried.filter((one) => one !== undefined) });
    };
    if (keeps) {
      process.stdout.write(
        `rehearse: export npm_config_registry=${registry.url} npm_config_cache=${env.npm_config_cache}\n`,
      );
      await interrupted();
      return;
    }
    if (only.includes("packages"))
      await tryAll("packages", [
        ...published.map((pkg) => [pkg.name, () => tryPackage(pkg, join(dir, "roles"), env)]),
      ]);
    if (only.includes("pages"))
      await tryAll("pages", [
        ["npx", () => tryCommand(dir, env)],
        ...readdirSync(starts).map((file) => [file, () => tryPage(file, join(dir, "pages"), env)]),
      ]);
  } finally {
    await registry.stop();
  }
});
if (!keeps) report("rehearse", failures, `${published.length} packages published, installed and run`);
