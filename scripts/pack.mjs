import { mkdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { published } from "./lib/packages/outside.mjs";
import { pack } from "./lib/packages/pack.mjs";
import { directPnpm } from "./lib/pnpm.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { stopChildrenOnSignals } from "./lib/run.mjs";

// npm run pack: the published packages as tarballs, for `npm install` in another directory before there is a release.
const target = join(repositoryRoot, "tarballs");

stopChildrenOnSignals();
rmSync(target, { recursive: true, force: true });
mkdirSync(target);
const packed = await pack(await directPnpm(), published, target);
const place = relative(process.cwd(), target);
process.stdout.write(`${packed.length} packages in ${place}: npm install ${target}/*.tgz\n`);
