import { describe, expect, it } from "vitest";
import { createAhpClient } from "../src/index.ts";
import { ahpFailureOf, base, clientOf, connected, failureOf, poll } from "./support/client.ts";
import { afterHandshake, agree, FakeHarness } from "./support/fake-harness.ts";
import { handshakeResult } from "./support/samples.ts";

describe("the handshake", () => {
  it("makes up session and agent where none are given, others for each client", async () => {
    const harness = new FakeHarness();
    for (let index = 0; index < 20; index++) await clientOf(harness).connect();
    const ids = harness.received.flatMap(({ params }) => [params.session_id, params.agent_id]);
    expect(new Set(ids).size).toBe(40);
    for (const id of ids) expect(id).toMatch(/^(ses|agent)_[0-9a-f]{32}$/);
    const client = clientOf(harness, { createId: (prefix) => `${prefix}-mine` });
    expect([client.sessionId, client.agentId]).toEqual(["ses-mine", "agent-mine"]);
  });

  it("fails with the harness's own words where it is the one that refuses", async () => {
    const harness = new FakeHarness((message, connection) =>
      connection.fail(message, -32000, "Unsupported protocol version"),
    );
    expect(await ahpFailureOf(clientOf(harness).connect())).toMatchObject({
      code: "version_mismatch",
      rpcCode: -32000,
      rpcMessage: "Unsupported protocol version",
    });
    harness.answer = (message, connection) => connection.fail(message, -32603, "Handler error: no");
    expect(await ahpFailureOf(clientOf(harness).connect())).toMatchObject({
      code: "harness_error",
      rpcCode: -32603,
    });
  });

  it.each([null, 1, [], {}, { protocol_version: "2.4" }, handshakeResult({ config: { max_depth: 0.5 } })])(
    "fails with the answer %j",
    async (answer) => {
      const harness = new FakeHarness((message, connection) => connection.reply(message, answer));
      expect((await ahpFailureOf(clientOf(harness).connect())).code).toBe("invalid_answer");
    },
  );

  it("that fails says which field of the answer is wrong", async () => {
    const answer = handshakeResult({ config: { max_depth: "10" } });
    const harness = new FakeHarness((message, connection) => connection.reply(message, answer));
    expect((await ahpFailureOf(clientOf(harness).connect())).message).toContain("config.max_depth: ");
  });

  it("takes null in the answer as absent, and limits of any size", async () => {
    const nulls = { session_token: null, config: { timeout_ms: null, batch_size: null, max_depth: null } };
    const silent = await connected(afterHandshake(agree, nulls));
    expect(silent.client.harness).toStrictEqual({ ...handshakeResult(), config: {} });
    const deep = await Promise.all(
      [10, 11].map((depth) => silent.client.decide("pre_action", {}, { depth })),
    );
    expect(deep.map(({ origin }) => origin)).toEqual(["harness", "client"]);
    const config = { timeout_ms: 2 ** 64 - 1, batch_size: 2 ** 64 - 1, max_depth: 2 ** 64 - 1 };
    const generous = await connected(afterHandshake(agree, { config }));
    expect((await generous.client.decide("pre_action", {}, { depth: 1_000_000 })).origin).toBe("harness");
    // A negative limit says nothing that could be kept to: the protocol's own hold.
    const negative = { timeout_ms: -1, batch_size: -1, max_depth: -1 };
    const odd = await connected(afterHandshake(agree, { config: negative }));
    expect((await odd.client.decide("pre_action", {}, { depth: 11 })).origin).toBe("client");
    expect((await odd.client.decide("pre_action", {})).origin).toBe("harness");
  });
});

describe("before the handshake is done", () => {
  it("it can be tried again, over another connection", async () => {
    const harness = new FakeHarness();
    const client = clientOf(harness);
    harness.refuse();
    expect((await ahpFailureOf(client.connect())).code).toBe("unreachable");
    harness.refusesWith = undefined;
    harness.answer = (_message, { channel }) => void channel.close();
    expect((await ahpFailureOf(client.connect())).code).toBe("connection_lost");
    harness.answer = (message, connection) => connection.fail(message, -32603, "Handler error: not yet");
    expect((await ahpFailureOf(client.connect())).code).toBe("harness_error");
    harness.answer = agree;
    await client.connect();
    expect(client.state).toBe("ready");
    expect(harness.connections).toHaveLength(3);
    expect(client.stats().reconnects).toBe(0);
    await poll(() => harness.connections[1]?.channel.signal.aborted).toBe(true);
  });

  it("it can be tried again on a channel that is there, which stays open", async () => {
    const harness = new FakeHarness((message, connection) => connection.fail(message, -32000, "no"));
    const client = createAhpClient({ ...base, channel: harness.open() });
    expect((await ahpFailureOf(client.connect())).code).toBe("version_mismatch");
    harness.answer = agree;
    await client.connect();
    expect((await client.decide("pre_action", {})).origin).toBe("harness");
    expect(harness.connections).toHaveLength(1);
    await client.close();
    expect(harness.last.channel.signal.aborted).toBe(true);
  });
});

describe("several handshakes", () => {
  it("at one time are one, and each caller waits as long as it wants to", async () => {
    const harness = new FakeHarness(() => {});
    const client = clientOf(harness);
    const abort = new AbortController();
    const impatient = ahpFailureOf(client.connect({ signal: abort.signal }));
    const hasty = ahpFailureOf(client.connect({ timeoutMs: 20 }));
    const patient = client.connect({ timeoutMs: 10_000 });
    await harness.until("ahp/handshake", 1);
    abort.abort();
    expect((await impatient).code).toBe("cancelled");
    expect((await hasty).code).toBe("timeout");
    expect(client.state).toBe("new");
    const [message] = harness.received;
    if (message) harness.last.reply(message, handshakeResult());
    expect(await patient).toEqual(handshakeResult());
    expect(harness.received).toHaveLength(1);
  });

  it("that all give up leave nothing behind: the next one begins anew", async () => {
    const harness = new FakeHarness(() => {});
    const client = clientOf(harness);
    const abort = new AbortController();
    const both = [1, 2].map(() => ahpFailureOf(client.connect({ signal: abort.signal })));
    await harness.until("ahp/handshake", 1);
    abort.abort();
    expect((await Promise.all(both)).map(({ code }) => code)).toEqual(["cancelled", "cancelled"]);
    harness.answer = agree;
    expect(await client.connect()).toEqual(handshakeResult());
    expect(harness.connections).toHaveLength(2);
    await poll(() => harness.connections[0]?.channel.signal.aborted).toBe(true);
  });

  it("one after the other: the last that succeeded holds, also after one that was refused", async () => {
    const { harness, client } = await connected();
    harness.answer = afterHandshake(agree, { config: { max_depth: 3 } });
    expect((await client.connect()).config).toEqual({ max_depth: 3 });
    expect(await client.decide("pre_action", {}, { depth: 4 })).toMatchObject({ code: "depth_exceeded" });
    harness.answer = (message, connection) => connection.fail(message, -32603, "Handler error: no");
    expect((await ahpFailureOf(client.connect())).code).toBe("harness_error");
    harness.answer = agree;
    expect(client.state).toBe("ready");
    expect(await client.decide("pre_action", {}, { depth: 4 })).toMatchObject({ code: "depth_exceeded" });
    expect((await client.decide("pre_action", {})).origin).toBe("harness");
    expect(harness.connections).toHaveLength(1);
  });

  it("are refused after close, and end with it", async () => {
    const harness = new FakeHarness(() => {});
    const client = clientOf(harness);
    const shaking = ahpFailureOf(client.connect());
    await harness.until("ahp/handshake", 1);
    await client.close();
    expect((await shaking).code).toBe("closed");
    expect((await ahpFailureOf(client.connect())).code).toBe("closed");
  });

  it("end with a close also where the transport does not hear of it", async () => {
    let open: ((channel: never) => void) | undefined;
    const client = createAhpClient({
      ...base,
      transport: { connect: () => new Promise((resolve) => (open = resolve)) },
    });
    const shaking = ahpFailureOf(client.connect());
    await client.close();
    expect((await shaking).code).toBe("closed");
    const harness = new FakeHarness();
    open?.(harness.open() as never);
    // What comes late is put away.
    await poll(() => harness.last.channel.signal.aborted).toBe(true);
  });
});

describe("a timeout that is none", () => {
  it("is refused as an argument", async () => {
    const { client } = await connected();
    for (const timeoutMs of [0, -1, Number.NaN]) {
      const calls = [
        client.connect({ timeoutMs }),
        client.decide("pre_action", {}, { timeoutMs }),
        client.batch([{ event_type: "pre_action", payload: 1 }], { timeoutMs }),
        client.query("t", "q", { timeoutMs }),
      ];
      for (const call of calls) expect(await failureOf(call)).toMatchObject({ code: "invalid_argument" });
    }
    expect(client.stats().events).toBe(0);
  });
});
