import { describe, expect, it, onTestFinished } from "vitest";
import { nextTurn } from "../../../../scripts/lib/test-kit.ts";
import { type HarnessError, InvalidMessageError, ProtocolError } from "../../src/index.ts";
import { ClientConnection } from "../../src/rpc/index.ts";
import { createManualClock, createMemoryPair } from "../../src/testing/index.ts";

/** A client's connection, and what its other side receives and sends. */
const open = () => {
  const clock = createManualClock();
  const { client, server } = createMemoryPair();
  const received: unknown[] = [];
  const dropped: HarnessError[] = [];
  const closed: (HarnessError | undefined)[] = [];
  server.start({ message: (message) => void received.push(message), error() {}, close() {} });
  const connection = new ClientConnection(client, {
    maxPendingRequests: 2,
    clock,
    onDropped: (error) => void dropped.push(error),
    onClose: (error) => void closed.push(error),
  });
  onTestFinished(() => server.close());
  const give = async (...messages: unknown[]) => {
    for (const message of messages) await server.send(message);
    await nextTurn();
  };
  return { connection, clock, server, received, dropped, closed, give };
};

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "it was not rejected",
    (error: unknown) => error,
  );

const id = "req-0000001";

describe("a connection to another side that only answers", () => {
  it("gives each request its answer, and sends notifications without an id", async () => {
    const { connection, received, give } = open();
    const answer = connection.request("m", { a: 1 });
    await connection.notify("n", {});
    await give({ jsonrpc: "2.0", id, result: 7 });
    expect(await answer).toBe(7);
    expect(received).toEqual([
      { jsonrpc: "2.0", id, method: "m", params: { a: 1 } },
      { jsonrpc: "2.0", method: "n", params: {} },
    ]);
  });

  it("takes no number for its text ids, and tells a late answer from one to no request", async () => {
    const { connection, dropped, give } = open();
    const answer = connection.request("m", {});
    await give({ jsonrpc: "2.0", id: 1, result: "number" }, { jsonrpc: "2.0", id, result: "text" });
    expect(await answer).toBe("text");
    for (const other of [id, "req-0000002", "1"]) await give({ jsonrpc: "2.0", id: other, result: 1 });
    expect(dropped.map((error) => InvalidMessageError.isInstance(error) && error.reason)).toEqual([
      "not_json_rpc",
      "late_answer",
      "not_json_rpc",
      "not_json_rpc",
    ]);
  });

  it("drops calls and what is no message, and answers none of it", async () => {
    const { connection, received, dropped, give } = open();
    await give({ jsonrpc: "2.0", id: 1, method: "m" }, [], 3, { jsonrpc: "2.0", id: "other", result: 1 });
    expect(received).toEqual([]);
    expect(dropped.map((error) => InvalidMessageError.isInstance(error) && error.reason)).toEqual(
      Array(4).fill("not_json_rpc"),
    );
    expect(connection.lastFault).toBe(dropped.at(-1));
  });

  it("takes an error without an id as the answer to the one request that waits", async () => {
    const { connection, give, dropped } = open();
    const answer = failureOf(connection.request("m", {}));
    await give({ jsonrpc: "2.0", id: "", error: { code: -32600, message: "too deep" } });
    expect(await answer).toMatchObject({ rpcCode: -32600 });
    expect(ProtocolError.isInstance(await answer)).toBe(true);
    const both = [connection.request("m", {}), connection.request("m", {})].map(failureOf);
    await give({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "too deep" } });
    expect(dropped).toHaveLength(1);
    void connection.close();
    expect(await Promise.all(both)).toMatchObject(Array(2).fill({ code: "invalid_message" }));
  });

  it("tells a silent other side from one that sends what is no answer", async () => {
    const { connection, clock, give } = open();
    const silent = failureOf(connection.request("m", {}, { timeoutMs: 10 }));
    clock.advance(10);
    expect(await silent).toMatchObject({ code: "request_timeout" });
    // What comes late is no fault.
    const late = failureOf(connection.request("m", {}, { timeoutMs: 10 }));
    await give({ jsonrpc: "2.0", id, result: 1 });
    clock.advance(10);
    expect(await late).toMatchObject({ code: "request_timeout" });
    const noisy = failureOf(connection.request("m", {}, { timeoutMs: 10 }));
    await give({ jsonrpc: "2.0", id: 3, result: 1 });
    clock.advance(10);
    expect(await noisy).toMatchObject({ code: "invalid_message", cause: { code: "request_timeout" } });
  });

  it("refuses more requests than may wait, and settles those that do when it is closed", async () => {
    const { connection, closed } = open();
    const waiting = [connection.request("m", {}), connection.request("m", {})].map(failureOf);
    expect(await failureOf(connection.request("m", {}))).toMatchObject({ code: "buffer_full" });
    await connection.close();
    expect(await Promise.all(waiting)).toMatchObject(Array(2).fill({ code: "connection_closed" }));
    expect(closed).toEqual([undefined]);
  });

  it("is closed by a long run of what is no answer", async () => {
    const { closed, server } = open();
    for (let count = 0; count < 1001; count++) server.send({}).catch(() => {});
    await expect.poll(() => closed).toMatchObject([{ code: "invalid_message", reason: "faults_in_a_row" }]);
  });
});
