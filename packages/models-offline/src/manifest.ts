import { parseJson, stringOf, toFields } from "./tool-values.ts";

/** What a manifest says of its project. */
export interface ManifestFacts {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** What can be run: names of scripts or targets, with the command where the manifest gives it. */
  readonly scripts?: readonly { readonly name: string; readonly command?: string }[];
  /** The manifest could not be understood. */
  readonly unreadable?: true;
}

/** A kind of manifest: its file name, its ecosystem, and its reader. */
export interface ManifestKind {
  readonly file: string;
  readonly ecosystem: string;
  readonly facts: (text: string) => ManifestFacts;
}

/** The manifests that are known, in the order in which they are believed. */
export const manifestKinds: readonly ManifestKind[] = [
  { file: "package.json", ecosystem: "Node.js", facts: jsonFacts },
  { file: "Cargo.toml", ecosystem: "Rust (Cargo)", facts: (text) => tomlFacts(text, ["package"]) },
  { file: "go.mod", ecosystem: "Go", facts: goFacts },
  {
    file: "pyproject.toml",
    ecosystem: "Python",
    facts: (text) => tomlFacts(text, ["project", "tool.poetry"]),
  },
  { file: "pom.xml", ecosystem: "Java (Maven)", facts: mavenFacts },
  { file: "composer.json", ecosystem: "PHP (Composer)", facts: jsonFacts },
  { file: "deno.json", ecosystem: "Deno", facts: jsonFacts },
  { file: "Makefile", ecosystem: "Make", facts: (text) => ({ scripts: makeTargets(text) }) },
];

const readManifest = (text: string): unknown => parseJson(text.replace(/^\ufeff/, ""));

/** The scripts of a package.json, by name; empty for other content. */
export function packageScripts(text: string): { name: string; command: string }[] {
  return Object.entries(toFields(toFields(readManifest(text)).scripts)).flatMap(([name, command]) =>
    typeof command === "string" ? [{ name, command }] : [],
  );
}

/** The targets of a Makefile: names before a colon, not variables, patterns or special targets. */
export function makeTargets(text: string): { name: string }[] {
  const names = text.split("\n").flatMap((line) => {
    const match = /^([A-Za-z0-9][\w.-]{0,80})(?:[ \t]{1,20}[\w.-]{1,80}){0,20}[ \t]{0,20}::?(?!=)/.exec(
      line.slice(0, 2_000),
    );
    return match?.[1] === undefined ? [] : [match[1]];
  });
  return [...new Set(names)].map((name) => ({ name }));
}

function jsonFacts(text: string): ManifestFacts {
  const manifest = readManifest(text);
  if (typeof manifest !== "object" || manifest === null || Array.isArray(manifest))
    return { unreadable: true };
  const { name, description } = toFields(manifest);
  return { ...named(stringOf(name), stringOf(description)), scripts: packageScripts(text) };
}

/** Two plain keys are all that is wanted, and a file that was cut should still give them: no TOML parser is needed. */
function tomlFacts(text: string, sections: readonly string[]): ManifestFacts {
  let section = "";
  const found = new Map<string, string>();
  for (const line of text.split("\n")) {
    const header = /^\s{0,8}\[([\w.-]{1,80})\]/.exec(line);
    if (header !== null) section = header[1] ?? "";
    if (!sections.includes(section)) continue;
    const pair = /^\s{0,8}(name|description)\s{0,8}=\s{0,8}(?:"([^"]{1,500})"|'([^']{1,500})')/.exec(line);
    const key = pair?.[1];
    if (key !== undefined && !found.has(key)) found.set(key, pair?.[2] ?? pair?.[3] ?? "");
  }
  return named(found.get("name"), found.get("description"));
}

function goFacts(text: string): ManifestFacts {
  return named(/^module\s{1,8}"?([^\s"]{1,300})/m.exec(text)?.[1], undefined);
}

function mavenFacts(text: string): ManifestFacts {
  const start = text.indexOf("<parent>");
  const end = text.indexOf("</parent>");
  // The parent has an artifactId of its own, and usually comes first.
  const own = start >= 0 && end > start ? text.slice(0, start) + text.slice(end) : text;
  const value = (tag: string) => new RegExp(`<${tag}>\\s{0,40}([^<]{1,500})</${tag}>`).exec(own)?.[1]?.trim();
  return named(value("artifactId"), value("description"));
}

function named(name: string | undefined, description: string | undefined): ManifestFacts {
  return { name: name || undefined, description: description || undefined };
}

const managers = ["npm", "pnpm", "yarn", "bun"];

const lockFiles: Readonly<Record<string, string>> = {
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
};

/** The manager that `packageManager` in the package.json names, else the one whose lock file is there, else npm. */
export function packageManager(names: ReadonlySet<string>, packageJson: string): string {
  const field = stringOf(toFields(readManifest(packageJson)).packageManager);
  const lockFile = Object.keys(lockFiles).find((file) => names.has(file));
  return managers.find((manager) => field.startsWith(`${manager}@`)) ?? lockFiles[lockFile ?? ""] ?? "npm";
}
