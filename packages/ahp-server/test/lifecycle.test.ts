import { newlineCodec } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import type { HandlerCall } from "../src/handlers.ts";
import { RawAgent } from "./support/agent.ts";
import { event, request } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

type Allow = { decision: "allow" };
const gate = (index: number) => event("pre_action", { payload: { index } });

/** A gate whose decisions the test makes, by index. */
const byHand = () => {
  const waiting = new Map<number, { allow: () => void; call: HandlerCall }>();
  return {
    waiting,
    /** The signal that the handler of this one was given. */
    signalOf: (index: number): AbortSignal => {
      const found = waiting.get(index);
      if (!found) throw new Error(`nobody asked about ${index}`);
      return found.call.signal;
    },
    pre_action: ({ payload }: { payload: unknown }, call: HandlerCall) =>
      new Promise<Allow>((resolve) => {
        const allow = () => resolve({ decision: "allow" });
        waiting.set((payload as { index: number }).index, { allow, call });
      }),
  };
};

describe("requests of one connection", () => {
  it("are decided side by side: a slow one holds up nobody", async () => {
    const { waiting, pre_action } = byHand();
    const { server } = startServer({ pre_action, pre_prompt: () => ({ decision: "allow" }) });
    const agent = await RawAgent.ready(server);
    const slow = agent.call("ahp/event", gate(1));
    expect((await agent.call("ahp/event", event("pre_prompt"))).result).toEqual({ decision: "allow" });
    const deeper = agent.call("ahp/event", { ...gate(2), depth: 1 });
    await agent.settled();
    waiting.get(2)?.allow();
    expect((await deeper).result).toEqual({ decision: "allow" });
    expect(server.stats().pending).toBe(1);
    waiting.get(1)?.allow();
    expect((await slow).result).toEqual({ decision: "allow" });
    expect(server.stats().pending).toBe(0);
  });

  it("are read no further than the limit until one is answered", async () => {
    const { waiting, pre_action } = byHand();
    const { server } = startServer({ pre_action }, { limits: { maxPendingPerConnection: 3 } });
    const agent = await RawAgent.ready(server);
    for (let index = 0; index < 6; index++) {
      void agent.channel.send(request(index, "ahp/event", gate(index)));
    }
    while (waiting.size < 3) await nextTurn();
    await nextTurn();
    expect([...waiting.keys()]).toEqual([0, 1, 2]);
    for (let index = 0; index < 6; index++) {
      while (!waiting.has(index)) await nextTurn();
      waiting.get(index)?.allow();
      expect((await agent.answer(index)).result).toEqual({ decision: "allow" });
      expect(server.stats().pending).toBeLessThanOrEqual(3);
    }
  });
});

describe("a handler that takes too long", () => {
  it("is -32603 with the reason; its signal aborts, and what it brings later is dropped", async () => {
    const { waiting, signalOf, pre_action } = byHand();
    const { server, clock, entries } = startServer({ pre_action });
    const agent = await RawAgent.ready(server);
    const answer = agent.call("ahp/event", gate(1));
    await agent.settled();
    const signal = signalOf(1);
    clock.advance(8_999);
    expect(signal.aborted).toBe(false);
    const second = agent.call("ahp/event", gate(2));
    await agent.settled();
    clock.advance(1);
    expect((await answer).error).toEqual({
      code: -32603,
      message: "Handler error: there was no decision within 9000 ms",
      data: { reason: "timeout", timeout_ms: 9000 },
    });
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ code: "request_timeout" });
    expect(signalOf(2).aborted).toBe(false);
    waiting.get(1)?.allow();
    await agent.settled();
    waiting.get(2)?.allow();
    expect((await second).result).toEqual({ decision: "allow" });
    expect(server.stats()).toMatchObject({ timeouts: 1, decisions: { allow: 1 } });
    const timeout = entries().find(({ outcome }) => outcome === "timeout");
    expect(timeout).toMatchObject({ action: "ahp.event", duration_ms: 9000, details: { reason: "timeout" } });
  });
});

describe("notifications", () => {
  it("of one session are handled in order, and of others beside them", async () => {
    const begun: string[] = [];
    const release = new Map<string, () => void>();
    const { server } = startServer({
      post_action: ({ session_id, payload }) => {
        const name = `${session_id} ${payload}`;
        begun.push(name);
        return new Promise<void>((resolve) => release.set(name, resolve));
      },
    });
    const agent = await RawAgent.ready(server);
    const tell = (session_id: string, payload: number) =>
      agent.tell(event("post_action", { session_id, payload }));
    for (const payload of [1, 2, 3]) await tell("a", payload);
    await tell("b", 1);
    await agent.settled();
    expect(begun).toEqual(["a 1", "b 1"]);
    for (const next of [2, 3]) {
      release.get(`a ${next - 1}`)?.();
      await agent.settled();
      expect(begun.at(-1)).toBe(`a ${next}`);
    }
    expect(begun).toHaveLength(4);
  });

  it("go on behind one that fails or hangs, each with its own time", async () => {
    const seen: unknown[] = [];
    const { server, clock, errors } = startServer({
      post_action: ({ payload }, { signal }) => {
        seen.push(payload);
        if (payload === 1) throw new Error("no");
        if (payload === 2) return Promise.reject(new Error("no"));
        if (payload === 3)
          return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        return undefined;
      },
    });
    const agent = await RawAgent.ready(server);
    for (const payload of [1, 2, 3, 4]) await agent.tell(event("post_action", { payload }));
    await agent.settled();
    expect(seen).toEqual([1, 2, 3]);
    clock.advance(9000);
    await agent.settled();
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(errors).toHaveLength(2);
    expect(server.stats()).toMatchObject({ timeouts: 1 });
  });
});

describe("a connection that closes", () => {
  it("cancels what it asked, and nothing else", async () => {
    const { waiting, signalOf, pre_action } = byHand();
    const { server, entries } = startServer({ pre_action });
    const [first, second] = [await RawAgent.ready(server), await RawAgent.ready(server)];
    void first.channel.send(request("1", "ahp/event", gate(1)));
    void first.channel.send(request(null, "ahp/event", gate(2)));
    void first.channel.send(request(null, "ahp/event", gate(3)));
    const other = second.call("ahp/event", gate(4));
    await Promise.all([first.settled(), second.settled()]);
    const signals = [1, 2, 3, 4].map(signalOf);
    first.wire.kill();
    while (server.stats().connections > 1) await nextTurn();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, false]);
    expect(signals[0]?.reason).toMatchObject({ code: "request_cancelled" });
    for (const { allow } of waiting.values()) allow();
    expect((await other).result).toEqual({ decision: "allow" });
    expect(server.stats()).toMatchObject({ cancelled: 3, pending: 0 });
    expect(entries().filter(({ outcome }) => outcome === "cancelled")).toHaveLength(3);
  });

  it("in good order gets every answer first", async () => {
    const { waiting, pre_action } = byHand();
    const { server } = startServer({ pre_action });
    const agent = await RawAgent.ready(server);
    const answer = agent.call("ahp/event", gate(1));
    await agent.settled();
    agent.wire.end();
    await nextTurn();
    waiting.get(1)?.allow();
    expect((await answer).result).toEqual({ decision: "allow" });
    while (server.stats().connections > 0) await nextTurn();
    await agent.channel.close();
    expect(await agent.closed).toEqual({});
  });

  it("does not take back what it told: notifications that wait are handled", async () => {
    const seen: unknown[] = [];
    let release: (() => void) | undefined;
    const { server } = startServer({
      post_action: ({ payload }) => {
        seen.push(payload);
        return payload === 1 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
      },
    });
    const agent = await RawAgent.ready(server);
    for (const payload of [1, 2, 3]) await agent.tell(event("post_action", { payload }));
    await agent.settled();
    agent.wire.kill();
    while (server.stats().connections > 0) await nextTurn();
    release?.();
    while (seen.length < 3) await nextTurn();
    expect(seen).toEqual([1, 2, 3]);
  });

  it("by the server answers what it cancels, and takes nothing more", async () => {
    const { signalOf, pre_action } = byHand();
    const { server } = startServer({ pre_action });
    const agent = await RawAgent.ready(server);
    const answer = agent.call("ahp/event", gate(1));
    await agent.settled();
    const closing = server.close();
    expect((await answer).error).toMatchObject({ code: -32603, data: { reason: "cancelled" } });
    await agent.channel.close();
    await closing;
    await server.close();
    expect(signalOf(1).aborted).toBe(true);
    expect(() => server.connect(createMemoryPair().server)).toThrow(
      expect.objectContaining({ code: "connection_closed" }),
    );
    expect(server.stats()).toMatchObject({ connections: 0, pending: 0 });
  });
});

describe("an answer that cannot be sent", () => {
  it("because it is too large is an error in its place", async () => {
    const { server } = startServer({
      pre_action: () => ({ decision: "modify", modified_payload: "x".repeat(5000) }),
      pre_prompt: () => ({ decision: "allow" }),
    });
    const agent = await RawAgent.ready(server, { codec: newlineCodec({ maxFrameBytes: 2000 }) });
    expect((await agent.call("ahp/event", gate(1))).error).toMatchObject({
      code: -32603,
      data: { reason: "result_too_large" },
    });
    expect((await agent.call("ahp/event", event("pre_prompt"))).result).toEqual({ decision: "allow" });
  });
});
