import { describe, expect, it } from "vitest";
import { nextTurn, until } from "../../../../test-kit/test-kit.ts";
import { createDeferred, ProtocolError } from "../../src/index.ts";
import type { Call } from "../../src/rpc/index.ts";
import type { PeerHandlers } from "../../src/rpc/peer-options.ts";
import { notification, openPeers, openRaw, outcomeOf, request, result } from "./support.ts";

const echo: PeerHandlers = { request: (_method, params) => params };

describe("concurrency", () => {
  it("handles at most maxConcurrentCalls at once, begun in order", async () => {
    const gates = [
      createDeferred<void>(),
      createDeferred<void>(),
      createDeferred<void>(),
      createDeferred<void>(),
    ];
    const begun: number[] = [];
    const { give, sent } = openRaw(
      {
        request: async (_method, params) => {
          const index = (params as number[])[0] ?? 0;
          begun.push(index);
          await gates[index]?.promise;
          return index;
        },
      },
      { maxConcurrentCalls: 2 },
    );
    await give(...[0, 1, 2, 3].map((index) => request(index, "x", [index])));
    expect(begun).toEqual([0, 1]);
    gates[1]?.resolve();
    await nextTurn();
    expect(begun).toEqual([0, 1, 2]);
    gates[0]?.resolve();
    gates[3]?.resolve();
    gates[2]?.resolve();
    await nextTurn();
    expect(begun).toEqual([0, 1, 2, 3]);
    expect(sent.map((answer) => (answer as { id: number }).id).sort()).toEqual([0, 1, 2, 3]);
  });

  it("a full queue holds the reader back, and nothing is lost", async () => {
    const first = createDeferred<void>();
    const { peer, give, sent } = openRaw(
      { request: (method) => (method === "slow" ? first.promise : "done") },
      { maxConcurrentCalls: 1, maxQueuedCalls: 4, pair: { capacityBytes: 500, maxBufferedBytes: 1_000_000 } },
    );
    const messages = Array.from({ length: 200 }, (_, index) => request(index + 1, "quick"));
    const given = give(request(0, "slow"), ...messages);
    await nextTurn();
    // The writer waits, because the reader was held back: not everything has left it.
    await expect(Promise.race([given, nextTurn().then(() => "waits")])).resolves.toBe("waits");
    first.resolve();
    await given;
    await peer.whenIdle();
    await nextTurn();
    expect(sent.map((answer) => (answer as { id: number }).id)).toEqual(
      Array.from({ length: 201 }, (_, id) => id),
    );
  });

  it("a long queue of quick handlers does not exhaust the stack", async () => {
    const first = createDeferred<void>();
    const count = 12_000;
    const { give, sent, peer } = openRaw(
      { request: (method) => (method === "slow" ? first.promise : null) },
      { maxConcurrentCalls: 1, maxQueuedCalls: 2 * count },
    );
    await give(request("slow", "slow"), ...Array.from({ length: count }, (_, id) => request(id, "quick")));
    first.resolve();
    await peer.whenIdle();
    // The answers pass a pipe, which hands them over in parts.
    await until(() => sent.length > count);
    expect(sent).toHaveLength(count + 1);
    expect((sent as { error?: unknown }[]).every((answer) => answer.error === undefined)).toBe(true);
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
    const first = createDeferred<void>();
    const seen: string[] = [];
    const { give, sent } = openRaw({
      notification: async (method) => {
        seen.push(`${method} begins`);
        if (method === "a") await first.promise;
        seen.push(`${method} ends`);
      },
    });
    await give(notification("a"), notification("b", []), notification("c", {}));
    expect(seen).toEqual(["a begins"]);
    first.resolve();
    await nextTurn();
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
    const first = createDeferred<void>();
    const seen: unknown[] = [];
    const { give } = openRaw(
      {
        notification: async (_method, params) => {
          if (seen.length === 0) await first.promise;
          seen.push((params as number[])[0]);
        },
      },
      { maxQueuedCalls: 3, pair: { capacityBytes: 200, maxBufferedBytes: 1_000_000 } },
    );
    const given = give(...Array.from({ length: 100 }, (_, index) => notification("n", [index])));
    await expect(Promise.race([given, nextTurn().then(() => "waits")])).resolves.toBe("waits");
    first.resolve();
    await given;
    await nextTurn();
    expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });
});

describe("the end of input", () => {
  it("is followed by the answers to what was asked, then by the close", async () => {
    const work = createDeferred<void>();
    const { give, end, sent, state, closeClient } = openRaw({
      request: () => work.promise.then(() => "done"),
    });
    await give(request(1, "x"), request(2, "x"));
    await end();
    expect(sent).toEqual([]);
    work.resolve();
    await nextTurn();
    expect(sent).toEqual([result(1, "done"), result(2, "done")]);
    await closeClient();
    expect(state.closed).toBe(true);
  });

  it("settles own requests, which nobody can answer any more", async () => {
    for (const end of [undefined, () => {}]) {
      const opened = openRaw(end ? { end } : { request: () => new Promise(() => {}) });
      await opened.give(request(1, "keeps the connection open"));
      const before = outcomeOf(opened.peer.request("ask"));
      await nextTurn();
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
    await nextTurn();
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
