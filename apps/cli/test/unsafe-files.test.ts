import { execFile } from "node:child_process";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { failure, makeWorkspace } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";
import { ProtocolClient } from "./support/protocol-client.ts";

const run = promisify(execFile);

/** What may lie where a file of ours belongs. */
const strangers: Record<string, (path: string) => Promise<unknown>> = {
  "a FIFO": (path) => run("mkfifo", [path]),
  "a link to a device that never ends": (path) => symlink("/dev/zero", path),
};

/** A workspace with two threads, of which the second one's files are replaced. */
const withBadThread = async (kind: string, files: readonly string[]) => {
  const cwd = await makeWorkspace();
  const client = new ProtocolClient(startHarness("serve --no-policy", { cwd }));
  const [good, bad] = [await client.createThread(), await client.createThread()];
  client.program.endInput();
  await client.program.ended;
  const directory = join(cwd, ".harness/threads", bad);
  for (const name of files) {
    await rm(join(directory, name), { force: true });
    await strangers[kind]?.(join(directory, name));
  }
  return { cwd, good, bad, directory };
};

describe.each(Object.keys(strangers))("%s in a thread's directory", (kind) => {
  it("is named by list, prune and doctor, which go on", async () => {
    const { cwd, good, bad } = await withBadThread(kind, ["meta.json", "events.jsonl"]);
    const list = await harness("threads list", { cwd });
    expect(list.code).toBe(0);
    expect(list.stdout).toContain(good);
    expect(list.stdout).not.toContain(bad);
    expect(list.stderr).toContain(`left out a thread that cannot be read: ${bad}`);
    const json = JSON.parse((await harness("threads list --json", { cwd })).stdout);
    expect(json).toMatchObject({ threads: [{ threadId: good }], unreadable: [bad] });
    const doctor = await harness("doctor --json", { cwd });
    expect(doctor.code).toBe(1);
    const { findings } = JSON.parse(doctor.stdout) as { findings: { check: string; text: string }[] };
    expect(findings).toContainEqual({
      ...{ check: "thread", status: "problem", text: expect.stringContaining(bad) },
      fix: expect.stringContaining(`harness threads delete ${bad}`),
    });
    const prune = await harness("threads prune --older-than 0m --json", { cwd });
    expect(JSON.parse(prune.stdout)).toMatchObject({ removed: [good], locked: [], unreadable: [bad] });
  });
});

describe(".harness as a symbolic link", () => {
  it.each([["run", "hello"], ["serve"], ["chat"], ["threads", "list"]])(
    "is refused by harness %s, and nothing is written behind it",
    async (...args) => {
      const cwd = await makeWorkspace();
      const elsewhere = await makeWorkspace();
      await rm(join(elsewhere, "README.md"));
      await symlink(elsewhere, join(cwd, ".harness"));
      const { code, stderr } = await harness(args, { cwd, input: "" });
      expect(code).toBe(2);
      expect(stderr).toContain(".harness is a symbolic link");
      expect(stderr).toContain(`rm ${cwd}/.harness`);
      expect(await readdir(elsewhere)).toEqual([]);
    },
  );

  it("is named by the doctor, which follows it nowhere", async () => {
    const cwd = await makeWorkspace();
    const elsewhere = await makeWorkspace();
    await mkdir(join(elsewhere, "threads/ses_1"), { recursive: true });
    await symlink(elsewhere, join(cwd, ".harness"));
    const { code, stdout } = await harness("doctor --json", { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain("is a symbolic link: use the real path");
    expect(stdout).not.toContain("ses_1");
  });
});

describe("a file that the user names", () => {
  it("as a FIFO is refused at once: tokens and policies", async () => {
    const cwd = await makeWorkspace();
    const fifo = join(cwd, "fifo");
    await run("mkfifo", [fifo]);
    const served = await harness(["ahp", "serve", "--http", "0", "--token-file", fifo], { cwd });
    expect(served).toMatchObject({ code: 2 });
    expect(served.stderr).toContain("--token-file: ");
    expect(served.stderr).toContain("is not a regular file");
    const policed = await harness(["run", "hello", "--policy", fifo], { cwd });
    expect(policed).toMatchObject({ code: 2 });
    expect(policed.stderr).toContain("is not a regular file");
  });

  it("may be reached through a link, as mounted secrets are", async () => {
    const cwd = await makeWorkspace();
    await writeFile(join(cwd, "token"), "0123456789abcdef0123\n", { mode: 0o600 });
    await symlink(join(cwd, "token"), join(cwd, "link"));
    const program = startHarness(["ahp", "serve", "--http", "0", "--token-file", join(cwd, "link")], { cwd });
    await expect.poll(() => program.stdout + program.stderr).toContain("http://127.0.0.1:");
    program.kill("SIGTERM");
    await program.ended;
  });

  it.runIf(process.platform === "linux")("as a store where no directory can be made is refused", async () => {
    const cwd = await makeWorkspace();
    expect(await harness("chat --store /proc/x/y.sqlite", { cwd })).toMatchObject(
      failure(4, "cannot be used as the store's directory"),
    );
  });
});
