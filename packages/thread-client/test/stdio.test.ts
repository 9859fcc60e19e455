import { fileURLToPath } from "node:url";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { ConnectionClosedError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { ThreadError } from "../src/index.ts";
import { collect, failureOf } from "./sample-events.ts";
import { connectClient } from "./scripted-server.ts";

const server = fileURLToPath(new URL("./fixtures/stdio-server.mjs", import.meta.url));
const connect = () =>
  connectClient({
    transport: createChildTransport({ command: process.execPath, args: [server] }),
    reconnect: false,
  });

describe("over the standard streams of a real process", () => {
  it("gives every event of a turn, and the server's errors", async () => {
    const client = await connect();
    expect(client.serverVersion).toBe("1.2.0");
    const text = "Grüße 👋".repeat(50);
    const turn = await client.startTurn({ threadId: "ses_1", input: text });
    const events = await collect(turn);
    expect(events.map((event) => (event.type === "item.delta" ? event.data.delta : "")).join("")).toBe(text);
    expect(await turn.result).toMatchObject({ status: "completed" });
    const error = await failureOf(client.getThread("nothing"));
    expect(error).toBeInstanceOf(ThreadError);
    expect(error).toMatchObject({ code: "thread_not_found", rpcCode: -32001 });
    await client.close();
    expect(await client.closed).toEqual({});
  });

  it("loses the turn, but not the events that came, when the process dies", async () => {
    const client = await connect();
    const turn = await client.startTurn({ threadId: "ses_1", input: "die" });
    const error = await failureOf(turn.result);
    expect(error).toBeInstanceOf(ConnectionClosedError);
    expect(error).toMatchObject({ code: "connection_closed" });
    const types: string[] = [];
    const reading = async () => {
      for await (const { type } of turn) types.push(type);
    };
    expect(await failureOf(reading())).toBe(error);
    expect(types).toEqual(["turn.started", "item.delta", "item.delta", "item.delta"]);
    await client.closed;
  });
});
