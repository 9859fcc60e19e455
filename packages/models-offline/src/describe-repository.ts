import { type ManifestFacts, type ManifestKind, manifestKinds } from "./manifest.ts";
import { done, notDone, type Part } from "./part.ts";
import { type ReadmeStart, readmeStart } from "./readme-paragraph.ts";
import { codeBlock, codeList, inlineCode, plural } from "./report.ts";
import type { ToolOutcome } from "./tool-outcome.ts";
import { toGlobValue, toReadValue } from "./tool-values.ts";

const maxManifests = 6;

/** Describes a repository from its file names, its README and its manifests, and from nothing else. */
export function* describeRepository(): Part {
  const [top, all] = yield {
    say: "I look at the top level and at all file names.",
    calls: [
      { tool: "glob", input: { pattern: "*" } },
      { tool: "glob", input: { pattern: "**/*" } },
    ],
  };
  const listed = [top, all].filter((outcome) => outcome?.status === "ok");
  if (listed.length === 0)
    return notDone("glob", "looking at the files", top ?? all ?? { status: "unknown" });
  const everything = toGlobValue(all?.status === "ok" ? all.value : undefined);
  const topLevel = new Set(
    listed.flatMap((outcome) => toGlobValue(outcome?.value).paths).filter((path) => !path.includes("/")),
  );
  const readme = chooseReadme([...topLevel]);
  const kinds = manifestKinds.filter(({ file }) => topLevel.has(file)).slice(0, maxManifests);
  const files = [...(readme === undefined ? [] : [readme]), ...kinds.map(({ file }) => file)];
  const outcomes =
    files.length === 0
      ? []
      : yield {
          say: `I read ${codeList(files, 8)}.`,
          calls: files.map((path) => ({ tool: "read" as const, input: { path } })),
        };
  const cancelled = outcomes.findIndex((outcome) => outcome.status === "cancelled");
  if (cancelled >= 0) {
    const action = `reading ${inlineCode(files[cancelled] ?? "")}`;
    return notDone("read", action, outcomes[cancelled] ?? { status: "cancelled" });
  }
  const results = new Map(
    files.map((file, index) => [file, outcomes[index] ?? { status: "unknown" as const }]),
  );
  const start = readme === undefined ? {} : readmeStart(fileText(results.get(readme)));
  const manifests = kinds.flatMap((kind) =>
    results.get(kind.file)?.status === "ok"
      ? [{ kind, facts: kind.facts(fileText(results.get(kind.file))) }]
      : [],
  );
  const problems = [...results].flatMap(([file, outcome]) =>
    outcome.status === "ok" ? [] : [notDone("read", `reading ${inlineCode(file)}`, outcome).report],
  );
  if (all?.status !== "ok" && all !== undefined) {
    problems.push(notDone("glob", "listing all files", all).report);
  }
  return done(
    [
      naming(start, manifests),
      ...manifests.map(manifestLines),
      readme === undefined
        ? "There is no README at the top level."
        : readmeLines(readme, start, results.get(readme)),
      ...fileLines(everything, [...topLevel], all?.status === "ok"),
      ...problems,
    ]
      .filter((line) => line !== "")
      .join("\n"),
  );
}

interface FoundManifest {
  readonly kind: ManifestKind;
  readonly facts: ManifestFacts;
}

function chooseReadme(topLevel: readonly string[]): string | undefined {
  const readmes = topLevel.filter((path) => /^readme(?:\.(?:md|markdown|rst|adoc|txt))?$/i.test(path)).sort();
  return readmes.find((path) => /\.md$/i.test(path)) ?? readmes[0];
}

function fileText(outcome: ToolOutcome | undefined): string {
  return outcome?.status === "ok" ? toReadValue(outcome.value).text : "";
}

function naming({ heading }: ReadmeStart, manifests: readonly FoundManifest[]): string {
  const named = manifests.find(({ facts }) => facts.name !== undefined);
  if (named?.facts.name !== undefined) {
    return `This repository is named ${inlineCode(named.facts.name)} in ${inlineCode(named.kind.file)}.`;
  }
  if (heading !== undefined) return `The README of this repository is headed ${inlineCode(heading)}.`;
  return "I found no name for this repository.";
}

function manifestLines({ kind, facts }: FoundManifest): string {
  if (facts.unreadable) return `- ${inlineCode(kind.file)} (${kind.ecosystem}) could not be understood.`;
  const description =
    facts.description === undefined ? "" : ` It says: ${inlineCode(facts.description, 300)}.`;
  const scripts = facts.scripts ?? [];
  const word = kind.file === "Makefile" ? "target" : "script";
  const shown = scripts.map(({ name, command }) => (command === undefined ? name : `${name}: ${command}`));
  const runs = scripts.length === 0 ? "" : ` ${plural(scripts.length, word)}: ${codeList(shown, 12)}.`;
  return `- ${inlineCode(kind.file)} makes it a ${kind.ecosystem} project.${description}${runs}`;
}

function readmeLines(readme: string, start: ReadmeStart, outcome: ToolOutcome | undefined): string {
  if (outcome?.status !== "ok") return "";
  if (start.paragraph === undefined) return `${inlineCode(readme)} has no paragraph of text near its start.`;
  const wrapped = start.paragraph.replace(/(.{1,100})(?:\s+|$)/g, "$1\n").trimEnd();
  return `The first paragraph of ${inlineCode(readme)}:\n${codeBlock(wrapped, { keep: "start" })}`;
}

function fileLines(
  { paths, truncated }: ReturnType<typeof toGlobValue>,
  topLevel: readonly string[],
  complete: boolean,
): string[] {
  if (!complete) return [`At the top level: ${codeList(topLevel, 20)}.`];
  const own = paths.filter((path) => !/(?:^|\/)(?:node_modules|\.git)\//.test(path));
  if (own.length === 0) return ["There are no files."];
  const byEnding = countsByValue(own.map((path) => /[^/](\.[A-Za-z0-9_-]{1,16})$/.exec(path)?.[1] ?? ""));
  const byDirectory = countsByValue(
    own.filter((path) => path.includes("/")).map((path) => path.split("/")[0] ?? ""),
  );
  const endings = byEnding
    .slice(0, 10)
    .map(([ending, count]) => `${ending === "" ? "none" : inlineCode(ending)} ${count}`);
  const directories = byDirectory.slice(0, 12).map(([name, count]) => `${inlineCode(`${name}/`)} ${count}`);
  const total = `${truncated ? "At least " : ""}${plural(own.length, "file")}`;
  return [
    `${total}, by ending: ${endings.join(", ")}.`,
    directories.length === 0
      ? ""
      : `Directories at the top level, with their files: ${directories.join(", ")}.`,
  ];
}

/** How often each occurs, most often first, then by name. */
function countsByValue(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}
