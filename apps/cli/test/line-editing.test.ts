import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { workspaceDiff } from "../src/chat/workspace-diff.ts";
import { completeLine } from "../src/terminal/complete-line.ts";
import { createStyle } from "../src/terminal/terminal.ts";
import { makeWorkspace } from "./support/harness.ts";
import { harness, startAtTerminal } from "./support/in-process.ts";

const plain = createStyle(false);

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd });

const hasGit = spawnSync("git", ["--version"]).status === 0;
const needGit = ({ skip }: Pick<TestContext, "skip">): void => {
  if (!hasGit) skip("this machine has no git");
};

describe("Tab", () => {
  const sourcesIn = async () => {
    const directory = await makeWorkspace({
      "README.fr": "",
      "with space": "",
      "odd\u001b[2J.md": "",
      ".env": "",
    });
    await mkdir(join(directory, "src"));
    await writeFile(join(directory, "src", "main.ts"), "");
    return { commands: ["/clear", "/cost", "/quit"], ids: () => ["1a2b", "1acc"], directory };
  };

  it.each<[string, string[], string]>([
    ["/c", ["/clear", "/cost"], "/c"],
    ["/approve 1a2", ["1a2b"], "1a2"],
    ["see @READ", ["@README.fr", "@README.md"], "@READ"],
    ["@", ["@README.fr", "@README.md", "@src/"], "@"],
    ["@src/m", ["@src/main.ts"], "@src/m"],
    ["@.e", ["@.env"], "@.e"],
    ["@../", [], "@../"],
    ["hello", [], "hello"],
  ])("completes %s", async (line, found, end) => {
    expect(await completeLine(line, await sourcesIn())).toEqual([found, end]);
  });
});

describe("/diff", () => {
  it("shows what is changed and what is new, as safe text", async (test) => {
    needGit(test);
    const cwd = await makeWorkspace();
    expect(await workspaceDiff(cwd, plain)).toEqual([expect.stringContaining("no work tree of git")]);
    git(cwd, "init", "-q");
    git(cwd, "add", ".");
    git(cwd, "commit", "-qm", "one");
    expect(await workspaceDiff(cwd, plain)).toEqual(["Nothing is changed since the last commit."]);
    await writeFile(join(cwd, "README.md"), "# Demo\n\u001b[2Jx\n");
    await writeFile(join(cwd, "new.txt"), "");
    const lines = await workspaceDiff(cwd, plain);
    expect(lines).toContain("+⟨U+001B⟩[2Jx");
    expect(lines.slice(-2)).toEqual(["New files, not in git yet:", "  new.txt"]);
  });

  it("starts no program that the repository names", async (test) => {
    needGit(test);
    const cwd = await makeWorkspace({ ".gitattributes": "*.md filter=own\n" });
    git(cwd, "init", "-q");
    git(cwd, "add", ".");
    git(cwd, "commit", "-qm", "one");
    git(cwd, "config", "filter.own.clean", `touch ${join(cwd, "ran")}`);
    await writeFile(join(cwd, "README.md"), "other\n");
    expect(await workspaceDiff(cwd, plain)).toEqual([expect.stringContaining("filter.own.clean")]);
    await expect(stat(join(cwd, "ran"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("the lines of harness chat", () => {
  it("switch the model, count tokens, and start a new conversation", async () => {
    const cwd = await makeWorkspace({ "notes.txt": "milk\n" });
    const input = "/cost\nread README.md\n/cost\n/model\n/model gpt\n/clear\n/help\n/cost\n";
    const { code, stdout } = await harness(["chat", "--session", "s1"], { cwd, input });
    expect(code).toBe(0);
    expect(stdout).toContain("No model was asked yet.");
    expect(stdout).toMatch(/2 answers of the model: \d+ tokens in, \d+ out, about \$0\.00\n/);
    expect(stdout).toContain("model offline: planner");
    expect(stdout).toContain("/model: ");
    expect(stdout).toMatch(/session chat_\S+ begins; the one before: harness chat --session s1/);
    expect(stdout).toContain("/diff               what is changed");
    expect(stdout.trimEnd()).toMatch(/to continue: harness chat --session chat_\S+$/);
  });

  it("what is pasted is one message, Ctrl-C drops what is typed, and the arrow keys bring back an earlier command's lines", async () => {
    const cwd = await makeWorkspace();
    const env = { XDG_STATE_HOME: join(cwd, "state"), NO_COLOR: "1" };
    const first = startAtTerminal(["chat", "--no-hub"], { cwd, env });
    await first.sees(/› /);
    first.write("\u001b[200~read README.md\rand more\u001b[201~\r");
    await first.sees(/README\.md\\nand more/);
    first.write("dropped\u0003");
    await first.sees(/dropped[\s\S]*› /);
    first.write("list files\\\rof all\r");
    await first.sees(/files\\nof all/);
    first.write("/quit\r");
    expect((await first.ended).code).toBe(0);
    const kept = join(cwd, "state", "harnesskit", "history.json");
    expect(JSON.parse(await readFile(kept, "utf8"))).toContain("list files\nof all");
    expect((await stat(kept)).mode & 0o777).toBe(0o600);
    const second = startAtTerminal(["chat", "--no-hub"], { cwd, env });
    await second.sees(/› /);
    // The message before /quit comes back whole, and is sent with its lines.
    second.write("\u001b[A");
    second.write("\u001b[A");
    await second.sees(/list files⏎of all/);
    second.write("\r");
    await second.sees(/did not understand `list files\\nof all`[\s\S]*› /);
    second.write("exit\r");
    expect((await second.ended).code).toBe(0);
  });
});
