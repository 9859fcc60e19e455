import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const directory = fileURLToPath(new URL("..", import.meta.url));

it("works under its policy: allows, asks, blocks, and shows what would be written", async () => {
  const workspace = await mkdtemp(join(tmpdir(), "hk-embedder-"));
  onTestFinished(() => rm(workspace, { recursive: true, force: true }));
  const args = [
    join(directory, "client.mjs"),
    workspace,
    "greet Ada",
    "sign Ada",
    "sign Mallory",
    "greet Ada",
  ];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/\+- Ada\n\n\? the guest book is for ever \(rule signs\): allowed\n/);
  expect(stdout.split("\n").filter((line) => line.startsWith("com_example_hello__"))).toEqual([
    'com_example_hello__greet succeeded {"greeting":"Hello, Ada!"}',
    'com_example_hello__sign succeeded {"guests":1}',
    "com_example_hello__sign blocked Mallory is not welcome (rule not-mallory)",
    'com_example_hello__greet succeeded {"greeting":"Welcome back, Ada!"}',
  ]);
  expect(await readFile(join(workspace, "GUESTS.md"), "utf8")).toBe("- Ada\n");
});
