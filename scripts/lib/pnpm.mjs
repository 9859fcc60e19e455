import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { repositoryRoot } from "./root.mjs";
import { run } from "./run.mjs";

const quiet = {
  DO_NOT_TRACK: "1",
  TURBO_TELEMETRY_DISABLED: "1",
  TURBO_NO_UPDATE_NOTIFIER: "1",
  NO_UPDATE_NOTIFIER: "1",
  npm_config_update_notifier: "false",
  npm_config_fund: "false",
  npm_config_audit: "false",
};

/** npm's own entry file: the one that runs this script, or the one that came with Node. */
function npmCli() {
  const bin = dirname(process.execPath);
  const candidates = [
    process.env.npm_execpath,
    join(bin, "../lib/node_modules/npm/bin/npm-cli.js"),
    join(bin, "node_modules/npm/bin/npm-cli.js"),
  ];
  return candidates.find((file) => file?.endsWith("npm-cli.js") && existsSync(file));
}

/** The pnpm that package.json pins, such as `pnpm@12.21.0`. */
function pinnedPnpm() {
  const { packageManager } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8"));
  return packageManager.split("+")[0];
}

function throughNpm(command, options) {
  const cli = npmCli();
  const exec = ["exec", "--yes", "--prefer-offline", `--package=${pinnedPnpm()}`, "--", ...command];
  return cli === undefined ? run("npm", exec, options) : run(process.execPath, [cli, ...exec], options);
}

/** Runs the pinned pnpm through npm, so that neither pnpm nor corepack needs to be installed. Options as of `run`. */
export function pnpm(args, options = {}) {
  return throughNpm(["pnpm", ...args], {
    cwd: repositoryRoot,
    ...options,
    env: { ...quiet, ...options.env },
  });
}

/**
 * Finds the pinned pnpm's own program, for many runs in a row: returns a function like {@link pnpm} that starts
 * it directly, without npm's second and a half.
 */
export async function directPnpm() {
  const script = "process.stdout.write(JSON.stringify(process.env.PATH))";
  const { code, stdout } = await throughNpm([process.execPath, "-e", script], {
    cwd: repositoryRoot,
    env: quiet,
  });
  const folders = code === 0 ? JSON.parse(stdout).split(delimiter) : [];
  const program = folders.map((folder) => join(folder, "pnpm")).find((file) => existsSync(file));
  if (program === undefined || process.platform === "win32") return pnpm;
  return (args, options = {}) =>
    run(program, args, { cwd: repositoryRoot, ...options, env: { ...quiet, ...options.env } });
}
