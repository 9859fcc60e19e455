import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const client = fileURLToPath(new URL("../client.mjs", import.meta.url));
const require = createRequire(import.meta.url);
const manifest = require.resolve("@harnesskit/cli/package.json");
const harness = async () => {
  const { bin } = JSON.parse(await readFile(manifest, "utf8")) as { bin: { harness: string } };
  return join(dirname(manifest), bin.harness);
};

it("completes a turn with an approval against harness serve", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "harness-bare-client-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const args = [client, process.execPath, await harness(), "serve"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd });
  expect(stderr).toBe("");
  const [allowed, done] = stdout.trim().split("\n");
  expect(allowed).toBe('allowed: {"command":"echo it works"}');
  const threads = await readdir(join(cwd, ".harness/threads"));
  expect(done).toBe(`done: ${threads[0]}`);
});

it("imports nothing but Node", async () => {
  const source = await readFile(client, "utf8");
  const imported = [...source.matchAll(/from "([^"]+)"/g)].map(([, specifier]) => specifier);
  expect(imported).toEqual(["node:assert/strict", "node:child_process"]);
});
