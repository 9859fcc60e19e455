import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { stringify } from "yaml";
import { run } from "../run.mjs";
import { installTool } from "../tool.mjs";

/** The last version of verdaccio for Node 20. It names a tag of node-fetch, which mirrors of the registry may lack. */
const verdaccio = ["verdaccio", "6.1.6", { "node-fetch": "2.7.0" }];
const startTimeoutMs = 180_000;

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const answers = (url) =>
  fetch(`${url}-/ping`).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * Starts a registry on this machine, with its files in `dir`. Our packages are its own; all others come from the registry that
 * npm uses. Returns `{ url, npmrc, stop }`.
 */
export async function startRegistry(dir) {
  const home = join(dir, "registry");
  mkdirSync(home, { recursive: true });
  const { stdout } = await run("npm", ["config", "get", "registry"]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const config = {
    storage: join(home, "storage"),
    uplinks: { upstream: { url: stdout.trim(), maxage: "60m", timeout: "60s", max_fails: 100 } },
    packages: {
      "@harnesskit/*": { access: "$all", publish: "$all", unpublish: "$all" },
      "**": { access: "$all", proxy: "upstream" },
    },
    log: { type: "stdout", format: "pretty", level: "warn" },
    max_body_size: "100mb",
  };
  writeFileSync(join(home, "config.yaml"), stringify(config));
  const { folder } = await installTool(dir, ...verdaccio);
  const args = [
    join(folder, "bin/verdaccio"),
    "--config",
    join(home, "config.yaml"),
    "--listen",
    `127.0.0.1:${port}`,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => said.push(chunk));
  const exited = new Promise((resolve) => child.once("close", resolve));
  const stop = async () => {
    try {
      process.kill(-child.pid, "SIGTERM");
    } catch {
      // It has ended by itself.
    }
    await exited;
  };
  const until = Date.now() + startTimeoutMs;
  while (!(await answers(url))) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error(`verdaccio did not start: ${Buffer.concat(said).toString("utf8").trim()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return { url, npmrc: `//127.0.0.1:${port}/:_authToken=rehearsal\nregistry=${url}\n`, stop };
}
