import { pnpm } from "./lib/pnpm.mjs";
import { stopChildrenOnSignals } from "./lib/run.mjs";

// node scripts/release.mjs version|publish: the two halves of a release, run by the release workflow. Both go
// through the pinned pnpm, because it is pnpm that rewrites `workspace:` ranges and the published exports.
const halves = {
  version: [
    ["exec", "changeset", "version"],
    ["install", "--lockfile-only", "--no-frozen-lockfile"],
  ],
  publish: [["exec", "changeset", "publish"]],
};

const steps = halves[process.argv[2]];
if (steps === undefined) {
  process.stderr.write(`Usage: node scripts/release.mjs ${Object.keys(halves).join("|")}\n`);
  process.exit(2);
}
stopChildrenOnSignals();
for (const args of steps) {
  const { code } = await pnpm(args, { inherit: true, env: { pnpm_config_provenance: "true" } });
  if (code !== 0) process.exit(code ?? 1);
}
