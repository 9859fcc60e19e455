import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOfflineModel } from "../src/index.ts";

const anyInput = jsonSchema<Record<string, string>>({ type: "object" });
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "harnesskit-models-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** The workspace's tools on a real directory. */
const realTools = () => ({
  glob: tool({
    inputSchema: anyInput,
    execute: async ({ pattern }) => {
      const entries = await readdir(directory, { recursive: pattern !== "*", withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      return { paths: files.map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1)) };
    },
  }),
  read: tool({
    inputSchema: anyInput,
    execute: async ({ path }) => ({ path, text: await readFile(join(directory, path ?? ""), "utf8") }),
  }),
  write: tool({
    inputSchema: anyInput,
    execute: async ({ path, content }) => {
      await writeFile(join(directory, path ?? ""), content ?? "");
      return { path, bytes: Buffer.byteLength(content ?? "") };
    },
  }),
  bash: tool({
    inputSchema: anyInput,
    execute: ({ command }) =>
      new Promise((resolve) => {
        execFile("sh", ["-c", command ?? ""], { cwd: directory }, (error, stdout, stderr) => {
          resolve({ exitCode: error === null ? 0 : (error.code ?? null), stdout, stderr });
        });
      }),
  }),
});

const ask = (prompt: string) =>
  generateText({ model: createOfflineModel(), prompt, tools: realTools(), stopWhen: stepCountIs(20) });

describe("in a directory it never saw", () => {
  it("describes it, changes it, and runs its tests, which pass or not", async () => {
    const name = `project-${process.pid}`;
    const scripts = { test: "node check.mjs" };
    await writeFile(join(directory, "package.json"), JSON.stringify({ name, scripts }));
    await writeFile(join(directory, "README.md"), "# It\n\nCounts sheep at night.\n");
    await mkdir(join(directory, "lib"));
    await writeFile(join(directory, "lib", "sheep.mjs"), "export const sheep = 3;\n");

    const described = await ask("describe this repository");
    expect(described.text).toContain(`named \`${name}\``);
    expect(described.text).toContain("Counts sheep at night.");
    expect(described.text).toContain("`lib/` 1");

    const check =
      'import { sheep } from "./lib/sheep.mjs"; console.log("sheep", sheep); process.exit(sheep - 3);';
    const passed = await ask(`write check.mjs: \`${check}\` then run the tests`);
    expect(await readFile(join(directory, "check.mjs"), "utf8")).toBe(check);
    expect(passed.text).toContain("The tests passed: `npm test` ended with exit code 0.");
    expect(passed.text).toContain("sheep 3");

    const failed = await ask("write lib/sheep.mjs: `export const sheep = 8;`, then run the tests");
    expect(failed.text).toContain("The tests did not pass: `npm test` ended with exit code 5.");
    expect(failed.text).toContain("sheep 8");
  }, 60_000);

  it("says that a command could not be found, by what the shell says", async () => {
    const { text } = await ask("run the command: no-such-command-here");
    expect(text).toContain("`no-such-command-here` ended with exit code 127.");
    expect(text).toMatch(/not found/);
  });
});
