import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The root of this repository. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

type Files = Record<string, string | object>;

/** Writes `{ "relative/path": content }` (an object becomes JSON) below a new folder; the caller removes it. */
export async function writeProject(files: Files, parent = tmpdir()): Promise<string> {
  await mkdir(parent, { recursive: true });
  const dir = await mkdtemp(join(parent, "harnesskit-test-"));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  return dir;
}

/** Like {@link writeProject}; the folder goes with the running test. */
export async function project(files: Files, parent = tmpdir()): Promise<string> {
  const dir = await writeProject(files, parent);
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Runs a Node script to its end; returns its exit code and all that it printed. */
export function node(
  args: string[],
  { cwd = root, env = {} }: { cwd?: string; env?: Record<string, string | undefined> } = {},
): Promise<{ code: number | null; output: string }> {
  return new Promise((settle, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.on("error", reject);
    child.on("close", (code) => settle({ code, output }));
  });
}
