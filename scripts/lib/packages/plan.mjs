import { readFileSync } from "node:fs";
import { join } from "node:path";
import { layers } from "../layers-table.mjs";
import { readmeProgram } from "../readme-program.mjs";
import { repositoryRoot } from "../root.mjs";
import { packagesOf } from "../snippets.mjs";
import { publishedEntries, workspacePackages } from "../workspace.mjs";
import { packagesNamedBy } from "./tarball-rules.mjs";

const rootManifest = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8"));
/** Every Node project has them, and the checks bring them. */
const isWanted = (name) => name !== "@types/node";

const ranges = Object.assign(
  {},
  ...workspacePackages(repositoryRoot).flatMap(({ manifest }) => [
    manifest.devDependencies,
    manifest.dependencies,
  ]),
);

/** The range of a package that the program or an optional peer needs: a tarball of ours, or what the workspace uses. */
function rangeOf(name, { manifest }, tarballs) {
  const { devDependencies = {}, dependencies = {}, peerDependencies = {} } = manifest;
  return (
    tarballs[name] ?? devDependencies[name] ?? dependencies[name] ?? peerDependencies[name] ?? ranges[name]
  );
}

/** What peers ask for beside them: the AI SDK and its providers zod, LangGraph its core. */
const withTheirPeers = (peers) => [
  ...peers,
  ...(peers.some((name) => /^ai$|^@ai-sdk\//.test(name)) ? ["zod"] : []),
  ...(peers.includes("@langchain/langgraph") ? ["@langchain/core"] : []),
];

/**
 * The other major versions of optional peers that a package takes: what the root installs under another name
 * (`"ai-7": "npm:ai@7.0.173"`), by the name of the peer.
 */
function otherMajors(peers) {
  const aliased = Object.values(rootManifest.devDependencies)
    .map((range) => /^npm:(.+)@([^@]+)$/.exec(range))
    .filter((match) => match !== null && peers.includes(match[1]));
  return Object.fromEntries(aliased.map(([, name, version]) => [name, version]));
}

/**
 * How one packed package is tried from outside: `{ consumers, findings }`. Each consumer is
 * `{ name, pkg, dependencies, entries, program, isBrowser, isAlone }`. The first has the package alone, and all entries that
 * need no optional peer; the second also has the peers and what the README's program imports; the third has the other
 * major versions of the peers.
 */
export function planOf(pkg, tarballs) {
  const optional = Object.keys(pkg.manifest.peerDependenciesMeta ?? {}).filter(isWanted);
  const needsPeer = ({ files }) =>
    files.some((file) => optional.some((peer) => packagesNamedBy(pkg.dir, file).has(peer)));
  const browser = layers[pkg.short]?.browser ?? [];
  const entries = publishedEntries(pkg).map((entry) => ({
    ...entry,
    isBrowser: browser === "*" || browser.includes(entry.subpath),
  }));
  // A peer that is not optional is installed with the package.
  const required = Object.keys(pkg.manifest.peerDependencies ?? {}).filter(
    (name) => pkg.manifest.peerDependenciesMeta?.[name]?.optional !== true,
  );
  const peers = Object.fromEntries(required.map((name) => [name, rangeOf(name, pkg, tarballs)]));
  const early = entries.filter((entry) => !needsPeer(entry));
  const late = entries.filter(needsPeer);
  const { program, installed } = readmeProgram(pkg.dir);
  const imported = program === undefined ? [] : packagesOf(program.code).filter((name) => name !== pkg.name);
  // What the install lines name beside it is used without an import: a command that the program starts.
  const named = program === undefined ? [] : installed.filter((name) => name !== pkg.name);
  const wanted = [...new Set([...imported, ...named, ...(late.length > 0 ? withTheirPeers(optional) : [])])];
  const unknown = wanted.filter((name) => rangeOf(name, pkg, tarballs) === undefined);
  const known = wanted.filter((name) => !unknown.includes(name));
  const more = Object.fromEntries(known.map((name) => [name, rangeOf(name, pkg, tarballs)]));

  const consumer = (suffix, list, rest) => ({
    name: `${pkg.short}${suffix}`,
    pkg,
    entries: list,
    isBrowser: list.length > 0 && list.every((entry) => entry.isBrowser),
    isAlone: false,
    ...rest,
    dependencies: { [pkg.name]: tarballs[pkg.name], ...peers, ...rest.dependencies },
  });
  const isOneStep = known.length === 0;
  const consumers = [consumer("", early, { isAlone: true, program: isOneStep ? program : undefined })];
  if (!isOneStep) consumers.push(consumer("-and-more", late, { program, dependencies: more }));
  const others = otherMajors(optional);
  if (late.length > 0 && Object.keys(others).length > 0)
    consumers.push(consumer("-and-other", late, { program, dependencies: { ...more, ...others } }));

  const findings = [
    ...(program === undefined && entries.length > 0
      ? ["README.md begins with no ```js [NAME.mjs] program"]
      : []),
    ...[pkg.name, ...imported]
      .filter((name) => program !== undefined && !installed.includes(name))
      .map((name) => `README.md's install lines do not name ${name}, which its program imports`),
    ...unknown.map((name) => `README.md's program imports ${name}, which no package of the workspace uses`),
  ];
  return { consumers, findings };
}
