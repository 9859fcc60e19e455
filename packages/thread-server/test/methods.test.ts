import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../scripts/lib/test-kit.ts";
import { createThreadServer } from "../src/index.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import type { TurnRequest } from "../src/turn-runner.ts";
import { RawClient } from "./support/raw-client.ts";
import { sayingRunner } from "./support/tools.ts";

const start = (options: Partial<Parameters<typeof createThreadServer>[0]> = {}) => {
  const server = createThreadServer({ runner: sayingRunner("hello"), ...options });
  return { server, client: RawClient.connect(server) };
};

describe("initialize", () => {
  it("tells of persistence what the store keeps", async () => {
    await using dir = await temporaryDirectory();
    const { client } = start({ store: createFileThreadStore({ root: dir.path }) });
    expect((await client.call("initialize")).result.capabilities.persistence).toBe(true);
  });
});

describe("an optional parameter that is null", () => {
  it("is as one that is left out", async () => {
    const { client } = start();
    const nothing = {
      limit: null,
      cursor: null,
      directory: null,
      title: null,
      updatedAfter: null,
      archived: null,
    };
    await client.call("initialize", null);
    await client.call("initialize", { clientInfo: { name: "x", version: null } });
    const created = await client.call("thread.create", {
      title: null,
      directory: null,
      clientRequestId: null,
    });
    const { thread } = created.result;
    const { threadId } = thread;
    expect(thread).toMatchObject({ title: "New thread", directory: "" });
    expect((await client.call("thread.list", nothing)).result).toEqual({ threads: [thread] });
    const input = [{ type: "file", path: null, uri: "file:///x", mimeType: null }];
    const more = { model: null, agent: null, whenBusy: null, clientRequestId: null };
    const { result } = await client.call("turn.start", { threadId, input, ...more });
    await client.turnEnd(result.turnId);
    const history = await client.call("thread.get", { threadId, afterSeq: null, limit: null });
    expect(history.result.events[0].seq).toBe(1);
    expect(client.items("user_message")).toEqual([
      { content: [{ type: "file", uri: "file:///x" }], agent: "code" },
    ]);
    expect((await client.call("turn.cancel", { threadId: null })).error?.code).toBe(-32602);
  });
});

describe("threads", () => {
  it("have no directory where the server has none", async () => {
    const { client } = start();
    expect((await client.call("thread.create")).result.thread.directory).toBe("");
    expect((await client.call("thread.create", { directory: "/" })).error?.code).toBe(-32602);
  });

  it("refuses an empty title wherever one is given", async () => {
    const { client } = start();
    const threadId = await client.createThread();
    for (const method of ["thread.create", "thread.rename", "thread.fork"])
      expect((await client.call(method, { threadId, title: "" })).error?.code).toBe(-32602);
  });
});

describe("turns", () => {
  it("hands model, agent and input to the runner", async () => {
    const seen: TurnRequest[] = [];
    const { client } = start({
      agents: [
        { name: "code", systemPrompt: "c" },
        { name: "ask", systemPrompt: "a" },
      ],
      runner: {
        async run({ input, agent, model }) {
          seen.push(model ? { input, agent, model } : { input, agent });
        },
      },
    });
    const threadId = await client.createThread();
    const model = { providerID: "anthropic", modelID: "m" };
    const input = [
      { type: "text", text: "x" },
      { type: "file", path: "a.txt", mimeType: "text/plain" },
      { type: "file", uri: "file:///b" },
    ];
    const first = await client.call("turn.start", { threadId, input, model, agent: "ask" });
    await client.turnEnd(first.result.turnId);
    const second = await client.startTurn(threadId, "y");
    await client.turnEnd(second.result.turnId);
    const unread = [
      { type: "file" },
      { type: "file", path: "a.txt", uri: "file:///b" },
      { type: "file", path: "" },
      { type: "file", path: "a.txt", mimeType: 1 },
      { type: "text" },
      { type: "image", path: "a.png" },
    ];
    for (const part of unread) {
      const { error } = await client.call("turn.start", { threadId, input: [part] });
      expect(error, JSON.stringify(part)).toMatchObject({ code: -32602 });
    }
    expect(client.items("user_message")[0]).toMatchObject({ content: input });
    expect(seen).toEqual([
      { input, model, agent: { name: "ask", systemPrompt: "a" } },
      { input: [{ type: "text", text: "y" }], agent: { name: "code", systemPrompt: "c" } },
    ]);
  });

  it("records artifacts", async () => {
    const artifact = { kind: "report", path: "out.txt", mimeType: "text/plain", sizeBytes: 3 };
    const { client } = start({ runner: { run: (turn) => turn.artifact(artifact) } });
    const { result } = await client.startTurn(await client.createThread());
    await client.turnEnd(result.turnId);
    expect(client.items("artifact")).toEqual([artifact]);
  });
});
