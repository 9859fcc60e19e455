import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory, until } from "../../../test-kit/test-kit.ts";
import { callingProvider } from "./support/calling-provider.ts";
import { jsonLines, nothingRunsWith, startProcess } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const place = async () => {
  const directory = await temporaryDirectory();
  const env = { HOME: directory.path, XDG_STATE_HOME: join(directory.path, "state") };
  const mark = `6${directory.path.replace(/\D/g, "").slice(0, 4)}${process.pid}`;
  return { directory, at: { cwd: directory.path, env }, command: `sleep ${mark}` };
};
const threadIn = async (directory: string): Promise<string> => {
  const names = await readdir(join(directory, ".harness", "threads"));
  return names.find((name) => name.startsWith("ses_")) ?? "";
};
const flags = ["--approve", "once", "--no-policy"];

describe("a command that the model left in the background", () => {
  it("ends with harness run, which says so; the next turn of the thread is told once", async () => {
    const { directory, at, command } = await place();
    await using _ = directory;
    const { model, seen } = await callingProvider("bash", { command, background: true });
    const run = await startProcess(["run", "--model", model, ...flags, "serve it"], { ...at, input: "" })
      .ended;
    expect(run.stderr + run.stdout).toContain("Done.");
    expect(run.stderr).toMatch(
      new RegExp(`A command in the background ended here: ${command} \\(command_\\w+\\)`),
    );
    await nothingRunsWith(command);
    const thread = await threadIn(directory.path);
    const next = (prompt: string) =>
      harness(["run", "--thread", thread, "--model", model, ...flags, prompt], at);
    const again = await next("and now?");
    expect(again.code).toBe(0);
    expect(seen.said).toMatch(
      new RegExp(`command_\\w+ \\(${command}\\): ended with its process, exit code unknown`),
    );
    expect(again.stderr).not.toContain("ended here");
    await next("once more");
    expect(seen.said).not.toContain("ended with its process");
  });

  it("is looked at without a question: the shipped policy knows the tool", async () => {
    const { directory, at } = await place();
    await using _ = directory;
    const { model } = await callingProvider("commands", {});
    const run = await harness(["run", "--model", model, "what runs?"], at);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining("Done.") });
    expect(run.stderr).not.toContain("not approved");
  });

  it("is in the result of harness run --json", async () => {
    const { directory, at, command } = await place();
    await using _ = directory;
    const { model } = await callingProvider("bash", { command, background: true });
    const { stdout } = await harness(["run", "--json", "--model", model, ...flags, "serve it"], at);
    const result = jsonLines(stdout).find(({ type }) => type === "result");
    expect(result?.data.endedCommands).toEqual([{ id: expect.stringMatching(/^command_/), command }]);
  });

  it("ends with a harness that is killed; the next turn of the thread is told", async () => {
    const { directory, at, command } = await place();
    await using _ = directory;
    const silent = await callingProvider("bash", { command, background: true }, true);
    const running = startProcess(["run", "--model", silent.model, ...flags, "serve it"], at);
    await until(() => silent.seen.results.length > 0);
    running.kill("SIGKILL");
    await running.ended;
    await nothingRunsWith(command);
    const thread = await threadIn(directory.path);
    const { model, seen } = await callingProvider("none");
    await harness(["run", "--thread", thread, "--model", model, ...flags, "and now?"], at);
    expect(seen.said).toContain(`(${command}): ended with its process, exit code unknown`);
  });

  it("ends with harness chat, which says so; the next turn of the conversation is told", async () => {
    const { directory, at, command } = await place();
    await using _ = directory;
    const { model, seen } = await callingProvider("bash", { command, background: true });
    const chat = ["chat", "--no-hub", "--session", "s", "--model", model];
    const first = await startProcess(chat, { ...at, input: "serve it\n/approve\n" }).ended;
    expect(first.stdout + first.stderr).toContain(`A command in the background ended here: ${command}`);
    await nothingRunsWith(command);
    await harness(chat, { ...at, input: "and now?\n" });
    expect(seen.said).toContain(`(${command}): ended with its process, exit code unknown`);
    await harness(chat, { ...at, input: "once more\n" });
    expect(seen.said).not.toContain("ended with its process");
  });
});
