import type { EventBody } from "@harnesskit/protocol/threads";
import { createThreadServer, type Tool, type TurnRunner } from "@harnesskit/thread-server";
import type { HarnessError } from "@harnesskit/wire";
import { createMemoryTransport } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ThreadClientOptions } from "../src/index.ts";
import { collect } from "./sample-events.ts";
import { connectClient } from "./scripted-server.ts";

/** Runs nothing outside: it says what it was told to run. */
const echoTool: Tool = {
  name: "bash",
  description: "Says the command.",
  input: { type: "object", properties: { command: { type: "string" } } },
  effects: "execute",
  run: ({ command }, { stdout }) => {
    void stdout(`ran ${command}\n`);
    return `ran ${command}`;
  },
};

/** Calls the tool with the input's text. */
const runner: TurnRunner = {
  async run(turn) {
    const [part] = turn.input;
    const text = part?.type === "text" ? part.text : "";
    const message = turn.message();
    message.append("On ");
    message.append("it.");
    await message.complete();
    await turn.callTool({ callId: "call_1", tool: "bash", input: { command: text } });
  },
};

const setUp = async (options: Omit<ThreadClientOptions, "transport"> = {}) => {
  const errors: HarnessError[] = [];
  const { transport, listener } = createMemoryTransport();
  const server = createThreadServer({ runner, tools: [echoTool] });
  onTestFinished(async () => {
    await server.close();
    await listener.close();
  });
  await listener.listen((channel) => server.connect(channel));
  const client = await connectClient({ transport, onError: (error) => errors.push(error), ...options });
  return { client, errors };
};

describe("with a real thread server", () => {
  it("runs a turn, and its history says the same as its events", async () => {
    const { client, errors } = await setUp({ clientInfo: { name: "tester" } });
    const all = client.events();
    const { threadId } = await client.createThread({ title: "Work" });
    const asked: unknown[] = [];
    const turn = await client.startTurn({
      threadId,
      input: "ls",
      onApproval: ({ permission, metadata }) => {
        asked.push([permission, metadata.input]);
        return "once";
      },
    });
    const events = await collect(turn);
    expect(asked).toEqual([["bash", { command: "ls" }]]);
    expect(await turn.result).toMatchObject({ status: "completed", turn: { turnId: turn.turnId, threadId } });

    const history = await client.getThread(threadId);
    expect(history.lastSeq).toBe(history.events.length);
    const page = await client.getThread(threadId, { afterSeq: history.lastSeq - 2, limit: 1 });
    expect(page.events).toEqual(history.events.slice(-2, -1));

    all.close();
    const completed = (told: readonly EventBody[]) =>
      told.flatMap(({ type, data }) => (type === "item.completed" ? [data.item] : []));
    const items = completed(await collect(all));
    expect(items).toEqual(completed(history.events));
    expect(items.map(({ type }) => type)).toEqual([
      ...["user_message", "assistant_message", "approval", "tool_log", "tool_exec"],
    ]);
    expect(items[1]?.data).toMatchObject({ text: "On it." });
    expect(items[4]?.data).toMatchObject({ status: "succeeded", output: "ran ls" });
    expect(events.at(0)?.type).toBe("turn.started");
    expect(errors).toEqual([]);
  });
});
