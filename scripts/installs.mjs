import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { toTable, writeMarked } from "./lib/marked-table.mjs";
import { published, withConsumers } from "./lib/packages/outside.mjs";
import { repositoryRoot } from "./lib/root.mjs";

// node scripts/installs.mjs [--write]: what each packed package brings to an empty directory, optional peers left out.

const mark = "what each package pulls in: node scripts/installs.mjs --write";

/** The size in bytes of a package's own files. */
const sizeOf = (dir) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);

/** The packages below a `node_modules` of pnpm, by name, as the directories that they link to. */
const linkedIn = (modules) =>
  readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((rest) => `${name}/${rest}`) : [name],
    )
    .map((name) => [name, realpathSync(join(modules, name))]);

/** All packages that one brings, itself included: from the directory of each to its name. */
function installedWith(modules, found = new Map()) {
  for (const [name, dir] of linkedIn(modules)) {
    if (found.has(dir)) continue;
    found.set(dir, name);
    // Beside a package in pnpm's store lie the packages that it depends on.
    installedWith(dir.slice(0, -name.length - 1), found);
  }
  return found;
}

function rowOf({ name, short }, dir) {
  const all = [...installedWith(join(dir, short, "node_modules"))];
  const bytes = all.reduce((sum, [place]) => sum + sizeOf(place), 0);
  const names = [...new Set(all.map(([, one]) => one))].filter((one) => one !== name).sort();
  const ours = names.filter((one) => one.startsWith("@harnesskit/"));
  return [short, ours.length, names.length - ours.length, (bytes / 1e6).toFixed(1)];
}

const wanted = (tarballs) =>
  Object.fromEntries(published.map(({ name, short }) => [short, { [name]: tarballs[name] }]));
const rows = await withConsumers(
  "installs",
  (tarballs) => ({ wanted: wanted(tarballs) }),
  ({ base }) => published.map((pkg) => rowOf(pkg, base)),
);
// zod comes with nearly all.
const table = toTable(
  ["package", "of harnesskit", "of others", "MB"],
  rows.filter(([, , others]) => others > 1),
);
if (process.argv.includes("--write")) writeMarked(join(repositoryRoot, "bench/README.md"), mark, table);
else process.stdout.write(`${table}\n`);
