import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digest } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import type { PromptGate } from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { killedWhileWaiting, ownDirectory, type ServeOptions, serve } from "./support/serve.ts";
import { recordingTool } from "./support/tools.ts";

const input = { command: "rm -rf build" };

/** What is left of a server that was killed while a question waited; `change` rewrites the lines of its log. */
const killedAndChanged = async (
  root: string,
  change: (line: string) => string,
  options: ServeOptions = {},
) => {
  const killed = await killedWhileWaiting(root, { input, ...options });
  const log = join(killed.left, "threads", killed.threadId, "events.jsonl");
  const before = await readFile(log, "utf8");
  const after = before.split("\n").map(change).join("\n");
  expect(after).not.toBe(before);
  await writeFile(log, after);
  return killed;
};

const isQuestion = (line: string): boolean =>
  line.includes('"type":"approval.requested"') || line.includes('"type":"approval","item"');
const isCall = (line: string): boolean => line.includes('"type":"tool_exec"');

const harmless = (line: string): string => line.replaceAll("rm -rf build", "ls");

/** All of a turn that was changed: how it ended, and that an answer comes to nothing. */
const expectEnded = async (
  { threadId, requestId, turnId, left }: Awaited<ReturnType<typeof killedAndChanged>>,
  options: ServeOptions = {},
) => {
  const { server, client, tool } = serve({ root: left, input, ...options });
  const events = await client.events(threadId);
  expect(events.at(-1)).toMatchObject({ type: "turn.error", data: { turnId, code: "approval.changed" } });
  expect(events.filter(({ type }) => type === "approval.resolved")).toMatchObject([
    { data: { requestId, reason: "changed", resolvedBy: "server" } },
  ]);
  const { error } = await client.answer(requestId);
  expect(error?.code).toBe(-32004);
  expect(tool.runs).toEqual([]);
  await server[Symbol.asyncDispose]();
  const again = serve({ root: left, input, ...options });
  expect(await again.client.events(threadId)).toEqual(events);
};

describe("a question that waited, and whose log was changed while no server ran", () => {
  it.each<[string, (line: string) => string]>([
    ["shows another input than the call has", (line) => (isQuestion(line) ? harmless(line) : line)],
    [
      "shows another input in its notification alone",
      (line) => (line.includes('"approval.requested"') ? harmless(line) : line),
    ],
    ["stands for a call with another input", (line) => (isCall(line) ? harmless(line) : line)],
    ["shows another input everywhere, under the old digest", harmless],
    [
      "names another tool",
      (line) => (isQuestion(line) ? line.replaceAll('"tool":"bash"', '"tool":"read"') : line),
    ],
    [
      "has another digest",
      (line) => (isQuestion(line) ? line.replace(/"digest":"sha256:./g, '"digest":"sha256:x') : line),
    ],
  ])("is ended with a reason where it %s", async (_, change) => {
    const dir = await ownDirectory();
    await expectEnded(await killedAndChanged(dir, change));
  });

  it("is another question, and no other call, where all of it was changed with its digest", async () => {
    const dir = await ownDirectory();
    const [was, is] = [
      await digest({ tool: "bash", input }),
      await digest({ tool: "bash", input: { command: "ls" } }),
    ];
    const left = await killedAndChanged(dir, (line) => harmless(line).replaceAll(was, is));
    const { client, tool } = serve({ root: left.left, input });
    await client.call("thread.subscribe", { threadId: left.threadId, afterSeq: 0 });
    const { params } = await client.notification("approval.requested");
    expect(params.metadata).toMatchObject({ input: { command: "ls" }, digest: is });
    await client.answer(left.requestId);
    await client.notification("item.completed", ({ type }) => type === "tool_exec");
    expect(tool.runs).toEqual([{ command: "ls" }]);
  });

  it("is ended, too, where it asks about a prompt", async () => {
    const dir = await ownDirectory();
    const promptGate: PromptGate = { before: () => ({ verdict: "ask", reason: "Unusual." }) };
    const change = (line: string) =>
      isQuestion(line) ? line.replaceAll('"text":"go"', '"text":"hi"') : line;
    await expectEnded(await killedAndChanged(dir, change, { promptGate }), { promptGate });
  });
});

describe("a question that waits, and whose log is changed in its place", () => {
  it.each(["thread.get", "thread.subscribe"])("is not shown by %s, and its turn ends", async (method) => {
    const dir = await ownDirectory();
    const { server, client, tool, errors } = serve({ root: dir, input });
    const threadId = await client.createThread();
    await client.startTurn(threadId, "go");
    const { params } = await client.notification("approval.requested");
    const log = join(dir, "threads", threadId, "events.jsonl");
    const text = await readFile(log, "utf8");
    await writeFile(log, text.replaceAll("rm -rf build", "ls -la  tests"), { flag: "r+" });
    const second = RawClient.connect(server);
    const answer = await second.call(method, { threadId, afterSeq: 0 });
    if (method === "thread.get") expect(answer.error?.code).toBe(-32603);
    if (method === "thread.subscribe") {
      await expect.poll(() => errors.length + second.all("approval.requested").length).toBeGreaterThan(0);
      expect(errors).toMatchObject([{ code: "store_failed", detail: "log_changed" }]);
    }
    const shown = second.all("approval.requested").map(({ metadata }) => metadata.input);
    expect(shown).not.toContainEqual({ command: "ls -la  tests" });
    if (method === "thread.get") {
      await client.closed;
      const { requestId } = params;
      const again = RawClient.connect(server);
      const { error } = await again.answer(requestId);
      expect(error?.code).toBe(-32004);
      expect(tool.runs).toEqual([]);
    }
  });

  it("is shown where its tool cut the preview in the middle of a character", async () => {
    const dir = await ownDirectory();
    const cut = recordingTool("bash", "execute");
    cut.prepare = async () => ({ input, preview: "writes \ud83d" });
    const { server, client } = serve({ root: dir, tools: [cut] });
    const threadId = await client.createThread();
    await client.startTurn(threadId, "go");
    const { params } = await client.notification("approval.requested");
    expect(params.metadata.preview).toBe("writes \ufffd");
    const { result } = await RawClient.connect(server).call("thread.get", { threadId });
    expect(result.events.at(-1)).toMatchObject({ type: "approval.requested" });
  });
});
