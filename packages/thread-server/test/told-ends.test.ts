import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { createThreadServer } from "../src/index.ts";
import { fillableStore } from "./support/failing-stores.ts";
import { ofType, RawClient } from "./support/raw-client.ts";
import { serve } from "./support/serve.ts";
import { recordingTool } from "./support/tools.ts";

const failing = () => {
  const { disk, inner, store } = fillableStore();
  const clock = createManualClock();
  const server = createThreadServer({
    store,
    clock,
    runner: {
      async run(turn) {
        if (turn.history.length > 1) return;
        disk.full = true;
        await turn.callTool({ tool: "bash", input: {} });
      },
    },
    tools: [recordingTool("bash", "execute")],
  });
  return { disk, inner, clock, server, client: RawClient.connect(server) };
};

/** A turn that has failed while the disk is full. */
const failed = async () => {
  const setup = failing();
  const { client } = setup;
  const threadId = await client.createThread();
  const { result } = await client.startTurn(threadId);
  await until(async () => (await client.startTurn(threadId)).error?.data?.reason === "store_full");
  return { ...setup, threadId, turnId: result.turnId as string };
};

const storeFull = { code: "store_full", error: "The disk is full" };

describe("the end of a turn that cannot be stored", () => {
  it("is told when it is stored, and not before", async () => {
    const { disk, clock, client, threadId, turnId } = await failed();
    const refused = { code: -32603, data: { reason: "store_full" } };
    expect((await client.call("turn.cancel", { threadId })).error).toMatchObject(refused);
    await clock.advance(5000);
    expect(client.all("turn.error")).toEqual([]);
    disk.full = false;
    await until(async () => {
      await clock.advance(1000);
      return client.all("turn.error").length > 0;
    });
    const { params } = await client.turnEnd(turnId);
    expect(params).toMatchObject({ ...storeFull, seq: expect.any(Number), time: expect.any(Number) });
    const ends = ofType(await client.events(threadId), "turn.error");
    expect(ends.map(({ data }) => data)).toEqual(client.all("turn.error"));
  });

  it("is stored before the next turn", async () => {
    const { disk, client, threadId, turnId } = await failed();
    disk.full = false;
    const next = await client.startTurn(threadId);
    await client.turnEnd(next.result.turnId);
    const ends = (await client.events(threadId)).flatMap(({ type, data }) =>
      type === "turn.error" || type === "turn.completed" ? [data.turnId] : [],
    );
    expect(ends).toEqual([turnId, next.result.turnId]);
  });

  it("is stored when the server closes", async () => {
    const { disk, inner, server, threadId } = await failed();
    disk.full = false;
    await server.close();
    const [last] = await inner.lastEvents(threadId, 1);
    expect(last).toMatchObject({ type: "turn.error", data: storeFull });
  });
});

it("an answer for another digest is refused, and the question still stands", async () => {
  const { client } = serve();
  await client.startTurn(await client.createThread());
  const { requestId } = (await client.notification("approval.requested")).params;
  const respond = (digest?: string) =>
    client.call("approval.respond", { requestId, decision: "once", digest });
  expect((await respond("sha256:0")).error).toMatchObject({
    code: -32004,
    data: { reason: "digest_mismatch" },
  });
  expect((await respond()).result).toEqual({ ok: true });
});
