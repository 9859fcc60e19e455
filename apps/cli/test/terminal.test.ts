import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { makeWorkspace, nothingRunsWith } from "./support/harness.ts";
import { startAtTerminal } from "./support/in-process.ts";
import { startInTerminal } from "./support/pseudo-terminal.ts";

const enter = "\r";
const up = "\u001b[A";
const ctrlC = "\u0003";
const edit = 'edit README.md: replace "small" with "big"';

describe("harness run in a terminal", () => {
  it("shows the change, asks, and does it after a yes", async () => {
    const cwd = await makeWorkspace();
    const program = startAtTerminal(["run", "--no-policy", edit], { cwd });
    await program.sees(/Allow it\?/);
    const asked = stripVTControlCharacters(program.stdout);
    expect(asked).toContain("edit: change README.md");
    expect(asked).toContain("│ -A small demo.");
    expect(asked).toContain("│ +A big demo.");
    expect(asked).toContain(`in ${cwd}`);
    expect(program.stdout).toContain("\u001b[31m-A small demo.\u001b[39m");
    program.write(up + up + enter);
    await program.sees(/approved once by you, in harness run/);
    expect((await program.ended).code).toBe(0);
    expect(await readFile(join(cwd, "README.md"), "utf8")).toContain("A big demo.");
  });

  it("shows the exact command, and does not run it after a no, which is what Enter alone means", async () => {
    const cwd = await makeWorkspace();
    const program = startAtTerminal(
      ["run", "--no-policy", "run the command: echo a \u001b[2K\u202eb >> made.txt"],
      { cwd },
    );
    await program.sees(/Allow it\?/);
    expect(stripVTControlCharacters(program.stdout)).toContain("│ echo a ⟨U+001B⟩[2K⟨U+202E⟩b >> made.txt");
    expect(program.stdout).not.toContain("\u202e");
    program.write(enter);
    const { code, stdout } = await program.ended;
    expect(code).toBe(3);
    expect(stdout).toContain("rejected by harness run");
    await expect(readFile(join(cwd, "made.txt"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("shows what is longer than the screen to its end before it can be allowed", async () => {
    const cwd = await makeWorkspace();
    const lines = Array.from({ length: 60 }, (_, at) => `# line ${at}`).join("\n");
    const prompt = `run the command: echo ran > made.txt\n${lines}`;
    const start = () => startAtTerminal(["run", "--no-policy", prompt], { cwd });
    const first = start();
    await first.sees(/34 of \d+ lines are shown\./);
    expect(first.stdout).not.toContain("Yes, once");
    first.write(`\u001b[B${enter}`);
    expect((await first.ended).code).toBe(3);
    const second = start();
    await second.sees(/34 of \d+ lines are shown\./);
    second.write(enter);
    await second.sees(/# line 59[\s\S]*Allow it\?/);
    second.write(up + up + enter);
    expect((await second.ended).code).toBe(0);
    expect(await readFile(join(cwd, "made.txt"), "utf8")).toBe("ran\n");
  });

  it("remembers always for exactly this", async () => {
    const cwd = await makeWorkspace();
    const prompt = "run the command: echo hi then run the command: echo hi";
    const program = startAtTerminal(["run", "--no-policy", prompt], { cwd });
    await program.sees(/Allow it\?/);
    program.write(up + enter);
    const { code, stdout } = await program.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("approved always, for exactly this");
    expect(stdout.match(/bash: run/g)).toHaveLength(1);
  });

  it("leaves a question waiting with Esc, and asks it again in its thread", async () => {
    const [cwd, elsewhere] = [await makeWorkspace(), await makeWorkspace()];
    const line = ["run", "--no-policy", "--cwd", cwd, "run the command: echo hi"];
    const program = startAtTerminal(line, { cwd: elsewhere, columns: 60 });
    await program.sees(/Esc: leave it waiting/);
    program.write("\u001b");
    const { code, stdout } = await program.ended;
    expect(code).toBe(3);
    expect(stdout).toContain("The question is left waiting");
    const [, words = ""] = /To answer it:\s+harness (run --cwd \S+ --thread \w{8})\r?\n/.exec(stdout) ?? [];
    const again = startAtTerminal([...words.split(" "), "--no-policy"], { cwd: elsewhere });
    await again.sees(/Allow it\?/);
    again.write("y");
    expect((await again.ended).code).toBe(0);
  });

  it.each([
    ["arrows and Enter", up + up + enter],
    ["letters that move the choice", "kk"],
  ])("puts a question at No, whatever was typed before it: %s", async (_, typed) => {
    const cwd = await makeWorkspace();
    const wait = "echo on; until [ -e go ]; do sleep 0.05; done";
    const program = startAtTerminal(
      ["run", "--no-policy", `run the command: ${wait} then run the command: echo hi >> made`],
      {
        cwd,
      },
    );
    await program.sees(/Allow it\?/);
    program.write(up + up + enter);
    await program.sees(/│ on/);
    program.write(typed);
    await writeFile(join(cwd, "go"), "");
    await program.sees(/Allow it\?[\s\S]*echo hi >> made[\s\S]*Allow it\?/);
    program.write(enter);
    const { code, stdout } = await program.ended;
    expect(code).toBe(3);
    expect(stdout).toContain("rejected by harness run");
    await expect(readFile(join(cwd, "made"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("allows a project's command with any plain arguments, and no other, after Always", async () => {
    const cwd = await makeWorkspace();
    const run = (command: string) =>
      startAtTerminal(["run", "--no-policy", `run the command: ${command}`], { cwd, columns: 100 });
    const first = run("npm test --silent");
    await first.sees(/3 Always npm test\*[\s\S]*with any plain arguments; no ; && \| \$\( or new line/);
    first.write("3");
    expect((await first.ended).stdout).toContain(
      "approved always, with any plain arguments, in this project",
    );
    const other = await run("npm test --ignore-scripts").ended;
    expect(other.stdout).not.toContain("Allow it?");
    for (const command of [
      "npm test; id",
      "npm test && id",
      "npm test | cat",
      "npm test $(id)",
      "npm testing",
      "npm test\nid",
    ]) {
      const asked = run(command);
      await asked.sees(/Allow it\?/);
      asked.write("n");
      expect((await asked.ended).code, command).toBe(3);
    }
    const { stdout } = await startAtTerminal(["grants"], { cwd }).ended;
    expect(stdout).toMatch(/grant_\w+ {2}\S*bash\S* npm test\*/);
  });

  it("cancels the turn with Ctrl-C while the question is not put yet", async () => {
    const cwd = await makeWorkspace();
    const program = startAtTerminal(["run", "--no-policy", edit], { cwd });
    await program.sees(/edit: change/);
    program.write(ctrlC);
    const { code, stdout } = await program.ended;
    expect(code).toBe(130);
    expect(stripVTControlCharacters(stdout)).toContain("○ cancelled ·");
    expect(await readFile(join(cwd, "README.md"), "utf8")).toContain("A small demo.");
  });

  it("cancels the turn with Ctrl-C at the question", async () => {
    const cwd = await makeWorkspace();
    const program = startAtTerminal(["run", "--no-policy", edit], { cwd });
    await program.sees(/Allow it\?/);
    program.write(ctrlC);
    const { code, stdout } = await program.ended;
    expect(code).toBe(130);
    expect(stripVTControlCharacters(stdout)).toContain("○ cancelled ·");
    expect(stdout).toContain("not answered");
    expect(stdout).not.toContain("answered by");
    expect(await readFile(join(cwd, "README.md"), "utf8")).toContain("A small demo.");
    await nothingRunsWith(cwd);
  });

  it.each([
    ["run", edit],
    ["run", "--approve", "once", "run the command: echo on; sleep 300"],
  ])("ends in order when the terminal is closed: %j %j", async (...args) => {
    const cwd = await makeWorkspace();
    const program = startInTerminal([...args], { cwd });
    await program.sees(/Allow it\?|│ on/);
    program.kill("SIGKILL");
    await program.ended;
    await nothingRunsWith(cwd);
    const threads = join(cwd, ".harness/threads");
    const [name = ""] = await readdir(threads);
    await vi.waitFor(async () => expect(await readdir(join(threads, name))).not.toContain("lock.json"), {
      timeout: 15_000,
    });
    expect(await readFile(join(threads, name, "events.jsonl"), "utf8")).toContain('"turn.completed"');
  });

  it("cancels the turn with Ctrl-C while a command runs", async () => {
    const cwd = await makeWorkspace();
    const program = startAtTerminal(
      ["run", "--no-policy", "--approve", "once", "run the command: echo on; sleep 300"],
      {
        cwd,
      },
    );
    await program.sees(/│ on/);
    program.write(ctrlC);
    const { code, stdout } = await program.ended;
    expect(code).toBe(130);
    const shown = /○ cancelled · [\s\S]*to go on: harness run --thread ([0-9a-f]{8}) "PROMPT"/;
    const [, id = ""] = stripVTControlCharacters(stdout).match(shown) ?? [];
    await nothingRunsWith(cwd);
    expect((await startAtTerminal(["run", "--thread", id, "list files"], { cwd }).ended).code).toBe(0);
  });

  it("keeps within 80 columns where it can, and uses no colour with NO_COLOR", async () => {
    const cwd = await makeWorkspace();
    const command = `run the command: printf '%0200d\\n' 1 && echo ${"word ".repeat(40)}`;
    const program = startAtTerminal(["run", "--no-policy", "--approve", "once", command], {
      cwd,
      env: { NO_COLOR: "1" },
    });
    const { code, stdout } = await program.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain("\u001b[3");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a spinner shows for a while is between these
    const left = stdout.replaceAll(/\u001b7[\s\S]*?\u001b8\u001b\[K/g, "");
    const timeline = left.split(/\r?\n/).filter((line) => /^(?:●| {2}│|I am)/.test(line));
    expect(timeline.length).toBeGreaterThan(3);
    for (const line of timeline) expect(line.length).toBeLessThanOrEqual(80);
  });
});
