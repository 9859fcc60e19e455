import { describe, expect, it } from "vitest";
import { type Call, invalidParams, type PeerHandlers, ProtocolError } from "../../src/index.ts";
import { gate, notification, openPeers, openRaw, outcomeOf, quiet, request, result } from "./support.ts";

const echo: PeerHandlers = { request: (_method, params) => params };

describe("requests of the other side", () => {
  it.each([0, 1, -7, 1.5, 9007199254740991, "", "0", "a\u0000b", "__proto__", "constructor", null])(
    "are answered under the id %j",
    async (id) => {
      const { give } = openRaw(echo);
      expect(await give(request(id, "echo", [1]))).toEqual([result(id, [1])]);
    },
  );

  it.each([[true], [{}], [[1]], [Number.POSITIVE_INFINITY]])(
    "with the illegal id %j are refused",
    async (id) => {
      const { giveText, unexpected } = openRaw(echo);
      const text = id === Number.POSITIVE_INFINITY ? "1e400" : JSON.stringify(id);
      const sent = await giveText(`{"jsonrpc":"2.0","id":${text},"method":"echo"}\n`);
      expect(sent).toMatchObject([{ id: null, error: { code: -32600 } }]);
      expect(unexpected).toMatchObject([{ code: "invalid_message", reason: "not_json_rpc" }]);
    },
  );

  it("tell 1 and the text 1 apart", async () => {
    const first = gate<unknown>();
    const { give, sent } = openRaw({ request: (method) => (method === "slow" ? first.passed : "quick") });
    await give(request(1, "slow"), request("1", "quick"));
    expect(sent).toEqual([result("1", "quick")]);
    first.open("slow");
    await quiet();
    expect(sent[1]).toEqual(result(1, "slow"));
  });

  it("with an id that is being handled are refused, and the first is answered", async () => {
    const first = gate<unknown>();
    const { give, sent } = openRaw({ request: () => first.passed });
    await give(request(5, "work"), request(5, "work"));
    expect(sent).toMatchObject([{ id: 5, error: { code: -32600, data: { reason: "duplicate_id" } } }]);
    first.open("done");
    await quiet();
    expect(sent[1]).toEqual(result(5, "done"));
    await give(request(5, "work"));
    expect(sent[2]).toEqual(result(5, "done"));
  });

  it("of an unserved method get -32601 with a bounded name", async () => {
    const { give } = openRaw({});
    const [answer] = await give(request(1, `x${"y".repeat(5000)}`));
    expect(answer).toMatchObject({ id: 1, error: { code: -32601 } });
    expect((answer as { error: { message: string } }).error.message.length).toBeLessThan(300);
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

  it("become null when the handler returns nothing", async () => {
    const { give } = openRaw({ request: () => undefined });
    expect(await give(request(1, "x"))).toEqual([result(1, null)]);
  });
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

  it("with a wire error sends exactly that", async () => {
    const { give, unexpected } = openRaw({
      request: (method) => {
        if (method === "a") throw new ProtocolError(-32001, "gone", { data: { id: "x" }, cause: secret });
        throw invalidParams("wrong");
      },
    });
    expect(await give(request(1, "a"), request(2, "b"))).toEqual([
      { jsonrpc: "2.0", id: 1, error: { code: -32001, message: "gone", data: { id: "x" } } },
      { jsonrpc: "2.0", id: 2, error: { code: -32602, message: "wrong" } },
    ]);
    expect(unexpected).toEqual([]);
  });

  it("harms nobody when the reporter throws as well", async () => {
    const { give } = openRaw(
      {
        request: (method) => (method === "bad" ? Promise.reject(secret) : "good"),
        unexpected: () => {
          throw secret;
        },
      },
      { maxConcurrentCalls: 1 },
    );
    expect(
      await give(request(1, "bad"), request(2, "good"), result(99, "to nobody"), request(3, "good")),
    ).toMatchObject([
      { id: 1, error: { code: -32603 } },
      { id: 2, result: "good" },
      { id: 3, result: "good" },
    ]);
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

  it("is -32603 when the wording throws or is itself too large", async () => {
    const thrower = openRaw(
      {
        ...large,
        resultTooLarge: () => {
          throw new TypeError("none");
        },
      },
      { maxFrameBytes: 1000 },
    );
    expect(await thrower.give(request(1, "x"))).toMatchObject([{ id: 1, error: { code: -32603 } }]);
    const long = openRaw(
      { ...large, resultTooLarge: () => new ProtocolError(-32099, "y".repeat(2000)) },
      { maxFrameBytes: 1000 },
    );
    expect(await long.give(request(1, "x"))).toMatchObject([{ id: 1, error: { code: -32603 } }]);
  });

  it("is cut down for an error as well", async () => {
    const { give } = openRaw(
      {
        request: () => {
          throw new ProtocolError(-32001, "gone", { data: "z".repeat(2000) });
        },
      },
      { maxFrameBytes: 1000 },
    );
    expect(await give(request(1, "x"))).toMatchObject([{ id: 1, error: { code: -32603 } }]);
  });

  it("closes the connection when not even its error fits beside the id", async () => {
    const { give, peer, unexpected } = openRaw({ request: () => "x".repeat(20) }, { maxFrameBytes: 1000 });
    await give(request("i".repeat(955), "x"));
    await quiet();
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

  it.each([1, "text", null, true, {}, { jsonrpc: "1.0", method: "x", id: 1 }, { jsonrpc: "2.0", method: 1 }])(
    "%j is -32600",
    async (message) => {
      const { give } = openRaw(echo);
      expect(await give(message)).toMatchObject([{ jsonrpc: "2.0", error: { code: -32600 } }]);
    },
  );

  it.each([1, "text", null, true])("params %j are -32600 with the request's own id", async (params) => {
    const { give } = openRaw(echo);
    expect(await give({ jsonrpc: "2.0", id: 9, method: "x", params })).toMatchObject([
      { id: 9, error: { code: -32600 } },
    ]);
  });
});

describe("concurrency", () => {
  it("handles at most maxConcurrentCalls at once, begun in order", async () => {
    const gates = [gate(), gate(), gate(), gate()];
    const begun: number[] = [];
    const { give, sent } = openRaw(
      {
        request: async (_method, params) => {
          const index = (params as number[])[0] ?? 0;
          begun.push(index);
          await gates[index]?.passed;
          return index;
        },
      },
      { maxConcurrentCalls: 2 },
    );
    await give(...[0, 1, 2, 3].map((index) => request(index, "x", [index])));
    expect(begun).toEqual([0, 1]);
    gates[1]?.open();
    await quiet();
    expect(begun).toEqual([0, 1, 2]);
    gates[0]?.open();
    gates[3]?.open();
    gates[2]?.open();
    await quiet();
    expect(begun).toEqual([0, 1, 2, 3]);
    expect(sent.map((answer) => (answer as { id: number }).id).sort()).toEqual([0, 1, 2, 3]);
  });

  it("with a limit of 1 answers in the order of arrival", async () => {
    const first = gate();
    const { give, sent } = openRaw(
      { request: (method) => (method === "slow" ? first.passed.then(() => method) : method) },
      { maxConcurrentCalls: 1 },
    );
    await give(request(1, "slow"), request(2, "quick"), request(3, "quick"));
    expect(sent).toEqual([]);
    first.open();
    await quiet();
    expect(sent).toEqual([result(1, "slow"), result(2, "quick"), result(3, "quick")]);
  });

  it("a full queue holds the reader back, and nothing is lost", async () => {
    const first = gate();
    const { peer, give, sent } = openRaw(
      { request: (method) => (method === "slow" ? first.passed : "done") },
      { maxConcurrentCalls: 1, maxQueuedCalls: 4, pair: { capacityBytes: 500, maxBufferedBytes: 1_000_000 } },
    );
    const messages = Array.from({ length: 200 }, (_, index) => request(index + 1, "quick"));
    const given = give(request(0, "slow"), ...messages);
    await quiet();
    // The writer waits, because the reader was held back: not everything has left it.
    await expect(Promise.race([given, quiet().then(() => "waits")])).resolves.toBe("waits");
    first.open();
    await given;
    await peer.whenIdle();
    await quiet();
    expect(sent.map((answer) => (answer as { id: number }).id)).toEqual(
      Array.from({ length: 201 }, (_, id) => id),
    );
  });

  it("a long queue of quick handlers does not exhaust the stack", async () => {
    const first = gate();
    const count = 20_000;
    const { give, sent, peer } = openRaw(
      { request: (method) => (method === "slow" ? first.passed : null) },
      { maxConcurrentCalls: 1, maxQueuedCalls: 2 * count, maxBatchSize: 2 * count },
    );
    await give([request("slow", "slow"), ...Array.from({ length: count }, (_, id) => request(id, "quick"))]);
    first.open();
    await peer.whenIdle();
    await quiet();
    expect(sent[0]).toHaveLength(count + 1);
    expect((sent[0] as { error?: unknown }[]).every((answer) => answer.error === undefined)).toBe(true);
  });
});

describe("Call", () => {
  it("reply answers at once; what is sent after it arrives after it, and later answers are ignored", async () => {
    const handlers: PeerHandlers = {
      request: async (_method, _params, call) => {
        call.reply("early");
        await opened.peer.notify("first");
        call.reply("twice");
        await opened.peer.notify("second");
        return "late";
      },
    };
    const opened = openRaw(handlers);
    expect(await opened.give(request(1, "x"))).toEqual([
      result(1, "early"),
      notification("first"),
      notification("second"),
    ]);
  });

  it("a handler that throws after its reply is reported, not answered again", async () => {
    const { give, unexpected } = openRaw({
      request: (_method, _params, call) => {
        call.reply("early");
        throw new ProtocolError(-32001, "too late");
      },
    });
    expect(await give(request(1, "x"))).toEqual([result(1, "early")]);
    expect(unexpected).toMatchObject([{ code: "protocol_error", message: "too late" }]);
  });

  it("has the id and the context of the connection", async () => {
    const calls: Call[] = [];
    const handlers: PeerHandlers = { request: (_method, _params, call) => void calls.push(call) };
    const { give, peer } = openRaw(handlers, { pair: { serverContext: { user: "ada" } } });
    await give(request("i", "x"));
    expect(calls[0]).toMatchObject({ id: "i", context: { user: "ada" } });
    expect(peer.context).toEqual({ user: "ada" });
    expect(calls[0]?.signal.aborted).toBe(false);
  });

  it.each([[7], ["s"], [null]])("its signal aborts when the connection closes (id %j)", async (id) => {
    const calls: Call[] = [];
    const { give, kill } = openRaw({
      request: (_method, _params, call) => {
        calls.push(call);
        return new Promise(() => {});
      },
    });
    await give(request(id, "x"));
    const before = calls[0]?.signal;
    expect(before?.aborted).toBe(false);
    await kill();
    expect(before?.aborted).toBe(true);
    expect(before?.reason).toMatchObject({ code: "connection_closed" });
  });

  it("its signal is aborted also when first looked at after the close", async () => {
    const calls: Call[] = [];
    const { give, kill } = openRaw({
      request: (_method, _params, call) => {
        calls.push(call);
        return new Promise(() => {});
      },
    });
    await give(request(1, "x"));
    await kill();
    expect(calls[0]?.signal.aborted).toBe(true);
  });
});

describe("notifications of the other side", () => {
  it("are handled one after the other in order, and never answered", async () => {
    const first = gate();
    const seen: string[] = [];
    const { give, sent } = openRaw({
      notification: async (method) => {
        seen.push(`${method} begins`);
        if (method === "a") await first.passed;
        seen.push(`${method} ends`);
      },
    });
    await give(notification("a"), notification("b", []), notification("c", {}));
    expect(seen).toEqual(["a begins"]);
    first.open();
    await quiet();
    expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
    expect(sent).toEqual([]);
  });

  it("whose handler throws, rejects or returns what is no promise are reported at the most, and the next is handled", async () => {
    const seen: string[] = [];
    const { give, sent, unexpected } = openRaw({
      notification: (method) => {
        seen.push(method);
        if (method === "throws") throw new TypeError("thrown");
        if (method === "rejects") return Promise.reject(new TypeError("rejected"));
        if (method === "number") return 5 as unknown as undefined;
        return undefined;
      },
    });
    await give(...["throws", "rejects", "number", "fine", "last"].map((method) => notification(method)));
    expect(seen).toEqual(["throws", "rejects", "number", "fine", "last"]);
    expect(sent).toEqual([]);
    expect(unexpected.map(({ code }) => code)).toEqual(["handler_failed", "handler_failed"]);
    expect(unexpected.map(({ cause }) => (cause as Error).message)).toEqual(["thrown", "rejected"]);
  });

  it("hold the reader back when too many wait, and none is lost", async () => {
    const first = gate();
    const seen: unknown[] = [];
    const { give } = openRaw(
      {
        notification: async (_method, params) => {
          if (seen.length === 0) await first.passed;
          seen.push((params as number[])[0]);
        },
      },
      { maxQueuedCalls: 3, pair: { capacityBytes: 200, maxBufferedBytes: 1_000_000 } },
    );
    const given = give(...Array.from({ length: 100 }, (_, index) => notification("n", [index])));
    await expect(Promise.race([given, quiet().then(() => "waits")])).resolves.toBe("waits");
    first.open();
    await given;
    await quiet();
    expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });
});

describe("the end of input", () => {
  it("is followed by the answers to what was asked, then by the close", async () => {
    const work = gate();
    const { give, end, sent, state, closeClient } = openRaw({
      request: () => work.passed.then(() => "done"),
    });
    await give(request(1, "x"), request(2, "x"));
    await end();
    expect(sent).toEqual([]);
    work.open();
    await quiet();
    expect(sent).toEqual([result(1, "done"), result(2, "done")]);
    await closeClient();
    expect(state.closed).toBe(true);
  });

  it("is followed by the handling of notifications that were read before it", async () => {
    const first = gate();
    const seen: string[] = [];
    const { give, end, peer } = openRaw({
      notification: async (method) => {
        if (method === "a") await first.passed;
        seen.push(method);
      },
    });
    await give(notification("a"), notification("b"), notification("c"));
    await end();
    first.open();
    await peer.closed;
    expect(seen).toEqual(["a", "b", "c"]);
  });

  it("settles own requests, which nobody can answer any more", async () => {
    for (const end of [undefined, () => {}]) {
      const opened = openRaw(end ? { end } : { request: () => new Promise(() => {}) });
      await opened.give(request(1, "keeps the connection open"));
      const before = outcomeOf(opened.peer.request("ask"));
      await quiet();
      await opened.end();
      await expect(before).resolves.toMatchObject({ error: { code: "connection_closed" } });
      const after = outcomeOf(opened.peer.request("ask"));
      await expect(after).resolves.toMatchObject({ error: { code: "connection_closed" } });
    }
  });

  it("is the owner's matter where there is a handler for it", async () => {
    let ended = 0;
    const { give, end, sent, peer } = openRaw({
      ...echo,
      end: () => {
        ended++;
      },
    });
    await give(request(1, "x", []));
    await end();
    expect(ended).toBe(1);
    expect(peer.signal.aborted).toBe(false);
    await peer.notify("goodbye");
    await quiet();
    expect(sent).toEqual([result(1, []), notification("goodbye")]);
  });
});

describe("between two peers", () => {
  it("both sides call each other, also from within a handler", async () => {
    const peers = openPeers({
      server: { request: async (method) => `${method} ${await peers.server.request("name")}` },
      client: { request: () => "ada" },
    });
    await expect(peers.client.request("hello")).resolves.toBe("hello ada");
  });
});
