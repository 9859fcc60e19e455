import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../../test-kit/test-kit.ts";
import { createDeferred, ProtocolError } from "../../src/index.ts";
import type { PeerHandlers } from "../../src/rpc/peer-options.ts";
import { openRaw, outcomeOf, request, result } from "./support.ts";

const echo: PeerHandlers = { request: (_method, params) => params };

describe("requests of the other side", () => {
  it("tell 1 and the text 1 apart", async () => {
    const first = createDeferred<unknown>();
    const { give, sent } = openRaw({ request: (method) => (method === "slow" ? first.promise : "quick") });
    await give(request(1, "slow"), request("1", "quick"));
    expect(sent).toEqual([result("1", "quick")]);
    first.resolve("slow");
    await nextTurn();
    expect(sent[1]).toEqual(result(1, "slow"));
  });

  it("with an id that is being handled are refused, and the first is answered", async () => {
    const first = createDeferred<unknown>();
    const { give, sent } = openRaw({ request: () => first.promise });
    await give(request(5, "work"), request(5, "work"));
    expect(sent).toMatchObject([{ id: 5, error: { code: -32600, data: { reason: "duplicate_id" } } }]);
    first.resolve("done");
    await nextTurn();
    expect(sent[1]).toEqual(result(5, "done"));
    await give(request(5, "work"));
    expect(sent[2]).toEqual(result(5, "done"));
  });

  it.each(["__proto__", "constructor", "toString", "", "hasOwnProperty"])(
    "reach the handler by the name %j as it came",
    async (name) => {
      const { give } = openRaw({ request: (method, params) => [method, params] });
      const params = JSON.parse(`{"__proto__":{"polluted":1}}`) as unknown;
      const [answer] = await give(request(1, name, params));
      expect(JSON.stringify(answer)).toBe(
        `{"jsonrpc":"2.0","id":1,"result":[${JSON.stringify(name)},{"__proto__":{"polluted":1}}]}`,
      );
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );
});

describe("a handler that fails", () => {
  const secret = new TypeError("secret at /home/user/.key");

  it.each([
    [
      "throws",
      () => {
        throw secret;
      },
      secret,
    ],
    ["rejects", () => Promise.reject(secret), secret],
    [
      "rejects with no Error",
      () => {
        return Promise.reject("text");
      },
      "text",
    ],
    ["rejects with nothing", () => Promise.reject(undefined), undefined],
  ])("and %s is -32603 without detail, and reported with its cause", async (_how, handler, cause) => {
    const { give, unexpected } = openRaw({ request: handler });
    expect(await give(request(1, "x"))).toEqual([
      { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } },
    ]);
    expect(unexpected).toHaveLength(1);
    expect(unexpected[0]).toMatchObject({ code: "handler_failed" });
    expect(unexpected[0]?.cause).toBe(cause);
  });

  it("whose result or error data is not JSON answers -32603", async () => {
    const { give, unexpected } = openRaw({
      request: (method) => {
        if (method === "data") throw new ProtocolError(-32001, "gone", { data: 1n as never });
        return method === "function" ? () => 1 : 1n;
      },
    });
    const sent = await give(request(1, "result"), request(2, "data"), request(3, "function"));
    expect(sent).toEqual(
      [1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, error: { code: -32603, message: "Internal error" } })),
    );
    expect(unexpected.map(({ code }) => code)).toEqual([
      "invalid_argument",
      "invalid_argument",
      "invalid_argument",
    ]);
  });
});

describe("an answer over the message limit", () => {
  const large = { request: () => "x".repeat(2000) };

  it("becomes -32603 with the reason, and the connection stays", async () => {
    const { give } = openRaw(large, { maxFrameBytes: 1000 });
    expect(await give(request(1, "x"))).toMatchObject([
      { id: 1, error: { code: -32603, data: { reason: "result_too_large", maxFrameBytes: 1000 } } },
    ]);
    expect(await give(request(2, "x"))).toHaveLength(2);
  });

  it("is worded by the protocol where it wants to", async () => {
    const resultTooLarge = (method: string) => new ProtocolError(-32099, `${method} wants a limit`);
    const { give } = openRaw({ ...large, resultTooLarge }, { maxFrameBytes: 1000 });
    expect(await give(request(1, "x"))).toMatchObject([
      { id: 1, error: { code: -32099, message: "x wants a limit" } },
    ]);
  });

  it("is -32603 when the wording is itself too large", async () => {
    const long = openRaw(
      { ...large, resultTooLarge: () => new ProtocolError(-32099, "y".repeat(2000)) },
      { maxFrameBytes: 1000 },
    );
    expect(await long.give(request(1, "x"))).toMatchObject([{ id: 1, error: { code: -32603 } }]);
  });

  it("closes the connection when not even its error fits beside the id", async () => {
    const { give, peer, unexpected } = openRaw({ request: () => "x".repeat(20) }, { maxFrameBytes: 1000 });
    await give(request("i".repeat(955), "x"));
    await nextTurn();
    expect(unexpected.map(({ code }) => code)).toEqual(["frame_too_large", "frame_too_large"]);
    await expect(outcomeOf(peer.notify("late"))).resolves.toMatchObject({
      error: { code: "connection_closed" },
    });
  });
});

describe("what is no message", () => {
  it.each([
    ["garbage", "{oops\n", -32700, "not_json"],
    ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0x22, 0x0a]), -32700, "not_utf8"],
    ["deep nesting", `${"[".repeat(100)}${"]".repeat(100)}\n`, -32600, "too_deep"],
    ["an oversize line", `"${"x".repeat(300)}"\n`, -32600, "message_too_large"],
  ])("%s is answered with the id null, and the next request is served", async (_what, text, code, reason) => {
    const { giveText, give } = openRaw(echo, { maxFrameBytes: 250 });
    expect(await giveText(text)).toMatchObject([
      { jsonrpc: "2.0", id: null, error: { code, data: { reason } } },
    ]);
    expect((await give(request(1, "x", [])))[1]).toEqual(result(1, []));
  });
});
