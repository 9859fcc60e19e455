import { makeTargets, packageScripts } from "./manifest.ts";
import { packageManager } from "./package-manager.ts";
import { callOne, done, notDone, type Part } from "./part.ts";
import { codeList, inlineCode } from "./report.ts";
import { commandOutput, exitSentence } from "./run-command.ts";
import { toBashValue, toGlobValue, toReadValue } from "./tool-values.ts";

/** What shows that a command runs the tests. Only these fixed commands are run: none is put together from a file's text. */
interface TestRecipe {
  readonly files: readonly string[];
  /** The command, given the names at the top level and the text of the file that was found. */
  readonly command: (names: ReadonlySet<string>, text: string) => string | undefined;
  /** The file has to be read for that. */
  readonly reads: boolean;
}

const recipes: readonly TestRecipe[] = [
  { files: ["package.json"], reads: true, command: packageTestCommand },
  { files: ["deno.json", "deno.jsonc"], reads: false, command: () => "deno test" },
  { files: ["Cargo.toml"], reads: false, command: () => "cargo test" },
  { files: ["go.mod"], reads: false, command: () => "go test ./..." },
  {
    files: ["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "conftest.py"],
    reads: false,
    command: () => "python3 -m pytest",
  },
  {
    files: ["pom.xml"],
    reads: false,
    command: (names) => (names.has("mvnw") ? "./mvnw test" : "mvn test"),
  },
  {
    files: ["build.gradle", "build.gradle.kts"],
    reads: false,
    command: (names) => (names.has("gradlew") ? "./gradlew test" : "gradle test"),
  },
  { files: ["mix.exs"], reads: false, command: () => "mix test" },
  {
    files: ["Makefile", "makefile", "GNUmakefile"],
    reads: true,
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
    if (recipe.reads) {
      const content = yield* callOne(`I read ${inlineCode(file)}.`, { tool: "read", input: { path: file } });
      if (content.status === "cancelled") return notDone("read", `reading ${inlineCode(file)}`, content);
      if (content.status !== "ok") {
        notes.push(notDone("read", `reading ${inlineCode(file)}`, content).report);
        continue;
      }
      text = toReadValue(content.value).text;
    }
    const command = recipe.command(names, text);
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
  const script = packageScripts(text)?.get("test");
  if (script === undefined || script.trim() === "" || script.includes("no test specified")) return undefined;
  return packageManager(names, text) === "bun" ? "bun run test" : `${packageManager(names, text)} test`;
}
