import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createThreadServer } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { tool } from "@harnesskit/wire/tool";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectInMemory } from "./cut-scenario.ts";
import { createCutTransport } from "./cut-transport.ts";
import { failureOf } from "./sample-events.ts";
import { connectClient } from "./scripted-server.ts";

describe("a turn whose log is removed beneath its server", () => {
  it.each([
    ["its log", "events.jsonl", "log_went_back"],
    ["its directory", "", "thread_not_found"],
  ])("rejects when %s is gone: no end is told that nothing holds", async (_what, name, code) => {
    const root = await mkdtemp(join(tmpdir(), "harness-test-"));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const server = createThreadServer({
      store: createFileThreadStore({ root }),
      runner: { run: async (turn) => void (await turn.callTool({ tool: "deploy", input: {} })) },
      tools: [tool({ name: "deploy", description: "Deploys", input: { type: "object" }, run: () => "done" })],
    });
    onTestFinished(() => server.close());
    const { transport } = createCutTransport(connectInMemory(server));
    const client = await connectClient({ transport, reconnect: { initialDelayMs: 1, maxDelayMs: 1 } });
    const { threadId } = await client.createThread();
    const onApproval = async () => {
      await rm(join(root, "threads", threadId, name), { recursive: true });
      return "once" as const;
    };
    const turn = await client.startTurn({ threadId, input: "go", onApproval });
    expect(await failureOf(turn.result)).toMatchObject({ code });
  });
});
