import { archives } from "./archives.ts";
import { build } from "./build.ts";
import { builtins } from "./builtins.ts";
import { containers } from "./containers.ts";
import { databases } from "./databases.ts";
import { files } from "./files.ts";
import { git } from "./git.ts";
import { interpreters } from "./interpreters.ts";
import { network } from "./network.ts";
import { packages } from "./packages.ts";
import { privilege } from "./privilege.ts";
import { readers } from "./readers.ts";
import { search } from "./search.ts";
import { type Family, membersOf, type Spec } from "./spec.ts";
import { system } from "./system.ts";
import { textFilters } from "./text-filters.ts";
import { wrappers } from "./wrappers.ts";

const families: readonly Family[] = [
  readers,
  textFilters,
  search,
  files,
  archives,
  git,
  packages,
  build,
  network,
  containers,
  databases,
  interpreters,
  privilege,
  system,
  wrappers,
  builtins,
];

let table: ReadonlyMap<string, Spec> | undefined;

/** All programs by their names. */
export const programTable = (): ReadonlyMap<string, Spec> => {
  table ??= new Map(families.flatMap((family) => [...membersOf(family)]));
  return table;
};
