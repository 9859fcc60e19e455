import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { makeWorkspace } from "./support/harness.ts";
import { answer, pendingOf, startHub } from "./support/hub.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Writes what the guide prints for the AI SDK, and links what it installs. */
const writeGuide = async (directory: string): Promise<void> => {
  const page = await readFile(join(root, "docs/supervise.md"), "utf8");
  for (const [, name = "", code = ""] of page.matchAll(/^```\w+ \[((?:agent|policy)\.\w+)\]\n(.*?)^```$/gms))
    await writeFile(join(directory, name), code);
  const modules = join(directory, "node_modules");
  await mkdir(join(modules, "@harnesskit"), { recursive: true });
  for (const name of await readdir(join(root, "packages")))
    await symlink(join(root, "packages", name), join(modules, "@harnesskit", name));
  for (const name of ["ai", "zod"])
    await symlink(join(root, "packages/ahp-client/node_modules", name), join(modules, name));
};

it("the guide's agent runs what its policy allows, reads why it is blocked, and waits for the inbox", async () => {
  const cwd = await makeWorkspace();
  await writeGuide(cwd);
  const { env, client } = await startHub(cwd, ["--policy", "policy.yaml"]);
  const run = async (...args: string[]) => {
    const options = { cwd, env: { ...process.env, ...env } };
    return (await promisify(execFile)(process.execPath, ["agent.mjs", ...args], options)).stdout;
  };

  expect(await run()).toMatch(/\d+\.\d+\.\d+/);
  expect(await run("run the command: git push --force")).toContain("a forced push loses work");

  const waiting = run("run the command: echo hello");
  const question = await pendingOf(client, "my-agent");
  expect(question.subject).toMatchObject({ tool: "bash", input: { command: "echo hello" } });
  await answer(client, question);
  expect(await waiting).toContain("hello");
});
