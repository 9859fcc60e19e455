import { describeRepository } from "./describe-repository.ts";
import type { Instruction, InstructionOf } from "./parse-request.ts";
import { done, notDone, type Part } from "./part.ts";
import { codeBlock, inlineCode, plural } from "./report.ts";
import { countIn, toBashValue, toGlobValue, toGrepValue, toReadValue } from "./tool-values.ts";

type KnownInstruction = Exclude<Instruction, { kind: "unknown" }>;

const inPlace = (directory: string | undefined) => (directory === undefined ? {} : { path: directory });
const placeName = (directory: string | undefined) =>
  directory === undefined ? "the workspace" : inlineCode(directory);

/** Lists a directory: its files, and its subdirectories with the number of files below each. */
function* list({ directory }: InstructionOf<"list">): Part {
  const place = placeName(directory);
  const outcome = yield {
    say: `I list the files in ${place}.`,
    tool: "glob",
    input: { pattern: "**/*", ...inPlace(directory) },
  };
  if (outcome.status !== "ok") return notDone("glob", `listing the files in ${place}`, outcome);
  const { paths, truncated } = toGlobValue(outcome.value);
  if (paths.length === 0) return done(`There are no files in ${place}.`);
  const count = `${paths.length === 1 ? "is" : "are"} ${truncated ? "at least " : ""}${plural(paths.length, "file")}`;
  const entries = topLevelEntries(paths, directory).join("\n");
  return done(`There ${count} in ${place}:\n${codeBlock(entries, { keep: "start", maxLines: 60 })}`);
}

/** Directories first. A tool may give paths relative to the workspace or to the directory it was asked about. */
const topLevelEntries = (paths: readonly string[], directory: string | undefined): string[] => {
  const prefix = directory === undefined ? "" : `${directory.replace(/^\.\/|\/+$/g, "")}/`;
  const inside = paths.every((path) => path.startsWith(prefix)) ? prefix.length : 0;
  const counts = new Map<string, number>();
  const files: string[] = [];
  for (const path of paths) {
    const [name = "", ...below] = path.slice(inside).split("/");
    if (below.length === 0) files.push(name);
    else counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...[...counts].map(([name, count]) => `${name}/  (${plural(count, "file")})`), ...files];
};

function* read({ path }: InstructionOf<"read">): Part {
  const outcome = yield { say: `I read ${inlineCode(path)}.`, tool: "read", input: { path } };
  if (outcome.status !== "ok") return notDone("read", `reading ${inlineCode(path)}`, outcome);
  const { text, totalLines, truncated } = toReadValue(outcome.value);
  if (text === "") return done(`${inlineCode(path)} came back empty.`);
  const size = `${plural(totalLines, "line")}${truncated ? ", of which the tool gave only a part" : ""}`;
  return done(`${inlineCode(path)} has ${size}:\n${codeBlock(text, { keep: "start" })}`);
}

function* edit({ path, oldText, newText }: InstructionOf<"edit">): Part {
  const change = `${inlineCode(oldText)} with ${inlineCode(newText)}`;
  const outcome = yield {
    say: `I edit ${inlineCode(path)}: I replace ${change}.`,
    tool: "edit",
    input: { path, oldText, newText },
  };
  if (outcome.status !== "ok") return notDone("edit", `editing ${inlineCode(path)}`, outcome);
  const replacements = countIn(outcome.value, "replacements");
  const count = replacements === undefined ? "" : ` (${plural(replacements, "replacement")})`;
  return done(`In ${inlineCode(path)} I replaced ${change}${count}.`);
}

function* write({ path, content }: InstructionOf<"write">): Part {
  const outcome = yield { say: `I write ${inlineCode(path)}.`, tool: "write", input: { path, content } };
  if (outcome.status !== "ok") return notDone("write", `writing ${inlineCode(path)}`, outcome);
  const bytes = countIn(outcome.value, "bytes");
  return done(`I wrote ${inlineCode(path)}${bytes === undefined ? "" : ` (${plural(bytes, "byte")})`}.`);
}

const maxShownMatches = 10;

/** Searches for a string: the special characters of a pattern are escaped. */
function* search({ text, directory }: InstructionOf<"search">): Part {
  const place = placeName(directory);
  const outcome = yield {
    say: `I search for ${inlineCode(text)} in ${place}.`,
    tool: "grep",
    input: { pattern: text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), ...inPlace(directory) },
  };
  if (outcome.status !== "ok") return notDone("grep", `searching for ${inlineCode(text)}`, outcome);
  const { matches, truncated } = toGrepValue(outcome.value);
  if (matches.length === 0) return done(`${inlineCode(text)} is not found in ${place}.`);
  const files = new Set(matches.map((match) => match.path)).size;
  const count = `${truncated ? "at least " : ""}${plural(matches.length, "match")} in ${plural(files, "file")}`;
  const first = matches
    .slice(0, maxShownMatches)
    .map((match) => `${match.path}:${match.line ?? ""}: ${match.text.trim()}`.replaceAll(/[\r\n]+/g, " "));
  const which = matches.length > maxShownMatches ? `, the first ${maxShownMatches}` : "";
  return done(`${inlineCode(text)} has ${count}${which}:\n${codeBlock(first.join("\n"), { keep: "start" })}`);
}

/** Runs a command and reports its exit code and the end of its output. */
function* run({ command }: InstructionOf<"run">): Part {
  const shown = inlineCode(command);
  const outcome = yield { say: `I run the command ${shown}.`, tool: "bash", input: { command } };
  if (outcome.status !== "ok")
    return notDone("bash", `running ${shown}`, outcome, commandOutput(outcome.value));
  return done(`${shown} ${exitSentence(outcome.value)}\n${commandOutput(outcome.value)}`);
}

/** "ended with exit code 0.", or what is known instead. */
const exitSentence = (value: unknown): string => {
  const { exitCode } = toBashValue(value);
  if (exitCode === undefined) return "came back without an exit code.";
  if (exitCode === null) return "did not end by itself, so it has no exit code.";
  return `ended with exit code ${exitCode}.`;
};

/** The last lines of what a command printed; empty if nothing is known of it. */
const commandOutput = (value: unknown): string => {
  if (value === undefined) return "";
  const { stdout, stderr, truncated } = toBashValue(value);
  const streams = [
    { name: "output", text: stdout.trimEnd() },
    { name: "error output", text: stderr.trimEnd() },
  ].filter(({ text }) => text !== "");
  if (streams.length === 0) return "It printed nothing.";
  const blocks = streams.map(
    ({ name, text }) => `The end of its ${name}:\n${codeBlock(text, { keep: "end", maxLines: 20 })}`,
  );
  return blocks.join("\n") + (truncated ? "\n(The tool kept only a part of the output.)" : "");
};

/** What runs the tests, by a file at the top level; nothing is put together from a file's text. */
const testCommands: readonly (readonly [file: string, command: string])[] = [
  ["pnpm-lock.yaml", "pnpm test"],
  ["yarn.lock", "yarn test"],
  ["package.json", "npm test"],
  ["Cargo.toml", "cargo test"],
  ["go.mod", "go test ./..."],
  ["pyproject.toml", "python3 -m pytest"],
  ["Makefile", "make test"],
];

function* test(): Part {
  const listing = yield {
    say: "I look at the top level to see how the tests are run.",
    tool: "glob",
    input: { pattern: "*" },
  };
  if (listing.status !== "ok") return notDone("glob", "looking at the top level", listing);
  const { paths } = toGlobValue(listing.value);
  const [file, command] = testCommands.find(([name]) => paths.includes(name)) ?? [];
  if (file === undefined || command === undefined) {
    const known = testCommands.map(([name]) => inlineCode(name)).join(", ");
    return {
      status: "not-done",
      report: `I found no way to run tests here. At the top level I look for ${known}.`,
    };
  }
  const shown = inlineCode(command);
  const outcome = yield {
    say: `Because of ${inlineCode(file)} I run ${shown}.`,
    tool: "bash",
    input: { command },
  };
  const output = commandOutput(outcome.value);
  if (outcome.status !== "ok") return notDone("bash", `running the tests with ${shown}`, outcome, output);
  const verdict = toBashValue(outcome.value).exitCode === 0 ? "The tests passed" : "The tests did not pass";
  return done(`${verdict}: ${shown} ${exitSentence(outcome.value)}\n${output}`);
}

/** Calls the tool that the user named, and reports what it returned. */
function* use({ tool, input }: InstructionOf<"use">): Part {
  const shown = inlineCode(tool);
  const outcome = yield { say: `I use the tool ${shown}.`, tool, input };
  if (outcome.status !== "ok") return notDone(tool, `using ${shown}`, outcome);
  const { value } = outcome;
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return done(`${shown} returned:\n${codeBlock(text, { keep: "start" })}`);
}

const parts: { readonly [K in KnownInstruction["kind"]]: (instruction: InstructionOf<K>) => Part } = {
  ...{ list, read, search, run, edit, write, use, test },
  describe: describeRepository,
};

/** The calls that carry out an instruction, and its report. */
export const partOf = (instruction: KnownInstruction): Part =>
  (parts[instruction.kind] as (given: KnownInstruction) => Part)(instruction);
