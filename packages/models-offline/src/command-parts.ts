import { makeTargets, packageManager, packageScripts } from "./manifest.ts";
import { callOne, done, notDone, type Part } from "./part.ts";
import { codeBlock, codeList, inlineCode } from "./report.ts";
import { toBashValue, toGlobValue, toReadValue } from "./tool-values.ts";
import type { InstructionOf } from "./verbs.ts";

/** Runs a command and reports its exit code and the end of its output. */
export function* runCommand({ command }: InstructionOf<"run">): Part {
  const outcome = yield* callOne(`I run the command ${inlineCode(command)}.`, {
    tool: "bash",
    input: { command },
  });
  const action = `running ${inlineCode(command)}`;
  if (outcome.status !== "ok") return notDone("bash", action, outcome, commandOutput(outcome.value));
  return done(`${inlineCode(command)} ${exitSentence(outcome.value)}\n${commandOutput(outcome.value)}`);
}

/** "ended with exit code 0.", or what is known instead. */
function exitSentence(value: unknown): string {
  const { exitCode } = toBashValue(value);
  if (exitCode === undefined) return "came back without an exit code.";
  if (exitCode === null) return "did not end by itself, so it has no exit code.";
  return `ended with exit code ${exitCode}.`;
}

/** The last lines of what a command printed; empty if nothing is known of it. */
function commandOutput(value: unknown, maxLines = 20): string {
  if (value === undefined) return "";
  const { stdout, stderr, truncated } = toBashValue(value);
  const streams = [
    { name: "output", text: stdout },
    { name: "error output", text: stderr },
  ].filter(({ text }) => text.trim() !== "");
  if (streams.length === 0) return "It printed nothing.";
  const blocks = streams.map(
    ({ name, text }) => `The end of its ${name}:\n${codeBlock(text.trimEnd(), { keep: "end", maxLines })}`,
  );
  return blocks.join("\n") + (truncated ? "\n(The tool kept only a part of the output.)" : "");
}

/** What shows that a command runs the tests, by the files at the top level; it is asked with their names and the content of the file. */
interface TestRecipe {
  readonly files: readonly string[];
  /** Only fixed commands are run: none is put together from a file's text. A function that takes file content has the file read. */
  readonly command: string | ((names: ReadonlySet<string>, text: string) => string | undefined);
}

const recipes: readonly TestRecipe[] = [
  { files: ["package.json"], command: packageTestCommand },
  { files: ["deno.json", "deno.jsonc"], command: "deno test" },
  { files: ["Cargo.toml"], command: "cargo test" },
  { files: ["go.mod"], command: "go test ./..." },
  {
    files: ["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "conftest.py"],
    command: "python3 -m pytest",
  },
  { files: ["pom.xml"], command: (names) => (names.has("mvnw") ? "./mvnw test" : "mvn test") },
  {
    files: ["build.gradle", "build.gradle.kts"],
    command: (names) => (names.has("gradlew") ? "./gradlew test" : "gradle test"),
  },
  { files: ["mix.exs"], command: "mix test" },
  {
    files: ["Makefile", "makefile", "GNUmakefile"],
    command: (_, text) => (makeTargets(text).some(({ name }) => name === "test") ? "make test" : undefined),
  },
];

/** Finds out how the tests of a project are run, runs them, and reports the exit code and the end of the output. */
export function* runTests(): Part {
  const listing = yield* callOne("I look at the top level to see how the tests are run.", {
    tool: "glob",
    input: { pattern: "*" },
  });
  if (listing.status !== "ok") return notDone("glob", "looking at the top level", listing);
  const names = new Set(toGlobValue(listing.value).paths);
  const notes: string[] = [];
  for (const recipe of recipes) {
    const file = recipe.files.find((candidate) => names.has(candidate));
    if (file === undefined) continue;
    let text = "";
    if (typeof recipe.command === "function" && recipe.command.length === 2) {
      const content = yield* callOne(`I read ${inlineCode(file)}.`, { tool: "read", input: { path: file } });
      if (content.status === "cancelled") return notDone("read", `reading ${inlineCode(file)}`, content);
      if (content.status !== "ok") {
        notes.push(notDone("read", `reading ${inlineCode(file)}`, content).report);
        continue;
      }
      text = toReadValue(content.value).text;
    }
    const command = typeof recipe.command === "string" ? recipe.command : recipe.command(names, text);
    if (command !== undefined) return yield* runSuite(file, command);
    notes.push(`${inlineCode(file)} names no tests.`);
  }
  const known = codeList(
    recipes.map(({ files }) => files[0] ?? ""),
    recipes.length,
  );
  const missing = `I found no way to run tests here. At the top level I look for ${known}.`;
  return { status: "not-done", report: [...notes, missing].join("\n") };
}

function* runSuite(file: string, command: string): Part {
  const outcome = yield* callOne(`Because of ${inlineCode(file)} I run ${inlineCode(command)}.`, {
    tool: "bash",
    input: { command },
  });
  const output = commandOutput(outcome.value);
  if (outcome.status !== "ok") {
    return notDone("bash", `running the tests with ${inlineCode(command)}`, outcome, output);
  }
  const { exitCode } = toBashValue(outcome.value);
  const verdict =
    exitCode === 0
      ? "The tests passed"
      : typeof exitCode === "number"
        ? "The tests did not pass"
        : "Whether the tests passed is not known";
  return done(`${verdict}: ${inlineCode(command)} ${exitSentence(outcome.value)}\n${output}`);
}

/** A package.json without a test script, or with the one that `npm init` puts there, has no tests. */
function packageTestCommand(names: ReadonlySet<string>, text: string): string | undefined {
  const script = packageScripts(text).find(({ name }) => name === "test")?.command ?? "";
  if (script.trim() === "" || script.includes("no test specified")) return undefined;
  const manager = packageManager(names, text);
  return manager === "bun" ? "bun run test" : `${manager} test`;
}
