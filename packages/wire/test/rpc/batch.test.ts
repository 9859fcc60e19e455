import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../../test-kit/test-kit.ts";
import { createDeferred, ProtocolError } from "../../src/index.ts";
import { error, notification, openRaw, outcomeOf, request, result } from "./support.ts";

describe("a batch from the other side", () => {
  it("is answered in one message, when the last answer is there", async () => {
    const slow = createDeferred<void>();
    const { give, sent } = openRaw({ request: (method) => (method === "slow" ? slow.promise : method) });
    await give([request(1, "slow"), request(2, "quick"), notification("n")]);
    expect(sent).toEqual([]);
    slow.resolve();
    await nextTurn();
    expect(sent).toEqual([[result(2, "quick"), result(1, null)]]);
  });

  it.each([
    ["notifications", [notification("a"), notification("b")]],
    ["answers", [result(1, "x"), error(2, -1), { jsonrpc: "2.0", id: 3, result: 1, error: 2 }]],
  ])("of nothing but %s is answered with nothing", async (_what, messages) => {
    const { give } = openRaw({ request: () => "x" });
    expect(await give(messages)).toEqual([]);
  });

  it("of answers settles own requests", async () => {
    const { peer, give } = openRaw();
    const answers = [peer.request("a"), peer.request("b")].map(outcomeOf);
    await nextTurn();
    await give([result(2, "second"), error(1, -5)]);
    await expect(Promise.all(answers)).resolves.toMatchObject([
      { error: { rpcCode: -5 } },
      { value: "second" },
    ]);
  });

  it("with the same id twice answers both", async () => {
    const work = createDeferred<void>();
    const { give, sent } = openRaw({ request: () => work.promise.then(() => "done") });
    await give([request(1, "x"), request(1, "x")]);
    work.resolve();
    await nextTurn();
    expect(sent).toMatchObject([
      [
        { id: 1, error: { code: -32600 } },
        { id: 1, result: "done" },
      ],
    ]);
  });

  it("of more than 100 messages is refused whole, and none of it runs", async () => {
    let calls = 0;
    const { give } = openRaw({ request: () => ++calls });
    const batchOf = (length: number) => Array.from({ length }, (_, index) => request(index + 1, "x"));
    expect(await give(batchOf(101))).toMatchObject([
      { id: null, error: { code: -32600, data: { reason: "batch_too_large", maxBatchSize: 100 } } },
    ]);
    expect(calls).toBe(0);
    expect((await give(batchOf(100)))[1]).toEqual(
      Array.from({ length: 100 }, (_, index) => result(index + 1, index + 1)),
    );
  });

  it("of answers and others settles and handles each", async () => {
    const seen: string[] = [];
    const { peer, give, unexpected } = openRaw({
      request: (method) => method,
      notification: (method) => void seen.push(method),
    });
    const answer = outcomeOf(peer.request("a"));
    await nextTurn();
    const sent = await give([result(1, "x"), notification("n"), request(7, "y")]);
    expect(await answer).toEqual({ value: "x" });
    expect(seen).toEqual(["n"]);
    expect(sent.slice(1)).toEqual([[result(7, "y")]]);
    expect(unexpected).toEqual([]);
  });

  it("of more than 100 answers is refused whole, and reported once", async () => {
    const { give, unexpected } = openRaw();
    expect(await give(Array.from({ length: 101 }, (_, index) => result(index + 1, "x")))).toMatchObject([
      { id: null, error: { code: -32600, data: { reason: "batch_too_large", maxBatchSize: 100 } } },
    ]);
    expect(unexpected).toMatchObject([{ code: "invalid_message", reason: "not_json_rpc" }]);
  });

  it("whose answers are too large together keeps the ids, each with an error", async () => {
    const { give } = openRaw(
      {
        request: (method) => {
          if (method === "fails") throw new ProtocolError(-7, "own");
          return "x".repeat(300);
        },
      },
      { maxFrameBytes: 800 },
    );
    expect(
      await give([request(1, "x"), request(2, "x"), request(3, "fails"), request(4, "x")]),
    ).toMatchObject([
      [
        { id: 1, error: { code: -32603, data: { reason: "result_too_large" } } },
        { id: 2, error: { code: -32603 } },
        { id: 3, error: { code: -7, message: "own" } },
        { id: 4, error: { code: -32603 } },
      ],
    ]);
  });

  it("is answered within it by an early reply", async () => {
    const work = createDeferred<void>();
    const { give, sent } = openRaw({
      request: async (_method, _params, call) => {
        call.reply("early");
        await work.promise;
        return "late";
      },
    });
    await give([request(1, "x")]);
    expect(sent).toEqual([[result(1, "early")]]);
    work.resolve();
    await nextTurn();
    expect(sent).toHaveLength(1);
  });
});
