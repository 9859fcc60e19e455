import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../../test-kit/test-kit.ts";
import { createDeferred, HarnessError } from "../../src/index.ts";
import { createPeer } from "../../src/rpc/index.ts";
import { createMemoryPair } from "../../src/testing/index.ts";
import { error, openPeers, openRaw, outcomeOf, request, result } from "./support.ts";

describe("request", () => {
  it("sends a request with an id of its own and resolves with the result as it came", async () => {
    const { peer, sent, give } = openRaw();
    const first = peer.request("a");
    const second = peer.request("b", { x: [1] });
    await nextTurn();
    expect(sent).toEqual([request(1, "a"), request(2, "b", { x: [1] })]);
    await give(result(2, { deep: [null] }), result(1, null));
    await expect(first).resolves.toBeNull();
    await expect(second).resolves.toEqual({ deep: [null] });
  });

  it.each([
    ["both a result and an error", { result: 1, error: { code: 1, message: "x" } }],
    ["an error that is none", { error: "bad" }],
    ["an error without a code", { error: { message: "x" } }],
    ["an error with a fractional code", { error: { code: 1.5, message: "x" } }],
    ["an error without a message", { error: { code: 1 } }],
    ["no version", { result: 1, jsonrpc: undefined }],
  ])("rejects with invalid_message when the answer has %s", async (_what, fields) => {
    const { peer, give, sent } = openRaw();
    const answer = outcomeOf(peer.request("a"));
    await nextTurn();
    await give({ jsonrpc: "2.0", id: 1, ...fields });
    await expect(answer).resolves.toMatchObject({
      error: { code: "invalid_message", reason: "not_json_rpc" },
    });
    // An answer is never answered.
    expect(sent).toEqual([request(1, "a")]);
  });

  it.each([
    ["neither a result nor an error", {}],
    ["null for an error alone", { error: null }],
    ["both", { result: 1, error: { code: 1, message: "x" } }],
  ])("of a side that only answers is refused at once by an answer with %s", async (_what, fields) => {
    const { peer, give } = openRaw({}, { answersOnly: true });
    const answer = outcomeOf(peer.request("a"));
    await nextTurn();
    const sent = await give({ jsonrpc: "2.0", id: "req-0000001", ...fields });
    await expect(answer).resolves.toMatchObject({
      error: { code: "invalid_message", reason: "not_json_rpc" },
    });
    expect(sent).toHaveLength(1);
  });

  it("settles once: a second answer, a late one and one to nobody are reported and harmless", async () => {
    const { peer, give, unexpected, clock } = openRaw();
    const answer = outcomeOf(peer.request("a"));
    const late = outcomeOf(peer.request("b", undefined, { timeoutMs: 10 }));
    await nextTurn();
    clock.advance(10);
    await give(
      result(1, "first"),
      result(1, "second"),
      error(2, -1),
      result(77, 0),
      result("1", 0),
      result(null, 0),
    );
    await expect(answer).resolves.toEqual({ value: "first" });
    await expect(late).resolves.toMatchObject({
      error: { name: "RequestTimeoutError", code: "request_timeout", method: "b", timeoutMs: 10 },
    });
    expect(unexpected.map(({ code }) => code)).toEqual(Array(5).fill("invalid_message"));
  });

  it.each(["__proto__", "constructor", "toString"])("an answer to the id %j finds no request", async (id) => {
    const { peer, give, unexpected } = openRaw();
    const answer = outcomeOf(peer.request("a"));
    await nextTurn();
    await give(result(id, "forged"), result(1, "true"));
    await expect(answer).resolves.toEqual({ value: "true" });
    expect(unexpected).toHaveLength(1);
  });

  it("rejects with frame_too_large or invalid_argument what cannot be sent, and sends nothing of it", async () => {
    const { peer, sent } = openRaw({}, { maxFrameBytes: 200 });
    await expect(outcomeOf(peer.request("a", ["x".repeat(300)]))).resolves.toMatchObject({
      error: { code: "frame_too_large", maxFrameBytes: 200 },
    });
    await expect(outcomeOf(peer.request("a", [1n]))).resolves.toMatchObject({
      error: { code: "invalid_argument" },
    });
    await nextTurn();
    expect(sent).toEqual([]);
  });

  it.each([0, -1, Number.NaN])("refuses the limit %d with invalid_argument", (limit) => {
    for (const name of ["maxConcurrentCalls", "maxQueuedCalls"]) {
      const { server } = createMemoryPair();
      let thrown: unknown;
      try {
        createPeer(server, {}, { [name]: limit });
      } catch (caught) {
        thrown = caught;
      }
      expect(thrown).toMatchObject({ code: "invalid_argument" });
    }
  });
});

describe("deadlines", () => {
  it("reject with request_timeout exactly when they are reached, each by its own", async () => {
    const { peer, clock } = openRaw({}, { requestTimeoutMs: 1000 });
    const seen: string[] = [];
    const watch = (name: string, promise: Promise<unknown>) =>
      void promise.catch((rejection: HarnessError) => seen.push(`${name} ${rejection.code}`));
    watch("default", peer.request("a"));
    watch("short", peer.request("b", undefined, { timeoutMs: 10 }));
    watch("long", peer.request("c", undefined, { timeoutMs: 5000 }));
    watch("never", peer.request("d", undefined, { timeoutMs: Number.POSITIVE_INFINITY }));
    const moments: [number, string[]][] = [
      [9, []],
      [1, ["short request_timeout"]],
      [989, ["short request_timeout"]],
      [1, ["short request_timeout", "default request_timeout"]],
      [3999, ["short request_timeout", "default request_timeout"]],
      [1, ["short request_timeout", "default request_timeout", "long request_timeout"]],
      [1e9, ["short request_timeout", "default request_timeout", "long request_timeout"]],
    ];
    for (const [byMs, expected] of moments) {
      clock.advance(byMs);
      await nextTurn();
      expect(seen).toEqual(expected);
    }
  });

  it.each([-1, Number.NaN])("of %d ms are refused with invalid_argument", async (timeoutMs) => {
    const { peer, sent } = openRaw();
    await expect(outcomeOf(peer.request("a", undefined, { timeoutMs }))).resolves.toMatchObject({
      error: { code: "invalid_argument" },
    });
    await nextTurn();
    expect(sent).toEqual([]);
  });
});

describe("cancellation", () => {
  it("is local without a protocol for it: the caller no longer waits, the other side is not told", async () => {
    const { peer, sent, give, unexpected } = openRaw();
    const controller = new AbortController();
    const reason = { by: "the user" };
    const answer = outcomeOf(peer.request("a", undefined, { signal: controller.signal }));
    await nextTurn();
    controller.abort(reason);
    await expect(answer).resolves.toMatchObject({
      error: { code: "request_cancelled", method: "a", cause: reason },
    });
    await give(result(1, "late"));
    expect(sent).toEqual([request(1, "a")]);
    expect(unexpected).toHaveLength(1);
  });

  it("before the call sends nothing", async () => {
    const { peer, sent } = openRaw();
    const answer = outcomeOf(peer.request("a", undefined, { signal: AbortSignal.abort("early") }));
    await expect(answer).resolves.toMatchObject({ error: { code: "request_cancelled", cause: "early" } });
    await nextTurn();
    expect(sent).toEqual([]);
  });

  it("lets go of the signal when the answer came", async () => {
    const { peer, give, sent } = openRaw();
    const controller = new AbortController();
    const answer = peer.request("a", undefined, { signal: controller.signal });
    await nextTurn();
    await give(result(1, "done"));
    await expect(answer).resolves.toBe("done");
    controller.abort();
    await nextTurn();
    expect(sent).toEqual([request(1, "a")]);
  });
});

describe("close", () => {
  it("settles every pending request and aborts every handler, on both sides", async () => {
    const aborted: unknown[] = [];
    const handler = {
      request: (_method: string, _params: unknown, call: { signal: AbortSignal }) =>
        new Promise(() => {
          call.signal.addEventListener("abort", () =>
            aborted.push((call.signal.reason as HarnessError).code),
          );
        }),
    };
    const { client, server, clock } = openPeers({ client: handler, server: handler });
    const pending = [client.request("a"), client.request("b"), server.request("c")].map(outcomeOf);
    await nextTurn();
    const closing = client.close();
    // Settled at once, though the other side still works on the requests and so does not close yet.
    for (const outcome of await Promise.all(pending)) {
      expect(outcome).toMatchObject({ error: { name: "ConnectionClosedError", code: "connection_closed" } });
    }
    clock.advance(2000);
    await closing;
    await server.closed;
    expect(aborted).toEqual(Array(3).fill("connection_closed"));
    await expect(outcomeOf(client.request("late"))).resolves.toMatchObject({
      error: { code: "connection_closed" },
    });
    await expect(outcomeOf(client.notify("late"))).resolves.toMatchObject({
      error: { code: "connection_closed" },
    });
    expect(client.signal.aborted).toBe(true);
  });

  it("tells the close handler once and last, with the reason", async () => {
    const log: string[] = [];
    const opened = openRaw({
      close: ({ error: reason }) => {
        log.push(`close ${reason?.code}`);
      },
      onError: () => {
        log.push("error");
      },
    });
    const answer = opened.peer.request("a").catch(() => log.push("rejected"));
    await nextTurn();
    await opened.kill();
    await answer;
    expect(log).toEqual(["close transport_failed", "rejected"]);
    await expect(opened.peer.closed).resolves.toMatchObject({ error: { code: "transport_failed" } });
  });

  it("leaves no timer behind", async () => {
    const { peer, kill, clock } = openRaw();
    void outcomeOf(peer.request("a"));
    await kill();
    expect(clock.pending).toBe(0);
  });

  it("lets go of what a handler answers too late", async () => {
    const work = createDeferred<void>();
    const { give, kill, unexpected } = openRaw({ request: () => work.promise });
    await give(request(1, "x"));
    await kill();
    work.resolve();
    await nextTurn();
    expect(unexpected).toEqual([]);
  });

  it("when a slow reader is over its limit for answers, that reader alone is closed", async () => {
    const { server, client } = createMemoryPair({ capacityBytes: 10, maxBufferedBytes: 100 });
    const unexpected: HarnessError[] = [];
    const peer = createPeer(
      server,
      { request: () => "x".repeat(100), onError: (report) => void unexpected.push(report) },
      { requestTimeoutMs: 100 },
    );
    // The client never reads: it is not started.
    for (let id = 0; id < 50; id++) await outcomeOf(client.send(request(id, "x")));
    const reason = await peer.closed;
    expect(reason).toMatchObject({
      error: { code: "buffer_full", limitName: "maxBufferedBytes", limit: 100 },
    });
    expect(unexpected[0]).toMatchObject({ code: "buffer_full" });
    expect(HarnessError.isInstance(reason.error)).toBe(true);
  });
});
