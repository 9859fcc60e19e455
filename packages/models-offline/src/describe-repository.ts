import { done, notDone, type Part } from "./part.ts";
import { codeBlock, inlineCode, plural } from "./report.ts";
import { parseJson, stringOf, toFields, toGlobValue, toReadValue } from "./tool-values.ts";

/** Describes a repository from its file names, its README and its package.json, and from nothing else. */
export function* describeRepository(): Part {
  const listing = yield { say: "I look at all file names.", tool: "glob", input: { pattern: "**/*" } };
  if (listing.status !== "ok") return notDone("glob", "looking at the files", listing);
  const { paths, truncated } = toGlobValue(listing.value);
  const readme = paths.find((path) => /^readme(?:\.\w{1,8})?$/i.test(path));
  const lines: string[] = [];
  for (const path of [readme, "package.json"]) {
    if (path === undefined || !paths.includes(path)) continue;
    const outcome = yield { say: `I read ${inlineCode(path)}.`, tool: "read", input: { path } };
    if (outcome.status !== "ok") {
      const result = notDone("read", `reading ${inlineCode(path)}`, outcome);
      if (result.status === "cancelled") return result;
      lines.push(result.report);
      continue;
    }
    const { text } = toReadValue(outcome.value);
    lines.push(path === readme ? readmeStart(path, text) : packageLine(text));
  }
  if (readme === undefined) lines.push("There is no README at the top level.");
  return done([...lines, ...fileLines(paths, truncated)].join("\n"));
}

/** The first heading and the first paragraph of prose. */
const readmeStart = (path: string, text: string): string => {
  const blocks = text
    .slice(0, 32_768)
    .replace(/<!--[\s\S]{0,2000}?-->/g, "")
    .replaceAll("\r\n", "\n")
    .replace(/^#[^\n]*\n/gm, "$&\n")
    .split(/\n\s*\n/);
  const heading = blocks.map((block) => /^#{1,6} +([^\n]{1,200})/.exec(block.trim())?.[1]).find(Boolean);
  const paragraph = blocks.find(
    (block) => /^[\p{L}\p{N}*_`[]/u.test(block.trim()) && !/^\[!\[|^[-*] /.test(block.trim()),
  );
  const named =
    heading === undefined ? "" : `The README of this repository is headed ${inlineCode(heading)}.\n`;
  if (paragraph === undefined) return `${named}${inlineCode(path)} has no paragraph of text near its start.`;
  const wrapped = paragraph
    .trim()
    .replaceAll(/\s+/g, " ")
    .slice(0, 800)
    .replace(/(.{1,100})(?:\s+|$)/g, "$1\n");
  return `${named}The first paragraph of ${inlineCode(path)}:\n${codeBlock(wrapped.trimEnd(), { keep: "start" })}`;
};

const packageLine = (text: string): string => {
  const { name, description, scripts } = toFields(parseJson(text));
  const names = Object.keys(toFields(scripts));
  const called = stringOf(name) === "" ? "" : ` and named ${inlineCode(stringOf(name))}`;
  const says = stringOf(description) === "" ? "" : ` It says: ${inlineCode(stringOf(description), 300)}.`;
  const shown = names.slice(0, 12).map((script) => inlineCode(script));
  const runs = names.length === 0 ? "" : ` ${plural(names.length, "script")}: ${shown.join(", ")}.`;
  return `It is a Node.js project by its ${inlineCode("package.json")}${called}.${says}${runs}`;
};

const fileLines = (paths: readonly string[], truncated: boolean): string[] => {
  const own = paths.filter((path) => !/(?:^|\/)(?:node_modules|\.git)\//.test(path));
  if (own.length === 0) return ["There are no files."];
  const endings = counts(
    own.map((path) => /[^/](\.[\w-]{1,16})$/.exec(path)?.[1] ?? "none"),
    10,
  );
  const directories = counts(
    own.filter((path) => path.includes("/")).map((path) => `${path.split("/")[0]}/`),
    12,
  );
  return [
    `${truncated ? "At least " : ""}${plural(own.length, "file")}, by ending: ${endings}.`,
    ...(directories === "" ? [] : [`Directories at the top level, with their files: ${directories}.`]),
  ];
};

/** How often each occurs, most often first, then by name. */
const counts = (values: readonly string[], max: number): string => {
  const found = new Map<string, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  const sorted = [...found].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, max);
  return sorted.map(([name, count]) => `${inlineCode(name)} ${count}`).join(", ");
};
