import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../../scripts/lib/test-kit.ts";
import { ProtocolError } from "../../src/index.ts";
import { error, gate, notification, openRaw, request, result } from "./support.ts";

describe("a batch from the other side", () => {
  it("is answered in one message, when the last answer is there", async () => {
    const slow = gate();
    const { give, sent } = openRaw({ request: (method) => (method === "slow" ? slow.passed : method) });
    await give([request(1, "slow"), request(2, "quick"), notification("n")]);
    expect(sent).toEqual([]);
    slow.open();
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

  it("of more than maxBatchSize messages is refused whole, and none of it runs", async () => {
    let calls = 0;
    const { give } = openRaw({ request: () => ++calls }, { maxBatchSize: 3 });
    expect(await give([1, 2, 3, 4].map((id) => request(id, "x")))).toMatchObject([
      { id: null, error: { code: -32600, data: { reason: "batch_too_large", maxBatchSize: 3 } } },
    ]);
    expect(calls).toBe(0);
    expect((await give([1, 2, 3].map((id) => request(id, "x"))))[1]).toEqual([
      result(1, 1),
      result(2, 2),
      result(3, 3),
    ]);
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

  it("of which one result is not JSON answers the others", async () => {
    const { give, unexpected } = openRaw({ request: (method) => (method === "bad" ? 1n : "good") });
    expect(await give([request(1, "good"), request(2, "bad")])).toEqual([
      [result(1, "good"), { jsonrpc: "2.0", id: 2, error: { code: -32603, message: "Internal error" } }],
    ]);
    expect(unexpected).toMatchObject([{ code: "invalid_argument" }]);
  });

  it("is answered within it by an early reply", async () => {
    const work = gate();
    const { give, sent } = openRaw({
      request: async (_method, _params, call) => {
        call.reply("early");
        await work.passed;
        return "late";
      },
    });
    await give([request(1, "x")]);
    expect(sent).toEqual([[result(1, "early")]]);
    work.open();
    await nextTurn();
    expect(sent).toHaveLength(1);
  });
});
