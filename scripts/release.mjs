import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pnpm } from "./lib/pnpm.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { stopChildrenOnSignals } from "./lib/run.mjs";

// node scripts/release.mjs version|publish: the two halves of a release, run by the release workflow. npm run release -- --dry-run:
// the version that the changesets lead to, and the second half without an upload and without a question to the registry. All go
// through the pinned pnpm, because it is pnpm that rewrites `workspace:` ranges and the published exports.
const halves = {
  version: [
    ["exec", "changeset", "version"],
    ["install", "--lockfile-only", "--no-frozen-lockfile"],
  ],
  publish: [["exec", "changeset", "publish"]],
  "--dry-run": [
    ["exec", "changeset", "status"],
    ["-r", "publish", "--dry-run", "--force", "--no-git-checks", "--access", "public"],
  ],
};

const steps = halves[process.argv[2]];
if (steps === undefined) {
  process.stderr.write(`Usage: node scripts/release.mjs ${Object.keys(halves).join("|")}\n`);
  process.exit(2);
}

/** A published agent says in its manifest which version it is. */
const copyAgentVersion = (directory) => {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, directory, "package.json"), "utf8"));
  const path = join(repositoryRoot, directory, "opensentience.agent.json");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/"version": "[^"]*"/, `"version": ${JSON.stringify(version)}`));
};

stopChildrenOnSignals();
for (const args of steps) {
  const { code } = await pnpm(args, {
    inherit: true,
    env: { pnpm_config_provenance: String(process.argv[2] === "publish") },
  });
  if (code !== 0) process.exit(code ?? 1);
}
if (process.argv[2] === "version") copyAgentVersion("apps/workspace-agent");
