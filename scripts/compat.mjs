import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryNodeVersions } from "./lib/compat/node-versions.mjs";
import { printCompatibility } from "./lib/compat/page.mjs";
import { tryTypeScriptVersions } from "./lib/compat/typescript-versions.mjs";
import { installConsumers } from "./lib/packages/consumers.mjs";
import { pack } from "./lib/packages/pack.mjs";
import { planOf } from "./lib/packages/plan.mjs";
import { directPnpm } from "./lib/pnpm.mjs";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { stopChildrenOnSignals } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";
import { workspacePackages } from "./lib/workspace.mjs";

// npm run compat: the packed packages on every Node.js and TypeScript that we support, beside both majors of the AI SDK. Prints what
// was tried; --only node,typescript chooses.

const only = option("only", "node,typescript").split(",");
const published = workspacePackages(repositoryRoot).filter(({ isPublic }) => isPublic);

stopChildrenOnSignals();
const findings = await withTempDir(join(realpathSync(tmpdir()), "harnesskit-compat-"), async (dir) => {
  const pnpm = await directPnpm();
  const { packed, problem } = await pack(pnpm, published, dir);
  if (problem !== undefined) return [problem];
  const tarballs = Object.fromEntries(packed.map(({ pkg, tarball }) => [pkg.name, `file:${tarball}`]));
  const consumers = published.flatMap((pkg) => planOf(pkg, tarballs).consumers);
  const base = join(dir, "consumers");
  const wanted = Object.fromEntries(consumers.map(({ name, dependencies }) => [name, dependencies]));
  const { code, output } = await installConsumers(pnpm, base, wanted, tarballs);
  if (code !== 0) return [`the packages cannot be installed: ${output.trim()}`];
  const found = [];
  const tables = {};
  if (only.includes("typescript"))
    tables.typescript = await tryTypeScriptVersions(base, join(dir, "tools"), consumers, found);
  if (only.includes("node")) tables.node = await tryNodeVersions(base, join(dir, "tools"), consumers, found);
  printCompatibility(tables);
  return found;
});
report("compat", findings, only.join(", "));
