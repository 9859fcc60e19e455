import { mkdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { pack } from "./lib/packages/pack.mjs";
import { directPnpm } from "./lib/pnpm.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { stopChildrenOnSignals } from "./lib/run.mjs";
import { workspacePackages } from "./lib/workspace.mjs";

// npm run pack: the published packages as tarballs, for `npm install` in another directory before there is a release.
const target = join(repositoryRoot, "tarballs");

stopChildrenOnSignals();
rmSync(target, { recursive: true, force: true });
mkdirSync(target);
const published = workspacePackages(repositoryRoot).filter(({ isPublic }) => isPublic);
const { packed = [], problem } = await pack(await directPnpm(), published, target);
if (problem === undefined) {
  const place = relative(process.cwd(), target);
  process.stdout.write(`${packed.length} packages in ${place}: npm install ${target}/*.tgz\n`);
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
