import { join } from "node:path";
import { tryNodeVersions } from "./lib/compat/node-versions.mjs";
import { tryTypeScriptVersions } from "./lib/compat/typescript-versions.mjs";
import { toTable } from "./lib/marked-table.mjs";
import { dependenciesOf, published, withConsumers } from "./lib/packages/outside.mjs";
import { planOf } from "./lib/packages/plan.mjs";
import { option, report } from "./lib/report.mjs";

// npm run compat: the packed packages on every Node.js and TypeScript that we support, beside both majors of the AI SDK. Prints what
// was tried; --only node,typescript chooses.

const only = option("only", "node,typescript").split(",");

const planned = (tarballs) => {
  const consumers = published.flatMap((pkg) => planOf(pkg, tarballs).consumers);
  return { wanted: dependenciesOf(consumers), consumers };
};
const findings = await withConsumers("compat", planned, async ({ dir, base, consumers }) => {
  const found = [];
  for (const [name, tryVersions] of Object.entries({
    typescript: tryTypeScriptVersions,
    node: tryNodeVersions,
  })) {
    if (!only.includes(name)) continue;
    const table = await tryVersions(base, join(dir, "tools"), consumers, found);
    console.log(`${toTable(...table)}\n`);
  }
  return found;
});
report("compat", findings, only.join(", "));
