import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow } from "../workspace.mjs";

const site = "https://harnesskit.github.io/harnesskit/";
const ofNode = /"node:|\bNodeJS\.|\bBuffer\b|<reference types="node"/;
const maxReadmeLines = 150;

const namesNode = (dir) =>
  filesBelow(join(dir, "dist"), [".d.ts"], { skip: [] }).some((file) =>
    ofNode.test(readFileSync(file, "utf8")),
  );

/** What the manifest and the README of a package lack for someone who finds it in the registry. */
export function manifestProblems({ dir, path, manifest }) {
  const page = `packages/${path.split("/").at(-1)}`;
  const problems = [];
  if (manifest.homepage !== `${site}${page}`) problems.push(`homepage should be ${site}${page}`);
  if (manifest.bugs?.url === undefined) problems.push("has no bugs.url");
  for (const field of ["author", "description"])
    if (typeof manifest[field] !== "string") problems.push(`has no ${field}`);
  if (manifest.repository?.directory !== path) problems.push(`repository.directory should be ${path}`);
  if ((manifest.keywords ?? []).length < 4) problems.push("has fewer than four keywords");
  const peer = manifest.peerDependencies?.["@types/node"];
  const isOptional = manifest.peerDependenciesMeta?.["@types/node"]?.optional === true;
  if (namesNode(dir) !== (peer !== undefined && isOptional))
    problems.push(
      peer === undefined
        ? "has declarations with Node's types: name @types/node as an optional peer"
        : "names @types/node, which its declarations do not use, or not as an optional peer",
    );
  const lines = readFileSync(join(dir, "README.md"), "utf8").trimEnd().split("\n").length;
  if (lines > maxReadmeLines) problems.push(`README.md has ${lines} lines: at most ${maxReadmeLines}`);
  return problems;
}

/** Packages whose keywords are all those of another one. */
export const sharedKeywords = (packages) =>
  packages.flatMap(({ path, manifest }, index) =>
    packages
      .slice(0, index)
      .filter((other) => other.manifest.keywords?.join() === manifest.keywords?.join())
      .map((other) => `${path}: has the keywords of ${other.path}`),
  );
