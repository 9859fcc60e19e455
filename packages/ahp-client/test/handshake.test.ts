import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAhpClient } from "../src/index.ts";
import {
  ahpFailureOf,
  base,
  clientOf,
  connected,
  decideFull,
  failureOf,
  misuseOf,
  notifyFull,
  poll,
} from "./support/client.ts";
import { afterHandshake, agree, FakeHarness } from "./support/fake-harness.ts";
import { agreements, fullEvent, handshakeResult, payloads } from "./support/samples.ts";

describe("the handshake", () => {
  it("says the version, who the agent is and what it can do", async () => {
    const harness = new FakeHarness();
    const client = clientOf(harness, {
      capabilities: ["pre_action", "post_action"],
      sessionId: "ses_1",
      agentId: "agent_1",
    });
    expect(client.state).toBe("new");
    expect(client.harness).toBeUndefined();
    const result = await client.connect();
    expect(harness.received).toEqual([
      {
        jsonrpc: "2.0",
        id: expect.any(String),
        method: "ahp/handshake",
        params: {
          protocol_version: "2.4",
          agent_info: { framework: "test", version: "1.0.0", capabilities: ["pre_action", "post_action"] },
          session_id: "ses_1",
          agent_id: "agent_1",
        },
      },
    ]);
    expect(result).toEqual(handshakeResult());
    expect(client.harness).toEqual(handshakeResult());
    expect(client.state).toBe("ready");
  });

  it("makes up session and agent where none are given, others for each client", async () => {
    const harness = new FakeHarness();
    for (let index = 0; index < 20; index++) await clientOf(harness).connect();
    const ids = harness.received.flatMap(({ params }) => [params.session_id, params.agent_id]);
    expect(new Set(ids).size).toBe(40);
    for (const id of ids) expect(id).toMatch(/^(ses|agent)_[0-9a-f]{32}$/);
    const client = clientOf(harness, { createId: (prefix) => `${prefix}-mine` });
    expect([client.sessionId, client.agentId]).toEqual(["ses-mine", "agent-mine"]);
  });

  it.each(["2", "2.99", "2.4.1"])("accepts version %s", async (protocol_version) => {
    const { client } = await connected(afterHandshake(agree, { protocol_version }));
    expect((await client.decide("pre_action", {})).decision).toEqual(agreements.pre_action);
  });

  it.each(["1.9", "20", "", "two", "2x", " 2.4", "v2.4"])(
    "fails with version %j, and no event is sent",
    async (protocol_version) => {
      const harness = new FakeHarness(afterHandshake(agree, { protocol_version }));
      const client = clientOf(harness);
      expect((await ahpFailureOf(client.connect())).code).toBe("version_mismatch");
      expect(client.state).toBe("new");
      expect(await misuseOf(() => client.decide("pre_action", {}))).toBe("handshake_required");
      expect(await misuseOf(() => client.notify("post_action", {}))).toBe("handshake_required");
      expect(new Set(harness.methods)).toEqual(new Set(["ahp/handshake"]));
    },
  );

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
    expect(silent.client.harnessLimits).toEqual({ timeoutMs: 10_000, batchSize: 100, maxDepth: 10 });
    const config = { timeout_ms: 2 ** 64 - 1, batch_size: 2 ** 64 - 1, max_depth: 2 ** 64 - 1 };
    const generous = await connected(afterHandshake(agree, { config }));
    expect((await generous.client.decide("pre_action", {}, { depth: 1_000_000 })).origin).toBe("harness");
    // A negative limit says nothing that could be kept to: the protocol's own hold.
    const negative = { timeout_ms: -1, batch_size: -1, max_depth: -1 };
    const odd = await connected(afterHandshake(agree, { config: negative }));
    expect(odd.client.harnessLimits).toEqual({ timeoutMs: 10_000, batchSize: 100, maxDepth: 10 });
    expect((await odd.client.decide("pre_action", {})).origin).toBe("harness");
  });
});

describe("before the handshake is done", () => {
  it("everything else fails and is not sent", async () => {
    const harness = new FakeHarness();
    const client = clientOf(harness);
    const calls: (() => unknown)[] = [
      () => client.decide("pre_action", {}),
      () => client.decide("idle", payloads.idle),
      () => decideFull(client, fullEvent("pre_action")),
      () => client.notify("post_action", {}),
      () => notifyFull(client, fullEvent("post_action")),
      () => client.batch([{ event_type: "pre_action", payload: 1 }]),
      () => client.batch([]),
      () => client.query("t", "q"),
      () => client.startHeartbeat(1000, "working"),
    ];
    for (const call of calls) expect(await misuseOf(call)).toBe("handshake_required");
    expect(harness.connections).toHaveLength(0);
    harness.answer = () => {};
    const shaking = client.connect();
    await harness.until("ahp/handshake", 1);
    for (const call of calls) expect(await misuseOf(call)).toBe("handshake_required");
    harness.answer = agree;
    if (harness.received[0]) agree(harness.received[0], harness.last);
    await shaking;
    expect(harness.methods).toEqual(["ahp/handshake"]);
    expect((await client.decide("pre_action", {})).origin).toBe("harness");
  });

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
    expect(client.harnessLimits.maxDepth).toBe(3);
    harness.answer = (message, connection) => connection.fail(message, -32603, "Handler error: no");
    expect((await ahpFailureOf(client.connect())).code).toBe("harness_error");
    harness.answer = agree;
    expect(client.state).toBe("ready");
    expect(client.harnessLimits.maxDepth).toBe(3);
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

describe("the published example", () => {
  it("exchanges exactly its messages", async () => {
    const { client: channel, server } = createMemoryPair();
    const received: any[] = [];
    const answers: Record<string, unknown> = {
      "ahp/handshake": handshakeResult(),
      "ahp/event": { decision: "allow" },
    };
    const ended = new Promise<void>((end) =>
      server.start({
        async message(message: any) {
          received.push(message);
          const { id, method } = message;
          if (id !== undefined) await server.send({ jsonrpc: "2.0", id, result: answers[method] });
        },
        error: (error) => received.push(error),
        end,
        close() {},
      }),
    );
    const client = createAhpClient({ ...base, channel });
    onTestFinished(() => server.close());
    await client.connect();
    expect((await client.decide("pre_action", { tool_name: "bash" })).decision).toEqual({
      decision: "allow",
    });
    client.notify("post_action", { status: "ok" });
    await client.flush();
    void client.close();
    await ended;
    expect(received).toMatchObject([
      { jsonrpc: "2.0", method: "ahp/handshake", params: { protocol_version: "2.4" } },
      { method: "ahp/event", params: { event_type: "pre_action", payload: { tool_name: "bash" } } },
      { method: "ahp/event", params: { event_type: "post_action", payload: { status: "ok" } } },
    ]);
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
