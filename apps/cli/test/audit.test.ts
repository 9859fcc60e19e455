import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { helloAgent } from "./support/agents.ts";
import { makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const secretName = "Ada-Lovelace-1815";

/** A log of one call, written by a core. */
const makeLog = async (): Promise<{ cwd: string; log: string }> => {
  const cwd = await makeWorkspace();
  const log = join(cwd, "logs", "audit.jsonl");
  const call = ["--call", "com.example.hello/greet", "--input", JSON.stringify({ name: secretName })];
  const end = await harness(["core", "--agent", helloAgent, ...call, "--audit", log], { cwd });
  expect(end).toMatchObject({ code: 0, stderr: "" });
  return { cwd, log };
};

describe("harness audit", () => {
  it("verifies a log that is as it was written, and gives its head", async () => {
    const { cwd, log } = await makeLog();
    const end = await harness(["audit", "verify", log], { cwd });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    const [, head = ""] = end.stdout.match(/head: (\d+:[0-9a-f]{64})/) ?? [];
    const expecting = await harness(["audit", "verify", log, "--expect", head, "--json"], { cwd });
    expect(JSON.parse(expecting.stdout)).toMatchObject({ ok: true, head });
  });

  it("names the line that was changed", async () => {
    const { cwd, log } = await makeLog();
    const lines = (await readFile(log, "utf8")).split("\n");
    const index = lines.findIndex((line) => line.includes('"tool.call"'));
    lines[index] = lines[index]?.replace("com.example.hello/greet", "com.example.hello/great") ?? "";
    await writeFile(log, lines.join("\n"));
    const end = await harness(["audit", "verify", log], { cwd });
    expect(end).toMatchObject({ code: 1, stderr: "" });
    expect(end.stdout).toContain(`${log}:${index + 1}: changed`);
  });

  it("shows who called what, and nothing of what was said", async () => {
    const { cwd, log } = await makeLog();
    const end = await harness(["audit", "show", log, "--json"], { cwd });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    const entries = end.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { action: string; outcome?: string })
      .filter(({ action }) => action.startsWith("tool."));
    // The end has an entry of its own only where the beginning was written before it came.
    expect(entries[0]?.action).toBe("tool.call");
    expect(entries.slice(1).map(({ action }) => action)).toEqual(entries[0]?.outcome ? [] : ["tool.result"]);
    expect(entries.at(-1)?.outcome).toBe("ok");
    const whole = await harness(["audit", "show", log], { cwd });
    expect(whole.stdout).toContain("agent.connected");
    expect(whole.stdout).not.toContain(secretName);
    expect(await readFile(log, "utf8")).not.toContain(secretName);
  });

  it("tells a log from any other file", async () => {
    const cwd = await makeWorkspace();
    const end = await harness("audit verify README.md", { cwd });
    expect(end.code).toBe(1);
  });
});
