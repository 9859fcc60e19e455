import { chmod, mkdir, realpath, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeWorkspace } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";

/** A workspace with a thread, and a directory two below it. */
const withThread = async (...names: string[]) => {
  const cwd = await makeWorkspace();
  for (const name of names) await mkdir(join(cwd, name));
  expect((await harness("run --no-policy 'read README.md'", { cwd })).code).toBe(0);
  const below = join(cwd, "src", "deep");
  await mkdir(below, { recursive: true });
  return { cwd, below };
};

describe("a command below a directory with threads", () => {
  it("uses these threads, as far as the root of the repository, and says which", async () => {
    const { cwd, below } = await withThread(".git");
    const listed = await harness("threads", { cwd: below });
    expect(listed).toMatchObject({
      code: 0,
      stderr: `harness: in ${cwd}, the nearest with threads or chats\n`,
    });
    expect(listed.stdout).toContain("read README.md");
    const run = (...args: string[]) =>
      harness(["run", "--no-policy", ...args, "read README.md"], { cwd: below });
    expect(await run("--continue")).toMatchObject({
      ...{ code: 0, stderr: expect.stringContaining(`in ${cwd}, the nearest`) },
    });
    // A run that goes on with nothing begins where it is.
    expect(await run()).toMatchObject({ code: 0, stderr: expect.not.stringContaining("nearest") });
    expect((await harness("threads --json", { cwd })).stdout.match(/"threadId"/g)).toHaveLength(1);
    const own = await harness("threads", { cwd: below });
    expect(own).toMatchObject({ stderr: "", stdout: expect.stringContaining("read README.md") });
  });

  it("uses them as far as the home directory, and none where neither is above", async () => {
    const { cwd, below } = await withThread();
    const other = await harness("threads", { cwd: below });
    expect(other).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("No threads in") });
    const env = { HOME: await realpath(cwd) };
    expect((await harness("threads", { cwd: below, env })).stdout).toContain("read README.md");
    await mkdir(join(cwd, "src", ".git"));
    expect((await harness("threads", { cwd: below, env })).stdout).toContain("No threads in");
  });

  it("goes on with the conversation of harness chat that was used last", async () => {
    const cwd = await makeWorkspace();
    const below = join(cwd, "src");
    await mkdir(below);
    await mkdir(join(cwd, ".git"));
    // Nothing of a conversation lies in its directory.
    await harness("chat --no-policy", { cwd, input: "list files\n" });
    const { code, stdout, stderr } = await harness("chat --no-policy --continue", { cwd: below, input: "" });
    expect(code).toBe(0);
    expect(stdout).toContain("going on with “list files”");
    expect((await harness("threads", { cwd: below })).stdout).toContain("list files");
    expect(stderr).toContain(`in ${cwd}, the nearest with threads or chats`);
  });
});

it("a link in the place of .harness of the nearest directory with chats is followed by no command", async () => {
  const cwd = await makeWorkspace();
  await mkdir(join(cwd, "src"));
  await mkdir(join(cwd, ".git"));
  await harness("chat --no-policy", { cwd, input: "list files\n" });
  await symlink(join(cwd, "src"), join(cwd, ".harness"));
  expect(await harness("threads", { cwd: join(cwd, "src") })).toMatchObject({
    ...{ code: 2, stdout: "", stderr: expect.stringContaining(`${cwd}/.harness is a symbolic link`) },
  });
});

it("harness engine keeps nothing in its directory, which need not be writable", async () => {
  const cwd = await makeWorkspace();
  await chmod(cwd, 0o500);
  onTestFinished(() => chmod(cwd, 0o700));
  const state = await makeWorkspace();
  const engine = startHarness("engine", { cwd, env: { XDG_STATE_HOME: state } });
  await engine.reports(/listening on http/);
  engine.kill("SIGTERM");
  expect((await engine.ended).code).toBe(0);
});

it.each([["run", "list files"], ["chat"], ["serve"]])(
  "a directory that cannot be written is a usage error of %s, and its threads can be read",
  async (...args) => {
    const cwd = await makeWorkspace();
    await chmod(cwd, 0o500);
    onTestFinished(() => chmod(cwd, 0o700));
    expect(await harness(args, { cwd })).toEqual({
      ...{ code: 2, signal: null, stdout: "" },
      stderr:
        `harness: ${cwd} cannot be written by this user: what happens here is kept in ${cwd}/.harness\n` +
        "  Name a directory that can be written: --cwd DIR\n",
    });
    expect((await harness("threads", { cwd })).code).toBe(0);
  },
);
