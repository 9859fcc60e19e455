import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const withThread = async (prompt: string, args: string[] = []) => {
  const cwd = await makeWorkspace();
  const { stdout } = await harness(["run", "--no-policy", "--json", ...args, prompt], { cwd });
  const { threadId, log } = (jsonLines(stdout).at(-1)?.data ?? {}) as { threadId: string; log: string };
  return { cwd, threadId, log };
};

describe("harness threads", () => {
  it("lists nothing where there is nothing, and makes nothing", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["threads", "list"], { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('Begin one: harness run "PROMPT"');
    expect((await harness(["threads", "list", "--json"], { cwd })).stdout).toBe(
      '{"threads":[],"chats":[]}\n',
    );
    await expect(stat(join(cwd, ".harness"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("lists threads, the one used last first", async () => {
    const { cwd, threadId } = await withThread("read README.md");
    const second = await harness(["run", "--no-policy", "--json", "list files"], { cwd });
    const secondId = jsonLines(second.stdout).at(-1)?.data.threadId;
    const { stdout } = await harness(["threads", "list", "--cwd", cwd], { cwd: "/" });
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(new RegExp(`^${secondId} {2}\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d {2}list files$`));
    expect(lines[1]).toContain(`${threadId}  `);
  });

  it("shows a thread from its log as it was shown live", async () => {
    const cwd = await makeWorkspace();
    const prompt = "read README.md then run the command: seq 1 3";
    const live = await harness(["run", "--approve", "once", prompt], { cwd });
    const threadId = /thread (ses_\w+)/.exec(live.stderr)?.[1] ?? "";
    const { code, stdout } = await harness(["threads", "show", threadId], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`› ${prompt}\n`);
    const [tools = "", end = ""] = live.stderr.split("\n✓ done");
    expect(stdout).toContain(tools);
    expect(stdout).toContain(`${live.stdout}\n✓ done${end.slice(0, end.indexOf("\n"))}`);
  });

  it("exports the events as they lie in the log", async () => {
    const { cwd, threadId, log } = await withThread("read README.md");
    const lines = await harness(["threads", "export", threadId], { cwd });
    expect(jsonLines(lines.stdout)).toEqual(jsonLines(await readFile(log, "utf8")));
  });

  it.each([["show"], ["export"]])("%s of an unknown thread exits 1 and says what to do", async (command) => {
    const { cwd } = await withThread("list files");
    for (const id of ["ses_00000000", "../../etc", "nonsense\u001b[2J"]) {
      const end = await harness(["threads", command, id], { cwd });
      expect(end).toMatchObject({ code: 1, stdout: "" });
      expect(end.stderr).toContain("There is no thread");
      expect(end.stderr).toContain("harness threads list");
      expect(end.stderr).not.toContain("\u001b");
    }
  });

  it("says that a log is damaged, where, and what to do; lists it, and passes over what is no thread", async () => {
    const { cwd, threadId, log } = await withThread("read README.md");
    const text = (await readFile(log, "utf8")).replace("\n", "\nnot json\n");
    await writeFile(log, text);
    await mkdir(join(cwd, ".harness/threads/ses_1234"));
    await writeFile(join(cwd, ".harness/threads/ses_1234/meta.json"), "{");
    for (const command of [
      ["threads", "show", threadId],
      ["threads", "export", threadId],
      ["run", "--no-policy", "--thread", threadId, "hello"],
    ]) {
      const end = await harness(command, { cwd });
      expect(end.code, command.join(" ")).not.toBe(0);
      expect(end.stderr, command.join(" ")).toContain("damaged in line 2");
      expect(end.stderr, command.join(" ")).toContain("harness doctor");
    }
    const { threads } = JSON.parse((await harness(["threads", "list", "--json"], { cwd })).stdout);
    expect(threads).toHaveLength(1);
    expect(await readFile(log, "utf8")).toBe(text);
  });

  it("changes nothing of what it reads", async () => {
    const { cwd, threadId } = await withThread("read README.md");
    const directory = join(cwd, ".harness/threads", threadId);
    const facts = async () => {
      const names = (await readdir(directory)).sort();
      return Promise.all(names.map(async (name) => [name, (await stat(join(directory, name))).mtimeMs]));
    };
    const before = await facts();
    for (const command of ["show", "export"]) await harness(["threads", command, threadId], { cwd });
    await harness(["doctor"], { cwd });
    expect(await facts()).toEqual(before);
  });
});
