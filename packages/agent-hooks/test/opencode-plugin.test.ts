import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { answerHook, findHost, planSettings, readHook } from "../src/index.ts";

const directory = mkdtempSync(join(tmpdir(), "agent-hooks-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Output {
  readonly args: Record<string, unknown>;
}
type Before = (call: { tool: string; sessionID: string; callID: string }, output: Output) => Promise<void>;

const host = findHost("opencode");
let files = 0;

/** Loads the plugin file as opencode does, with a guard that runs this script. */
const load = async (script: string, timeoutMs = 20_000): Promise<Before> =>
  (await loadAll(script, timeoutMs))["tool.execute.before"];

const loadAll = async (script: string, timeoutMs = 20_000) => {
  const name = join(directory, `${files++}`);
  writeFileSync(`${name}-guard.mjs`, script);
  const command = `"${process.execPath}" "${name}-guard.mjs"`;
  writeFileSync(`${name}.mjs`, planSettings(host, undefined, { command, timeoutMs }));
  const { Harnesskit } = await import(pathToFileURL(`${name}.mjs`).href);
  return (await Harnesskit({ directory: "/work/app" })) as {
    "tool.execute.before": Before;
    "tool.execute.after": (call: object, output: object) => Promise<void>;
    event: (input: object) => Promise<void>;
  };
};

const call = { tool: "bash", sessionID: "ses_1", callID: "call_1" };
const argsOf = () => ({ args: { command: "ls", description: "List" } });
const answering = (answer: unknown) => `process.stdout.write(${JSON.stringify(JSON.stringify(answer))});`;

describe("the plugin file of opencode", () => {
  it("sends what the host reads, and obeys what it answers", async () => {
    const input = join(directory, "input.json");
    const record = `import fs from "node:fs"; fs.writeFileSync(${JSON.stringify(input)}, fs.readFileSync(0));`;
    await (await load(record + answering({ decision: "allow" })))(call, argsOf());
    const hook = readHook(host, readFileSync(input, "utf8"), { workspace: "/work/app" });
    expect(hook.event?.payload).toMatchObject({
      tool_name: "bash",
      arguments: { command: "ls", cwd: "/work/app" },
    });

    const block = answerHook(hook, { decision: "block", reason: "not that" });
    const blocking = await load(answering(JSON.parse(block.stdout)));
    await expect(blocking(call, argsOf())).rejects.toThrow("harnesskit: not that");

    const change = { ...(hook.event?.payload as object), arguments: { command: "pwd", description: "List" } };
    const modify = answerHook(hook, { decision: "modify", modified_payload: change });
    const output = argsOf();
    await (await load(answering(JSON.parse(modify.stdout))))(call, output);
    expect(output.args).toEqual({ command: "pwd", description: "List" });
  });

  it("reports a tool that throws, once, and with its arguments; a refused call is not reported", async () => {
    const log = join(directory, "reports.jsonl");
    const record = `import fs from "node:fs"; const text = String(fs.readFileSync(0));
      if (!text.includes(".before")) fs.appendFileSync(${JSON.stringify(log)}, text + "\\n");`;
    const hooks = await loadAll(record + answering({ decision: "allow" }));
    const failed = (callID: string) =>
      hooks.event({
        event: {
          type: "message.part.updated",
          properties: { part: { type: "tool", callID, state: { status: "error", error: "File not found" } } },
        },
      });
    await failed("call_1");
    await hooks["tool.execute.before"](call, argsOf());
    await failed("call_1");
    await failed("call_1");
    const lines = readFileSync(log, "utf8").trim().split("\n");
    expect(lines).toHaveLength(1);
    const { event } = readHook(host, lines[0] ?? "");
    expect(event).toMatchObject({
      event_type: "post_action",
      payload: {
        tool_call_id: "call_1",
        failed: true,
        error: "File not found",
        arguments: { command: "ls" },
      },
    });
    await hooks["tool.execute.before"]({ ...call, callID: "call_2" }, argsOf());
    await hooks["tool.execute.after"](
      { ...call, callID: "call_2", args: argsOf().args },
      { output: "", metadata: { exit: 3 } },
    );
    await failed("call_2");
    const [, ended, ...more] = readFileSync(log, "utf8").trim().split("\n");
    expect(more).toEqual([]);
    expect(readHook(host, ended ?? "").event?.payload).toMatchObject({ exit_code: 3 });
  });

  it.each([
    ["crashes", "process.exitCode = 1; console.error('boom')", "boom"],
    ["exits without a word", "process.exitCode = 2", "gave no reason"],
    ["answers garbage", "console.log('yes')", "not JSON"],
    ["answers nothing", "", "not JSON"],
    ["answers with another decision", "console.log('{}')", "gave no reason"],
    ["answers with null", "console.log('null')", "not JSON"],
  ])("refuses the call if the guard %s", async (_name, script, reason) => {
    const before = await load(script);
    await expect(before(call, argsOf())).rejects.toThrow(reason);
  });

  it("refuses the call and ends the guard if the guard does not answer in time", async () => {
    const before = await load("setInterval(() => {}, 1000)", 1000);
    await expect(before(call, argsOf())).rejects.toThrow("did not answer in time");
  });
});
