import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { event, notification, request } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const allowing = { pre_action: () => ({ decision: "allow" }) as const };
const gate = event("pre_action");

describe("exchanges", () => {
  it("are answered as connections are, and any session goes by the handshake of its credential", async () => {
    const { ask, shake, post } = startServer({ ...allowing, post_action: () => {} });
    expect((await ask("ahp/event", gate)).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining("call ahp/handshake"),
      data: { reason: "handshake_required" },
    });
    expect((await post(notification("ahp/event", event("post_action"))))?.error?.code).toBe(-32600);
    await shake({ session_id: "private", agent_id: "private" });
    expect((await ask("ahp/event", gate)).result).toEqual({ decision: "allow" });
    expect(await post(notification("ahp/event", event("post_action")))).toBeUndefined();
    const query = { session_id: "another", agent_id: "a", query_type: "t", payload: 1 };
    expect((await ask("ahp/query", query)).result).toMatchObject({ answer: null });
    const batch = await ask("ahp/batch", { events: [gate, { ...gate, session_id: "another" }] });
    expect(batch.result.decisions).toEqual([{ decision: "allow" }, { decision: "allow" }]);
    // Another credential, and none, need a handshake of their own.
    for (const context of [{ principal: "another" }, {}]) {
      expect((await ask("ahp/event", gate, context)).error?.data.reason).toBe("handshake_required");
    }
  });

  it("without a credential go by the handshake of their session, unless the deployer names the clients", async () => {
    const nameless = startServer(allowing);
    await nameless.shake({}, {});
    expect((await nameless.ask("ahp/event", gate, {})).result).toEqual({ decision: "allow" });
    const other = { ...gate, session_id: "another" };
    expect((await nameless.ask("ahp/event", other, {})).error?.data.reason).toBe("handshake_required");
    const named = startServer(allowing, { principalOf: () => "the only agent" });
    await named.shake({}, {});
    expect((await named.ask("ahp/event", other, {})).result).toEqual({ decision: "allow" });
  });

  it("of two clients with one credential go each by its own handshake, and any other session by the last one", async () => {
    const seen: string[] = [];
    const { ask, shake } = startServer({
      pre_action: (_event, call) => {
        seen.push(call.handshake.agent_id);
        return { decision: "allow" };
      },
    });
    await shake({ agent_id: "first", session_id: "one" });
    await shake({ agent_id: "second", session_id: "two" });
    for (const session_id of ["one", "two", "private"]) await ask("ahp/event", { ...gate, session_id });
    expect(seen).toEqual(["first", "second", "second"]);
  });

  it("tell principals apart by their JSON", async () => {
    const { ask, shake } = startServer(allowing);
    await shake({}, { principal: { kind: "token", id: 1 } });
    expect((await ask("ahp/event", gate, { principal: { id: 1, kind: "token" } })).result).toBeDefined();
    for (const principal of [{ kind: "token", id: 2 }, '{"id":1,"kind":"token"}', null, [], undefined]) {
      expect((await ask("ahp/event", gate, { principal })).error?.data.reason).toBe("handshake_required");
    }
  });

  it("take the principal from elsewhere on demand, and fail closed where it is none", async () => {
    const { ask, shake, errors } = startServer(allowing, { principalOf: ({ user }: any) => user });
    await shake({}, { user: "me" });
    expect((await ask("ahp/event", gate, { user: "me" })).result).toEqual({ decision: "allow" });
    expect((await ask("ahp/event", gate, { user: () => "me" })).error).toMatchObject({
      code: -32603,
      data: { reason: "internal" },
    });
    expect((await ask("ahp/event", gate, null)).error?.data.reason).toBe("internal");
    expect(errors).toHaveLength(2);
  });

  it("are remembered up to a limit, and no client pushes those of another credential out", async () => {
    const seen: string[] = [];
    const { ask, shake } = startServer(
      {
        pre_action: (_event, call) => {
          seen.push(call.handshake.session_id);
          return { decision: "allow" };
        },
      },
      { limits: { maxSessions: 2 } },
    );
    await shake({}, { principal: "victim" });
    for (let session = 0; session < 50; session++) {
      await shake({ session_id: `s${session}` }, { principal: "greedy" });
      // What is used stays.
      await ask("ahp/event", { ...gate, session_id: "s0" }, { principal: "greedy" });
    }
    expect(seen).toEqual(Array.from({ length: 50 }, () => "s0"));
    seen.length = 0;
    await ask("ahp/event", gate, { principal: "victim" });
    for (const session_id of ["s0", "s48", "s49"])
      await ask("ahp/event", { ...gate, session_id }, { principal: "greedy" });
    // The last handshake of the credential stands for one that is forgotten.
    expect(seen).toEqual(["sess-abc", "s0", "s49", "s49"]);
  });

  it("cancel their request when the client goes away, and tell its handler", async () => {
    const signals: AbortSignal[] = [];
    const { shake, post, server } = startServer({
      pre_action: (_event, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    await shake();
    const abort = new AbortController();
    const reply = post(request(1, "ahp/event", gate), { principal: "someone", signal: abort.signal });
    const gone = post(request(2, "ahp/event", gate), {
      principal: "someone",
      signal: AbortSignal.abort(),
    });
    expect((await gone)?.error).toMatchObject({ code: -32603, data: { reason: "cancelled" } });
    expect(server.stats().pending).toBe(1);
    abort.abort();
    expect((await reply)?.error?.data.reason).toBe("cancelled");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(server.stats()).toMatchObject({ pending: 0, cancelled: 2 });
  });

  it("are refused when too many are being handled, and taken again after that", async () => {
    const waiting: ((decision: { decision: "allow" }) => void)[] = [];
    const { shake, ask, server, entries } = startServer(
      { pre_action: () => new Promise((resolve) => waiting.push(resolve)) },
      { limits: { maxPending: 2 } },
    );
    await shake();
    const replies = [ask("ahp/event", gate), ask("ahp/event", gate)];
    expect((await ask("ahp/event", gate)).error).toMatchObject({
      code: -32603,
      message: "Handler error: too many messages are being handled",
      data: { reason: "overloaded" },
    });
    expect(entries().at(-1)).toMatchObject({ outcome: "limited", details: { reason: "overloaded" } });
    for (const resolve of waiting) resolve({ decision: "allow" });
    for (const { result } of await Promise.all(replies)) expect(result).toEqual({ decision: "allow" });
    const again = ask("ahp/event", gate);
    waiting.at(-1)?.({ decision: "allow" });
    expect((await again).result).toEqual({ decision: "allow" });
    expect(server.stats().refusedRequests).toBe(1);
  });

  it("do not wait for the handler of a notification, but count it until it is done", async () => {
    let release: ((nothing: undefined) => void) | undefined;
    const { shake, post, ask } = startServer(
      { ...allowing, post_action: () => new Promise<undefined>((resolve) => (release = resolve)) },
      { limits: { maxPending: 1 } },
    );
    await shake();
    expect(await post(notification("ahp/event", event("post_action")))).toBeUndefined();
    expect((await ask("ahp/event", gate)).error?.data.reason).toBe("overloaded");
    release?.(undefined);
    await Promise.resolve();
    await nextTurn();
    expect((await ask("ahp/event", gate)).result).toEqual({ decision: "allow" });
  });
});
