import { describe, expect, it } from "vitest";
import { runLoop, workspace } from "./prompts.ts";

const project = () => ({
  "README.md":
    "# Tidewheel\n\n[![ci](https://x/y.svg)](https://x)\n\n<!-- hidden -->\nTidewheel computes tides\nfor small harbours.\n\nMore.\n",
  "package.json": JSON.stringify({
    name: "tidewheel",
    description: "Tides for harbours",
    scripts: { test: "node --test", build: "tsc" },
  }),
  "src/index.ts": "export const moon = 1;\n// TODO: sun (a+b)*\n",
  "src/sun.ts": "export const sun = 2;\n",
  "docs/notes.txt": "moon\n",
});

const inputs = (calls: readonly { tool: string; input: unknown }[]) =>
  calls.map(({ tool, input }) => ({ tool, ...(input as object) }));

describe("single requests", () => {
  it("lists files with directories first", async () => {
    const { calls, answer, texts } = await runLoop("list files", workspace(project()));
    expect(inputs(calls)).toEqual([{ tool: "glob", pattern: "**/*" }]);
    expect(texts[0]).toBe("I list the files in the workspace.");
    expect(answer).toContain("There are 5 files in the workspace:");
    expect(answer).toMatch(/docs\/ {2}\(1 file\)\nsrc\/ {2}\(2 files\)\nREADME\.md\npackage\.json/);
    expect(answer).toContain("not a language model");
  });

  it("lists one directory", async () => {
    const { calls, answer } = await runLoop("list files in src", workspace(project()));
    expect(inputs(calls)).toEqual([{ tool: "glob", pattern: "**/*", path: "src" }]);
    expect(answer).toContain("2 files in `src`:\n```\nindex.ts\nsun.ts\n```");
  });

  it("reads a file", async () => {
    const { calls, answer } = await runLoop("read src/sun.ts", workspace(project()));
    expect(inputs(calls)).toEqual([{ tool: "read", path: "src/sun.ts" }]);
    expect(answer).toContain("```\nexport const sun = 2;\n```");
  });

  it("searches for a text and not for a pattern", async () => {
    const { calls, answer } = await runLoop('search for "(a+b)*"', workspace(project()));
    expect(inputs(calls)).toEqual([{ tool: "grep", pattern: "\\(a\\+b\\)\\*" }]);
    expect(answer).toContain(
      "`(a+b)*` has 1 match in 1 file:\n```\nsrc/index.ts:2: // TODO: sun (a+b)*\n```",
    );
    const none = await runLoop("search for venus in src", workspace(project()));
    expect(none.calls[0]?.input).toEqual({ pattern: "venus", path: "src" });
    expect(none.answer).toContain("`venus` is not found in `src`.");
  });

  it("runs a command and reports exit code and output", async () => {
    const commands = { "make all": { exitCode: 2, stdout: "one\ntwo\n", stderr: "broken\n" } };
    const { calls, answer } = await runLoop("run the command: make all", workspace({}, commands));
    expect(inputs(calls)).toEqual([{ tool: "bash", command: "make all" }]);
    expect(answer).toContain("`make all` ended with exit code 2.");
    expect(answer).toContain("The end of its output:\n```\none\ntwo\n```");
    expect(answer).toContain("The end of its error output:\n```\nbroken\n```");
  });

  it("edits and writes files", async () => {
    const files: Record<string, string> = project();
    const request = 'edit src/sun.ts: replace "2" with "3", then write new/a.txt: `hello`';
    const { calls, answer } = await runLoop(request, workspace(files));
    expect(inputs(calls)).toEqual([
      { tool: "edit", path: "src/sun.ts", oldText: "2", newText: "3" },
      { tool: "write", path: "new/a.txt", content: "hello" },
    ]);
    expect(files["src/sun.ts"]).toBe("export const sun = 3;\n");
    expect(files["new/a.txt"]).toBe("hello");
    expect(answer).toContain("1. In `src/sun.ts` I replaced `2` with `3` (1 replacement).");
    expect(answer).toContain("2. I wrote `new/a.txt` (5 bytes).");
  });
});

describe("describe this repository", () => {
  it("summarises README, package.json and files", async () => {
    const { calls, answer } = await runLoop("describe this repository", workspace(project()));
    expect(inputs(calls)).toEqual([
      { tool: "glob", pattern: "**/*" },
      { tool: "read", path: "README.md" },
      { tool: "read", path: "package.json" },
    ]);
    expect(answer).toContain("is headed `Tidewheel`.");
    expect(answer).toContain("Tidewheel computes tides for small harbours.");
    expect(answer).toContain("by its `package.json` and named `tidewheel`. It says: `Tides for harbours`.");
    expect(answer).toContain("2 scripts: `test`, `build`.");
    expect(answer).toContain("5 files, by ending: `.ts` 2, `.json` 1, `.md` 1, `.txt` 1.");
    expect(answer).toContain("`src/` 2, `docs/` 1");
  });

  it("says what could not be read, and describes an empty directory", async () => {
    const base = workspace({ "package.json": "{ nonsense", "README.md": "Text here.\n" });
    const broken = await runLoop("describe this repository", (call) =>
      call.input.path === "README.md" ? { type: "execution-denied", reason: "secret" } : base(call),
    );
    expect(broken.answer).toContain("reading `README.md` was refused: `secret`.");
    expect(broken.answer).toContain("It is a Node.js project by its `package.json`.");
    const empty = await runLoop("describe this repository", workspace({}));
    expect(empty.answer).toContain("There is no README at the top level.\nThere are no files.");
  });
});

describe("run the tests", () => {
  it.each([
    [{ "package.json": "", "pnpm-lock.yaml": "" }, "pnpm test"],
    [{ "go.mod": "", Makefile: "" }, "go test ./..."],
  ])("%j: %s", async (files, command) => {
    const respond = workspace(files, { [command]: { exitCode: 0, stdout: "all 7 passed\n", stderr: "" } });
    const { calls, answer } = await runLoop("run the tests", respond);
    expect(calls.map(({ tool }) => tool)).toEqual(["glob", "bash"]);
    expect(calls.at(-1)?.input).toEqual({ command });
    expect(answer).toContain(`The tests passed: \`${command}\` ended with exit code 0.`);
    expect(answer).toContain("all 7 passed");
  });

  it("reports failing tests with the last lines", async () => {
    const stdout = Array.from({ length: 50 }, (_, index) => `line ${index}`).join("\n");
    const respond = workspace({ "go.mod": "" }, { "go test ./...": { exitCode: 1, stdout, stderr: "" } });
    const { answer } = await runLoop("run the tests", respond);
    expect(answer).toContain("The tests did not pass: `go test ./...` ended with exit code 1.");
    expect(answer).toContain("line 49");
    expect(answer).not.toContain("line 29\n");
    expect(answer).toContain("(30 lines more above)");
  });

  it("says so where it finds no way", async () => {
    const { calls, answer } = await runLoop("run the tests", workspace({ "notes.txt": "" }));
    expect(calls.map(({ tool }) => tool)).toEqual(["glob"]);
    expect(answer).toContain("I found no way to run tests here.");
  });
});
