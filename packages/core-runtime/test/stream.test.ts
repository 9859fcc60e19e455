import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import type { CoreOptions, StreamChunk } from "../src/index.ts";
import { setUp } from "./support/scripted-agent.ts";

const running = async (options: CoreOptions = {}) => {
  const { agent, admission, call: begin } = await setUp(options);
  const call = begin();
  return { agent, admission, call, message: await agent.next("core.tool.call") };
};

const all = async (stream: AsyncIterable<StreamChunk>): Promise<StreamChunk[]> => {
  const chunks: StreamChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};

describe("what a call streams", () => {
  it("loses what looks like a secret", async () => {
    const { agent, admission, call, message } = await running();
    agent.stream(message, 1, `token ${admission.token}!`);
    agent.stream(message, 2, "", {
      channel: "partial_result",
      data: { json: { list: [`x ${admission.token}`, 1, null] } },
    });
    agent.succeed(message);
    await call.result;
    const chunks = await all(call.stream);
    expect(chunks).toHaveLength(2);
    expect(JSON.stringify(chunks)).not.toContain(admission.token);
    expect(chunks[0]?.data).toEqual({ text: "token [redacted]!" });
  });

  it("waits for a slow or absent reader within the limits, then loses the oldest and says so", async () => {
    const { agent, call, message } = await running({
      limits: { maxStreamChunks: 3, maxStreamBytes: 100 },
    });
    for (let seq = 1; seq <= 10; seq++) agent.stream(message, seq, "x");
    await nextTurn(5);
    const chunks: StreamChunk[] = [];
    const reader = call.stream[Symbol.asyncIterator]();
    for (let n = 0; n < 3; n++) chunks.push((await reader.next()).value);
    expect(chunks.map(({ seq, dropped }) => [seq, dropped])).toEqual([
      [8, 7],
      [9, undefined],
      [10, undefined],
    ]);
    agent.stream(message, 11, "y".repeat(51));
    agent.stream(message, 12, "z");
    agent.succeed(message);
    await call.result;
    expect((await reader.next()).value).toMatchObject({ seq: 12, dropped: 1 });
    expect((await reader.next()).done).toBe(true);
  });

  it("is given up by a reader that stops, and the call goes on", async () => {
    const { agent, call, message } = await running();
    agent.stream(message, 1, "one");
    agent.stream(message, 2, "two");
    await nextTurn(5);
    for await (const chunk of call.stream) {
      expect(chunk.seq).toBe(1);
      break;
    }
    agent.stream(message, 3, "three");
    agent.succeed(message);
    expect((await call.result).status).toBe("succeeded");
    expect(await all(call.stream)).toEqual([]);
  });

  it("reports gaps in its numbers, and drops repetitions and chunks after the end", async () => {
    const { agent, call, message } = await running();
    agent.stream(message, 2, "b");
    agent.stream(message, 2, "b again");
    agent.stream(message, 1, "a, late");
    agent.stream(message, 5, "e", { done: true });
    agent.stream(message, 6, "after the end");
    agent.succeed(message);
    agent.stream(message, 7, "after the result");
    await call.result;
    await nextTurn(5);
    expect(await all(call.stream)).toEqual([
      { seq: 2, channel: "stdout", data: { text: "b" }, missing: 1 },
      { seq: 5, channel: "stdout", data: { text: "e" }, missing: 2, done: true },
    ]);
  });
});
