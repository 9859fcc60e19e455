import { describe, expect, it } from "vitest";
import { CliError } from "../src/cli-error.ts";
import { idWithPrefix } from "../src/id-prefix.ts";
import { failure, makeWorkspace } from "./support/harness.ts";
import { harness, startAtTerminal } from "./support/in-process.ts";

const threadsIn = async (cwd: string): Promise<readonly { threadId: string; title: string }[]> =>
  JSON.parse((await harness("threads list --json", { cwd })).stdout).threads;

const run = (cwd: string, ...args: string[]) => harness(["run", "--no-hub", ...args], { cwd });

describe("coming back to a thread", () => {
  it("--continue goes on with the thread used last, which has the name of its first prompt", async () => {
    const cwd = await makeWorkspace();
    expect(await run(cwd, "--continue", "read README.md")).toMatchObject({ code: 1 });
    await run(cwd, "list files\nall of them");
    await run(cwd, "read README.md");
    const again = await run(cwd, "--continue", "search for demo");
    expect(again.code).toBe(0);
    const threads = await threadsIn(cwd);
    expect(threads.map(({ title }) => title)).toEqual(["read README.md", "list files"]);
    const { stdout } = await harness(["threads", "show", threads[0]?.threadId ?? ""], { cwd });
    expect(stdout).toContain("› search for demo");
  });

  it("takes the beginning of an id wherever it takes an id", async () => {
    const cwd = await makeWorkspace();
    await run(cwd, "read README.md");
    const [{ threadId } = { threadId: "" }] = await threadsIn(cwd);
    const short = threadId.slice("ses_".length, "ses_".length + 6);
    expect((await run(cwd, "--thread", short, "list files")).stderr).toContain(threadId);
    for (const command of ["show", "export"])
      expect((await harness(["threads", command, short], { cwd })).code).toBe(0);
    expect((await harness(["threads", "rename", short, "Notes"], { cwd })).stdout).toContain(threadId);
    expect((await harness(["threads", "search", "--thread", short, "demo"], { cwd })).stdout).toContain(
      "Notes",
    );
    expect((await harness(["threads", "delete", short, "--yes"], { cwd })).stdout).toContain(
      `Removed ${threadId}`,
    );
    expect(await harness(["threads", "show", short], { cwd })).toMatchObject({ code: 1 });
  });

  it("lists the conversations of harness chat beside threads", async () => {
    const cwd = await makeWorkspace();
    await harness("chat", { cwd, input: "read README.md\nlist files\n" });
    await run(cwd, "search for demo");
    const { stdout } = await harness("threads", { cwd });
    expect(stdout).toMatch(
      /^ses_\S+ {2}\S+ \S+ {2}search for demo\nchat_\S+ {2}\S+ \S+ {2}chat {2}read README\.md\n/,
    );
    const { chats } = JSON.parse((await harness("threads --json", { cwd })).stdout);
    const { sessionId } = chats[0];
    const named = await harness(["chat", "--session", sessionId.slice(0, 10)], {
      cwd,
      input: "list files\n",
    });
    expect(named.stdout).toContain(`session ${sessionId},`);
    const last = await harness("chat --continue", { cwd, input: "/quit\n" });
    expect(last.stdout).toContain(`session ${sessionId},`);
  });

  it("--resume lets the user choose at a terminal, and says what to do without one", async () => {
    const cwd = await makeWorkspace();
    await run(cwd, "read README.md");
    await run(cwd, "list files");
    expect(await run(cwd, "--resume", "search for demo")).toMatchObject(
      failure(2, "--resume needs a terminal"),
    );
    const program = startAtTerminal("run --no-hub --resume 'search for demo'", { cwd });
    await program.sees(/Which thread\?/);
    await program.sees(/read README\.md/);
    program.write("\u001b[B\r");
    expect((await program.ended).code).toBe(0);
    const [used] = await threadsIn(cwd);
    expect(used?.title).toBe("read README.md");
  });
});

describe("harness run without a prompt at a terminal", () => {
  it("asks what to do", async () => {
    const cwd = await makeWorkspace();
    const program = startAtTerminal("run --no-hub", { cwd });
    await program.sees(/What to do\?[\s\S]*› /);
    program.write("read README.md\r");
    const { code, stdout } = await program.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("has 3 lines");
    const left = startAtTerminal("run --no-hub", { cwd });
    await left.sees(/What to do\?[\s\S]*› /);
    left.write("\u0003");
    expect((await left.ended).code).toBe(130);
  });

  it("asks it of the thread that was chosen, by what is typed, and names it", async () => {
    const cwd = await makeWorkspace();
    await run(cwd, "read README.md");
    await run(cwd, "list files");
    const program = startAtTerminal("run --no-hub --resume", { cwd });
    await program.sees(/type to search/);
    for (const letter of "read") program.write(letter);
    await program.sees(/Which thread\?\S* read/);
    program.write("\r");
    await program.sees(/going on with “read README\.md”[\s\S]*What to do\?/);
    program.write("search for demo\r");
    expect((await program.ended).code).toBe(0);
    const [used] = await threadsIn(cwd);
    expect(used?.title).toBe("read README.md");
  });

  it("says which command takes a command of a conversation", async () => {
    const cwd = await makeWorkspace();
    expect(await run(cwd, "/cost")).toMatchObject(failure(2, "/cost is a command of harness chat"));
    expect((await run(cwd, "/diff")).stderr).toContain("/diff is a command of harness chat");
    expect((await run(cwd, "/compact")).stderr).toContain("harness run --continue /compact");
  });
});

describe("the beginning of an id", () => {
  const ids = ["ses_aab1", "ses_aab2", "ses_cccc"];

  it.each([
    ["ses_cc", "ses_cccc"],
    ["ccc", "ses_cccc"],
    ["aab1", "ses_aab1"],
    ["cc", "cc"],
    ["zzz", "zzz"],
  ])("%s names %s", (given, id) => {
    expect(idWithPrefix(given, ids)).toBe(id);
  });

  it("that several have is refused with them", () => {
    try {
      idWithPrefix("ses_aab", ids);
      expect.fail("it is not refused");
    } catch (error) {
      expect(error).toBeInstanceOf(CliError);
      expect(error).toMatchObject({ code: "usage", message: expect.stringContaining("ses_aab1, ses_aab2") });
    }
  });
});

describe("files that a prompt names", () => {
  it("go to the model with a prompt of the command line, and not with one of a pipe", async () => {
    const cwd = await makeWorkspace({ "notes.txt": "milk\n" });
    await run(cwd, "describe @notes.txt, please, @missing and @acme/tool");
    const piped = await harness("run --no-hub", { cwd, input: "describe @notes.txt" });
    expect(piped.code).toBe(0);
    const [second, first] = await threadsIn(cwd);
    const log = async (thread = "") => (await harness(["threads", "export", thread], { cwd })).stdout;
    expect(await log(first?.threadId)).toContain('"path":"notes.txt"');
    expect(await log(second?.threadId)).not.toContain('"path":"notes.txt"');
  });
});
