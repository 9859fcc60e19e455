import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkEmbedder } from "./lib/check-embedder.mjs";
import { checkPackage } from "./lib/check-package.mjs";
import { checkSuites } from "./lib/check-suites.mjs";
import { directPnpm } from "./lib/pnpm.mjs";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { mapLimit, stopChildrenOnSignals } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";
import { workspacePackages } from "./lib/workspace.mjs";

const only = option("only", "").split(",").filter(Boolean);
const published = workspacePackages(repositoryRoot).filter(({ isPublic }) => isPublic);
const chosen = published.filter(({ short }) => only.length === 0 || only.includes(short));

/** Packs every published package; returns `{ pkg, tarball, files }` for each. */
async function pack(pnpm, dir) {
  const filters = published.flatMap(({ name }) => ["--filter", name]);
  const { code, stdout, output } = await pnpm([
    "-r",
    ...filters,
    "pack",
    "--pack-destination",
    dir,
    "--json",
  ]);
  if (code !== 0) return { problem: `pnpm pack failed: ${output.trim()}` };
  const results = [JSON.parse(stdout.slice(stdout.search(/^[[{]/m)))].flat();
  const packed = published.map((pkg) => {
    const result = results.find(({ name }) => name === pkg.name);
    return {
      pkg,
      tarball: join(dir, result.filename.replace(/^.*[\\/]/, "")),
      files: result.files.map(({ path }) => path),
    };
  });
  return { packed };
}

stopChildrenOnSignals();
const findings = await withTempDir(join(realpathSync(tmpdir()), "harnesskit-packages-"), async (dir) => {
  const pnpm = await directPnpm();
  const { packed, problem } = await pack(pnpm, dir);
  if (problem !== undefined) return [problem];
  const tarballs = Object.fromEntries(packed.map(({ pkg, tarball }) => [pkg.name, `file:${tarball}`]));
  const results = await mapLimit(
    packed.filter(({ pkg }) => chosen.includes(pkg)),
    2,
    async (one) => {
      const problems = await checkPackage(one, join(dir, one.pkg.short), tarballs, pnpm);
      return problems.map((text) => `${one.pkg.path}: ${text}`);
    },
  );
  const isChosen = (name) => only.length === 0 || only.includes(name);
  return [
    ...results.flat(),
    ...(isChosen("embedder") ? await checkEmbedder(join(dir, "embedder"), tarballs, pnpm) : []),
    ...(isChosen("suites") ? await checkSuites(join(dir, "suites"), tarballs, pnpm) : []),
  ];
});
report("packages", findings, [...chosen.map(({ short }) => short), "embedder", "suites"].join(", "));
