import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RefusedCalls } from "../src/timeline/outcomes.ts";
import { jsonLines, makeWorkspace } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";

const command =
  'ANTHROPIC_API_KEY=KEY harness run --model anthropic:claude-sonnet-4-5 "describe this repository"';

describe("the first contact", () => {
  it("harness alone names three things to try, makes nothing, and exits 0", async () => {
    const cwd = await makeWorkspace();
    const end = await harness([], { cwd });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout.match(/^ {2}harness \w+/gm)).toEqual([
      "  harness run",
      "  harness chat",
      "  harness doctor",
    ]);
    expect(await readdir(cwd)).toEqual(["README.md"]);
  });

  it.each(["hi", "help", "?"])(
    "harness run %s answers in three lines, with the command for a language model",
    async (prompt) => {
      const cwd = await makeWorkspace();
      const { code, stdout } = await harness(["run", prompt], { cwd });
      expect(code).toBe(0);
      const [what, can, model] = stdout.split("\n");
      expect(what).toMatch(/^I am an offline planner, not a language model: .* no key and no network\.$/);
      expect(can).toMatch(
        /^I can: list files .* run the tests, use the tool NAME with JSON; several joined by "then"\.$/,
      );
      expect(model).toBe(`For anything else use a language model: ${command}`);
      expect(stdout.match(/not a language model/g)).toHaveLength(1);
    },
  );

  it("says once in a conversation that the planner is not a language model", async () => {
    const cwd = await makeWorkspace();
    const { code, stdout } = await harness(["chat"], {
      cwd,
      input: "read README.md\nlist files\nread README.md\n",
    });
    expect(code).toBe(0);
    expect(stdout.match(/not a language model/g)).toHaveLength(1);
  });

  it("doctor says that no language model is configured, and what to do", async () => {
    const cwd = await makeWorkspace();
    const without = await harness(["doctor"], { cwd });
    expect(without).toMatchObject({ code: 0 });
    expect(without.stdout).toContain("no language model is configured");
    expect(without.stdout).toContain(`→ Set the key of yours, for example: ${command}`);
    const { stdout } = await harness(["doctor"], { cwd, env: { OPENAI_API_KEY: "secret" } });
    expect(stdout).toContain("OPENAI_API_KEY is set");
    expect(stdout).not.toContain("no language model");
    expect(stdout).not.toContain("secret");
  });
});

describe("a prompt on standard input", () => {
  it.each([[["run"]], [["run", "-"]]])("%j takes all of it", async (args) => {
    const cwd = await makeWorkspace();
    const end = await harness([...args, "--json"], { cwd, input: "read README.md\nthen list files\n" });
    expect(end.code).toBe(0);
    const calls = jsonLines(end.stdout).filter(
      ({ type, data }) => type === "item.started" && data.type === "tool_exec",
    );
    expect(calls).toHaveLength(2);
  });

  it.each([
    ["nothing", ""],
    ["only space", " \n\t\n"],
  ])("refuses %s with exit code 2", async (_, input) => {
    const cwd = await makeWorkspace();
    for (const args of [["run"], ["run", "-"]]) {
      const end = await harness(args, { cwd, input });
      expect(end).toMatchObject({ code: 2, stdout: "" });
      expect(end.stderr).toContain("The prompt is empty");
    }
    expect(await readdir(cwd)).toEqual(["README.md"]);
  });

  it("refuses more than 1 MiB, and what is not UTF-8, with exit code 2", async () => {
    const cwd = await makeWorkspace();
    const long = startHarness(["run"], { cwd });
    long.endInput("x".repeat(1024 * 1024 + 1));
    const tooLong = await long.ended;
    expect(tooLong).toMatchObject({ code: 2, stdout: "" });
    expect(tooLong.stderr).toContain("longer than 1048576 bytes");
    const garbled = startHarness(["run", "-"], { cwd });
    garbled.endInput(Buffer.from([0x6c, 0xff, 0xfe]));
    expect(await garbled.ended).toMatchObject({
      code: 2,
      stderr: "harness: The prompt on standard input is not UTF-8 text\n",
    });
  });

  it("approves nothing, because no user can be asked, and says so without naming a user", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["run", "--no-policy"], { cwd, input: "run the command: touch made" });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain("✗ not approved: No user could be asked to approve this call.");
    expect(end.stderr).toContain("⊘ ended: 1 call did not run: no user to ask");
    expect(end.stderr).toContain("to approve: --approve once");
    expect(end.stderr).not.toMatch(/✓ done|user refused|rejected by the user/);
    expect(await readdir(cwd)).not.toContain("made");
    const once = await harness(["run", "--no-policy", "--approve", "once"], {
      cwd,
      input: "run the command: touch made",
    });
    expect(once.code).toBe(0);
    expect(once.stderr).toContain("✓ done");
    expect(await readdir(cwd)).toContain("made");
  });
});

describe("how a run ended", () => {
  it("is not done where a client refused, whose name is given", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["run", "--no-policy", "--approve", "reject", "run the command: ls"], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain("✗ refused: This call was rejected by harness run --approve reject.");
    expect(end.stderr).toContain("⊘ ended: 1 call did not run: refused");
    expect(end.stderr).not.toMatch(/✓ done|user refused|rejected by the user/);
  });

  it("is not done where the policy blocked, also when the thread is shown again", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["run", "run the command: rm -rf /tmp/nowhere-x"], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain("⊘ ended: 1 call did not run: blocked by the policy");
    const [threadId = ""] = await readdir(join(cwd, ".harness", "threads"));
    const shown = await harness(["threads", "show", threadId], { cwd });
    expect(shown.stdout).toContain("⊘ ended: 1 call did not run: blocked by the policy");
    expect(shown.stdout).not.toContain("✓ done");
  });

  it("has another word for each reason", () => {
    const ends = [
      ["rejected", "tool.rejected", "refused"],
      ["rejected", "approval.unattended", "no user to ask"],
      ["rejected", "approval.expired", "not approved in time"],
      ["blocked", "policy.blocked", "blocked by the policy"],
      ["failed", "tool.forbidden", "not granted"],
      ["blocked", "gate.timeout", "not judged in time"],
      ["blocked", "gate.unavailable", "could not be judged"],
    ] as const;
    const all = new RefusedCalls();
    const texts = ends.map(([status, code, text]) => {
      const item = {
        itemId: "i",
        threadId: "t",
        turnId: "u",
        type: "tool_exec",
        data: { tool: "bash", input: {}, status, code },
      } as const;
      const event = {
        type: "item.completed",
        data: { threadId: "t", turnId: "u", itemId: "i", type: "tool_exec", item },
      } as const;
      const one = new RefusedCalls();
      one.observe(event);
      all.observe(event);
      expect(one.text).toBe(`1 call did not run: ${text}`);
      return one.text;
    });
    expect(new Set(texts).size).toBe(ends.length);
    expect(all.text).toMatch(
      /^7 calls did not run: 1 blocked by the policy, 1 not granted, 1 refused, 1 no user to ask, /,
    );
  });

  it("of a chat in a pipe is 3 where a call waits, and where one was rejected", async () => {
    const cwd = await makeWorkspace();
    const waits = await harness(["chat"], { cwd, input: "run the command: ls\n" });
    expect(waits.code).toBe(3);
    expect(waits.stdout).toContain("1 call waits for your approval.");
    const rejected = await harness(["chat"], { cwd, input: "run the command: ls\n/reject\n" });
    expect(rejected.code).toBe(3);
    const approved = await harness(["chat"], { cwd, input: "run the command: ls\n/approve\n" });
    expect(approved.code).toBe(0);
  });

  it("of a chat is 1 for an id that no conversation has; a name of the user begins one", async () => {
    const cwd = await makeWorkspace();
    const chat = (id: string) => harness(["chat", "--session", id], { cwd, input: "list files\n" });
    expect(await chat("notes")).toMatchObject({ code: 0 });
    const typo = await chat("chat_00000000");
    expect(typo).toMatchObject({ code: 1, stdout: "" });
    expect(typo.stderr).toBe(
      "harness: There is no conversation chat_00000000\n  To list them: harness threads list\n  To choose one: harness chat --resume\n",
    );
  });
});
