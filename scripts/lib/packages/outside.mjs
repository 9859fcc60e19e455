import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { directPnpm } from "../pnpm.mjs";
import { repositoryRoot } from "../root.mjs";
import { stopChildrenOnSignals } from "../run.mjs";
import { withTempDir } from "../temp.mjs";
import { workspacePackages } from "../workspace.mjs";
import { installConsumers } from "./consumers.mjs";
import { pack } from "./pack.mjs";

export const published = workspacePackages(repositoryRoot).filter(({ isPublic }) => isPublic);

/**
 * Packs the published packages and installs consumers of them outside of the repository: `wantedOf(tarballs)` returns
 * `{ wanted, … }`, the dependencies by consumer and whatever else `work` needs. Returns what
 * `work({ dir, base, pnpm, packed, tarballs, … })` returns, where `base` has the consumers and `dir` is theirs and others'.
 */
export function withConsumers(name, wantedOf, work) {
  stopChildrenOnSignals();
  return withTempDir(join(realpathSync(tmpdir()), `harnesskit-${name}-`), async (dir) => {
    const pnpm = await directPnpm();
    const packed = await pack(pnpm, published, dir);
    const tarballs = Object.fromEntries(packed.map(({ pkg, tarball }) => [pkg.name, `file:${tarball}`]));
    const { wanted, ...planned } = wantedOf(tarballs);
    const base = join(dir, "consumers");
    const { code, output } = await installConsumers(pnpm, base, wanted, tarballs);
    if (code !== 0) throw new Error(`the packages cannot be installed: ${output.trim()}`);
    return work({ dir, base, pnpm, packed, tarballs, ...planned });
  });
}

/** What consumers, as `planOf` returns them, depend on, by their names. */
export const dependenciesOf = (consumers) =>
  Object.fromEntries(consumers.map(({ name, dependencies }) => [name, dependencies]));

/** The entries that consumers have, as `loadEntries` takes them. */
export const entriesOf = (consumers) =>
  consumers
    .filter(({ entries }) => entries.length > 0)
    .map(({ name, entries }) => ({ name, specifiers: entries.map(({ specifier }) => specifier) }));
