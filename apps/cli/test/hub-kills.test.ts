import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HubClient } from "@harnesskit/hub/client";
import { describe, expect, it } from "vitest";
import { eventually, makeWorkspace, type RunningProgram, startProcess } from "./support/harness.ts";
import { answer, pendingOf, startHub } from "./support/hub.ts";
import { harness, startHarness } from "./support/in-process.ts";

/** Prompts that say "ask me" and writes are asked about, all else passes. */
const policy = `
version: 1
name: asks
defaults: { gate: allow, pre_prompt: allow }
rules:
  - name: prompts
    when: { event: pre_prompt, cel: 'payload.prompt.contains("ask me")' }
    then: { decision: escalate, reason: it says so }
  - name: writes
    when: { tool: write }
    then: { decision: escalate, reason: it writes }
`;

const open = async () => {
  const cwd = await makeWorkspace({ "asks.yaml": policy });
  return { cwd, ...(await startHub(cwd, ["--policy", "asks.yaml"])) };
};

const kill = async (program: RunningProgram) => {
  program.kill("SIGKILL");
  await program.ended;
};

/** What became of the questions about one tool. */
const questions = async (client: HubClient, tool: string) => {
  const { records } = await client.call("inbox.list");
  return records
    .filter(({ subject }) => subject.tool === tool)
    .map(({ status, effect }) => `${status}, ${effect}`);
};

const becomes = (client: HubClient, tool: string, wanted: readonly string[]) =>
  eventually(async () => expect(await questions(client, tool)).toEqual(wanted));

describe("a process that is killed while it waits for the hub", () => {
  it("harness chat: its questions stand, and the same words and calls find their answers once", async () => {
    const { cwd, env, client } = await open();
    const args = ["chat", "--session", "s1"];
    const start = (line: string) => {
      const program = startProcess(args, { cwd, env });
      program.write(`${line}\n`);
      return program;
    };
    for (const [line, tool] of [
      ["hello, ask me", "prompt"],
      ["write notes.txt: milk", "write"],
    ] as const) {
      const waiting = start(line);
      const question = await pendingOf(client, "harness");
      expect(question).toMatchObject({ origin: { session: "s1" }, subject: { tool } });
      await waiting.sees(/waits in the hub/);
      await kill(waiting);
      expect(await questions(client, tool)).toEqual(["pending, none"]);
      await answer(client, question);
      const again = await harness(args, { cwd, env, input: `${line}\n` });
      expect([again.code, again.stdout]).toEqual([0, expect.not.stringContaining("waits in the hub")]);
      await becomes(client, tool, ["approved, done"]);
    }
    expect(await readFile(join(cwd, "notes.txt"), "utf8")).toBe("milk");

    // A refused prompt is no part of the conversation, and the human's words are shown.
    const refused = startHarness(args, { cwd, env, input: "now ask me\n" });
    const asked = await pendingOf(client, "harness");
    await refused.sees(/waits in the hub/);
    await answer(client, asked, "reject", "not now");
    const { code, stdout } = await refused.ended;
    expect(code).toBe(3);
    expect(stdout).toMatch(/rejected by \S+ \(page\)/);
    expect(stdout).toMatch(/This prompt was rejected by \S+ \(page\): not now/);
  }, 300_000);

  it("harness engine: the same, for its shell, which says who answered", async () => {
    const { cwd, env, client } = await open();
    const startEngine = async () => {
      const engine = startProcess(["engine"], { cwd, env });
      await engine.reports(/listening on http/);
      return engine;
    };
    const killed = await startEngine();
    const say = (line: string) => startHarness(["shell", "--session", "s1", line], { cwd, env, input: "" });
    const [line, tool] = ["write notes.txt: milk", "write"] as const;
    const waiting = say(line);
    const question = await pendingOf(client, "harness");
    expect(question.subject.tool).toBe(tool);
    await waiting.sees(/waits in the hub/);
    await kill(killed);
    expect((await waiting.ended).code).not.toBe(0);
    expect(await questions(client, tool)).toEqual(["pending, none"]);
    expect(existsSync(join(cwd, "notes.txt"))).toBe(false);
    await answer(client, question);
    const engine = await startEngine();
    const again = await say(line).ended;
    expect([again.code, again.stdout]).toEqual([0, expect.not.stringContaining("waits in the hub")]);
    await becomes(client, tool, ["approved, done"]);
    expect(await readFile(join(cwd, "notes.txt"), "utf8")).toBe("milk");

    const live = say("again, ask me");
    await answer(client, await pendingOf(client, "harness"));
    const { code, stdout } = await live.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/approved by \S+ \(page\)/);
    await engine.reports(/prompt: approved by \S+ \(page\)/);
  }, 300_000);
});
