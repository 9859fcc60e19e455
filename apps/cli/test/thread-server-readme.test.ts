import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isNightly } from "../../../test-kit/nightly.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Writes the program that the README prints, and what they import as it is installed. */
const writePrograms = async (directory: string): Promise<void> => {
  const page = await readFile(join(root, "packages/thread-server/README.md"), "utf8");
  for (const [, name = "", code = ""] of page.matchAll(/^```js \[([\w.]+)\]\n(.*?)^```$/gms))
    await writeFile(join(directory, name), code);
  const modules = join(directory, "node_modules/@harnesskit");
  await mkdir(modules, { recursive: true });
  for (const name of await readdir(join(root, "packages")))
    await symlink(join(root, "packages", name), join(modules, name));
};

/** Starts the client and gives its first line, the thread, once it has printed `until`. */
const startClient = async (cwd: string, args: readonly string[], until: string) => {
  const child: ChildProcess = spawn(process.execPath, ["agent.mjs", ...args], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const lines: string[] = [];
  if (child.stdout)
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (line === until) break;
    }
  return { child, ended, lines };
};

it.each(isNightly ? ["once", "always"] : ["always"])(
  "the agent of the README is killed while its question waits, answered %s after a restart, and pays once",
  async (answer) => {
    await using directory = await temporaryDirectory();
    const { path } = directory;
    await writePrograms(path);
    const first = await startClient(path, ["wait"], "approval.requested");
    const [threadId = ""] = first.lines;
    const lock = JSON.parse(await readFile(join(path, ".harness/threads", threadId, "lock.json"), "utf8"));
    process.kill(lock.pid, "SIGKILL");
    first.child.kill("SIGKILL");
    await first.ended;
    const second = await startClient(path, [answer, threadId], "turn.completed");
    expect(await second.ended).toEqual([0, null]);
    expect(second.lines.filter((line) => line === "approval.requested")).toHaveLength(1);
    const third = await startClient(path, [answer, threadId], "turn.completed");
    expect(await third.ended).toEqual([0, null]);
    expect(await readFile(join(path, "payments.txt"), "utf8")).toBe("invoice 17\n");
  },
);
