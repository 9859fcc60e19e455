import { describe, expect, it } from "vitest";
import { createAhpClient } from "../src/index.ts";
import { ahpFailureOf, base, clientOf, connected, poll } from "./support/client.ts";
import { afterHandshake, agree, FakeHarness } from "./support/fake-harness.ts";
import { handshakeResult } from "./support/samples.ts";

describe("the handshake", () => {
  it("has the session and the agent that were given, else random ones", async () => {
    const harness = new FakeHarness();
    for (let index = 0; index < 3; index++) await clientOf(harness).connect();
    const ids = harness.received.flatMap(({ params }) => [params.session_id, params.agent_id]);
    expect(new Set(ids).size).toBe(6);
    for (const id of ids) expect(id).toMatch(/^(ses|agent)_[0-9a-f]{32}$/);
    const client = clientOf(harness, { sessionId: "s", agentId: "a", capabilities: ["pre_action"] });
    await client.connect();
    expect(harness.received.at(-1)?.params).toEqual({
      protocol_version: "2.4",
      agent_info: { framework: "test", version: "1.0.0", capabilities: ["pre_action"] },
      ...{ session_id: "s", agent_id: "a" },
    });
  });

  it.each([
    [-32000, "Unsupported protocol version", "version_mismatch"],
    [-32603, "Handler error: no", "harness_error"],
  ])("that is refused with %d %s fails as %s", async (rpcCode, rpcMessage, code) => {
    const harness = new FakeHarness((message, { fail }) => fail(message, rpcCode, rpcMessage));
    expect(await ahpFailureOf(clientOf(harness).connect())).toMatchObject({ code, rpcCode, rpcMessage });
  });

  it.each([
    [null, "invalid_answer", ""],
    [{ protocol_version: "2.4" }, "invalid_answer", ""],
    [handshakeResult({ config: { max_depth: "10" } }), "invalid_answer", "config.max_depth: "],
    [handshakeResult({ protocol_version: "3.0" }), "version_mismatch", "version 3.0"],
  ])("that is answered with %j fails", async (answer, code, text) => {
    const harness = new FakeHarness((message, connection) => connection.reply(message, answer));
    const failure = await ahpFailureOf(clientOf(harness).connect());
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(text);
  });

  it("takes null in the answer as absent, another minor version, and limits of any size", async () => {
    const nulls = { session_token: null, config: { timeout_ms: null, batch_size: null, max_depth: null } };
    const silent = await connected(afterHandshake(agree, { protocol_version: "2.9", ...nulls }));
    expect(silent.client.harness).toStrictEqual({
      ...handshakeResult(),
      protocol_version: "2.9",
      config: {},
    });
    expect((await silent.client.decide("pre_action", {}, { depth: 10 })).origin).toBe("harness");
    const config = { timeout_ms: 2 ** 64 - 1, batch_size: 2 ** 64 - 1, max_depth: 2 ** 64 - 1 };
    const generous = await connected(afterHandshake(agree, { config }));
    expect((await generous.client.decide("pre_action", {}, { depth: 1_000_000 })).origin).toBe("harness");
    const odd = await connected(afterHandshake(agree, { config: { max_depth: -1 } }));
    expect(await odd.client.decide("pre_action", {}, { depth: 11 })).toMatchObject({
      code: "depth_exceeded",
    });
    expect((await odd.client.decide("pre_action", {})).origin).toBe("harness");
  });

  it("that failed can be tried again, over another connection", async () => {
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
    await poll(() => harness.connections[1]?.channel.signal.aborted).toBe(true);
  });
});

describe("several calls of connect", () => {
  it("at one time share a handshake, and each caller waits as long as it wants to", async () => {
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
    expect(await client.connect()).toEqual(handshakeResult());
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

  it("end with a close, and are refused after it", async () => {
    const harness = new FakeHarness(() => {});
    const client = clientOf(harness);
    const shaking = ahpFailureOf(client.connect());
    await harness.until("ahp/handshake", 1);
    await client.close();
    expect((await shaking).code).toBe("closed");
    expect((await ahpFailureOf(client.connect())).code).toBe("closed");
  });

  it("end with a close also where the transport takes no notice of it", async () => {
    let open: ((channel: never) => void) | undefined;
    const transport = { connect: () => new Promise<never>((resolve) => (open = resolve)) };
    const client = createAhpClient({ ...base, transport });
    const shaking = ahpFailureOf(client.connect());
    await client.close();
    expect((await shaking).code).toBe("closed");
    const harness = new FakeHarness();
    open?.(harness.open() as never);
    // What comes late is put away.
    await poll(() => harness.last.channel.signal.aborted).toBe(true);
  });
});
