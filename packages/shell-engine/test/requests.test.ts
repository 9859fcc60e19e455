import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { createShellEngine, type ShellCall, ShellEngineError } from "../src/index.ts";
import { shellEngineLimits } from "../src/limits.ts";
import { codeOf, messagesOf, request, say, send, TestClock } from "./support.ts";

/** An engine that counts. */
const counting = (limits = {}, clock = new TestClock()) => {
  const calls: ShellCall[] = [];
  const engine = createShellEngine({
    handlers: {
      intent: (call) => {
        calls.push(call);
        return [say(`${call.intent} ${calls.length}`)];
      },
    },
    limits,
    clock,
  });
  return { engine, calls, clock };
};
const named = (request_id: string, intent = "hi", more: object = {}) =>
  request({ user_intent: intent, ...more }, { request_id });

describe("a request_id", () => {
  it("means another request in another session and of somebody else", async () => {
    const { engine } = counting();
    const answers = [];
    const auth = (fields: object) => ({ ...named("r1"), request: { ...named("r1").request, auth: fields } });
    for (const [message, principal] of [
      [named("r1"), "me"],
      [named("r1", "hi", { session_id: "s2" }), "me"],
      [named("r1"), "you"],
      [auth({ tenant_id: "t" }), "me"],
      [auth({ credential_ref: "t" }), "me"],
      [named("r1"), "me"],
    ] as const) {
      answers.push(...messagesOf(await send(engine, message, { principal })));
    }
    expect(answers).toEqual(["hi 1", "hi 2", "hi 3", "hi 4", "hi 5", "hi 1"]);
  });

  it("that is used while its request is handled waits for that one", async () => {
    const gate = createDeferred<void>();
    let calls = 0;
    const engine = createShellEngine({
      handlers: {
        intent: async () => {
          calls++;
          await gate.promise;
          return [say("done")];
        },
      },
    });
    const both = [send(engine, named("r1")), send(engine, named("r1"))];
    expect(codeOf(await send(engine, named("r1", "other")))).toBe("request_id_conflict");
    gate.resolve();
    for (const response of await Promise.all(both)) expect(messagesOf(response)).toEqual(["done"]);
    expect(calls).toBe(1);
  });

  it("is the same request whatever the order of its keys", async () => {
    const { engine, calls } = counting({});
    const capabilities = { "dev.a": true, "dev.b": { one: 1, two: 2 } };
    const turned = { "dev.b": { two: 2, one: 1 }, "dev.a": true };
    await send(engine, { ...named("r1"), capabilities });
    expect(codeOf(await send(engine, { ...named("r1"), capabilities: turned }))).toBe("success");
    expect(calls.length).toBe(1);
    const other = { ...turned, "dev.a": false };
    expect(codeOf(await send(engine, { ...named("r1"), capabilities: other }))).toBe("request_id_conflict");
  });

  it("is refused for another request also where the JSON that came with both is not theirs", async () => {
    const { engine, calls } = counting();
    const handle = (intent: string, id: number) =>
      engine.handle(named("r1", intent), {}, JSON.stringify({ id, params: named("r1", intent) }));
    expect(codeOf(await handle("hi", 1))).toBe("success");
    expect(codeOf(await handle("other", 2))).toBe("request_id_conflict");
    expect(calls.length).toBe(1);
  });

  it("is met anew after an error that is retryable, and not after another one", async () => {
    let calls = 0;
    const engine = createShellEngine({
      handlers: {
        intent: ({ intent }) => {
          calls++;
          throw new ShellEngineError("failed", "No.", { retryable: intent === "later" });
        },
      },
    });
    for (const intent of ["later", "later", "never", "never"]) await engine.handle(named(intent, intent), {});
    expect(calls).toBe(3);
  });

  it("is forgotten after its time", async () => {
    const { engine, calls, clock } = counting({ rememberMs: 1000 });
    await send(engine, named("r1"));
    clock.move(999);
    await send(engine, named("r1"));
    expect(calls.length).toBe(1);
    clock.move(1);
    await send(engine, named("r1"));
    expect(calls.length).toBe(2);
  });

  it("more often than the bound holds it, and costs whoever uses so many", async () => {
    const { engine } = counting({ maxRememberedRequests: 100 });
    await engine.handle(named("mine"), { principal: "careful" });
    for (let index = 0; index < 150; index++) await engine.handle(named(`r${index}`), { principal: "me" });
    expect(engine.stats()).toEqual({ inFlight: 0, rememberedRequests: 100 });
    expect(messagesOf(await engine.handle(named("mine"), { principal: "careful" }))).toEqual(["hi 1"]);
    expect(messagesOf(await engine.handle(named("r149"), { principal: "me" }))).toEqual(["hi 151"]);
    expect(messagesOf(await engine.handle(named("r0"), { principal: "me" }))).toEqual(["hi 152"]);
  });

  it("of an ordinary length leaves room for as many as are remembered", async () => {
    const { maxRememberedLength, maxRememberedRequests } = shellEngineLimits.defaults;
    const { engine } = counting({
      maxRememberedLength: Math.floor(maxRememberedLength / 1000),
      maxRememberedRequests: maxRememberedRequests / 1000,
    });
    const shell = { shell_kind: "im_bot", locale: "de-DE", timezone: "Europe/Berlin" };
    for (let index = 0; index < 150; index++) {
      const asked = named(`0b0a1c2e-1f6d-4c7a-9c7e-${index}`, "show me the weather in Berlin", { shell });
      await engine.handle(asked, { principal: "me" }, JSON.stringify(asked));
    }
    expect(engine.stats().rememberedRequests).toBe(100);
  });

  it("costs nobody else what is remembered while large requests run", async () => {
    const gate = createDeferred<void>();
    const engine = createShellEngine({
      handlers: { intent: (call) => (call.intent === "hi" ? [say("hi")] : gate.promise.then(() => [])) },
      limits: { maxRememberedLength: 100_000 },
    });
    await engine.handle(named("mine"), { principal: "careful" });
    const large = Array.from({ length: 5 }, (_, index) =>
      engine.handle(named(`r${index}`, "x".repeat(30_000)), { principal: "me" }),
    );
    while (engine.stats().inFlight < 5) await nextTurn();
    expect(engine.stats().rememberedRequests).toBe(1);
    gate.resolve();
    await Promise.all(large);
  });

  it("of large responses holds the bound of their size", async () => {
    const engine = createShellEngine({
      handlers: { intent: () => [say("x".repeat(10_000))] },
      limits: { maxRememberedLength: 100_000 },
    });
    for (let index = 0; index < 50; index++) await engine.handle(named(`r${index}`), {});
    // Each has its string twice: as `message` and as `text`.
    expect(engine.stats().rememberedRequests).toBe(4);
  });
});

describe("time", () => {
  const slow = (clock: TestClock) => {
    const gate = createDeferred<void>();
    const calls: ShellCall[] = [];
    const engine = createShellEngine({
      handlers: {
        intent: async (call) => {
          calls.push(call);
          await gate.promise;
          return [say("late")];
        },
      },
      limits: { handlerTimeoutMs: 1000, maxInFlight: 2 },
      clock,
    });
    return { engine, gate, calls };
  };
  /** Waits until a handler has begun. */
  const begun = async (calls: readonly unknown[], count: number) => {
    while (calls.length < count) await nextTurn();
  };

  it("that a handler exceeds is engine_timeout; its signal aborts; a retry gets what it brings", async () => {
    const clock = new TestClock();
    const { engine, gate, calls } = slow(clock);
    const first = send(engine, named("r1"));
    await begun(calls, 1);
    expect(calls[0]?.dueAtMs).toBe(clock.now() + 1000);
    const { signal } = calls[0] as ShellCall;
    expect(signal.aborted).toBe(false);
    clock.move(1000);
    const response = await first;
    expect(response.response).toMatchObject({
      status: "error",
      engine_latency_ms: 1000,
      error: { code: "engine_timeout", retryable: true },
    });
    expect([signal.aborted, (signal.reason as { code: string }).code]).toEqual([true, "request_timeout"]);
    const again = send(engine, named("r1"));
    gate.resolve();
    expect(messagesOf(await again)).toEqual(["late"]);
    expect(messagesOf(await send(engine, named("r1")))).toEqual(["late"]);
    expect(calls.length).toBe(1);
    expect(clock.timers).toBe(0);
  });

  it("that is over, or an engine that closes, is told in words that no state takes anything out of", async () => {
    const clock = new TestClock();
    const { engine, calls } = slow(clock);
    const environment_state = { privacy_tier: "restricted", os: "engine", active_window: "closing" };
    const late = send(engine, named("r1", "hi", { environment_state }));
    await begun(calls, 1);
    clock.move(1000);
    expect((await late).response.error?.message).toBe("The engine took too long.");
    const cut = send(engine, named("r2", "hi", { environment_state }));
    await begun(calls, 2);
    await engine.close();
    expect((await cut).response.error?.message).toBe("The engine is closing.");
  });

  it("that is over is not retryable without a request_id: the handler may still do its work", async () => {
    const clock = new TestClock();
    const { engine, gate, calls } = slow(clock);
    const first = send(engine, request());
    await begun(calls, 1);
    clock.move(1000);
    expect((await first).response.error).toMatchObject({ code: "engine_timeout", retryable: false });
    gate.resolve();
  });

  it("handlers that never end are counted, and no more are begun than may be", async () => {
    const clock = new TestClock();
    const { engine, gate, calls } = slow(clock);
    const both = [send(engine, named("a")), send(engine, named("b"))];
    await begun(calls, 2);
    clock.move(1000);
    await Promise.all(both);
    expect(engine.stats().inFlight).toBe(2);
    expect((await send(engine, named("c"))).response.error).toMatchObject({
      code: "engine_overloaded",
      retryable: true,
    });
    gate.resolve();
    const late = async () => messagesOf(await send(engine, named("c")));
    await send(engine, named("a"));
    expect(await late()).toEqual(["late"]);
    expect(engine.stats().inFlight).toBe(0);
  });

  it("ends with the engine: what waits is cancelled, and nothing more is taken", async () => {
    const { engine, calls } = slow(new TestClock());
    const first = send(engine, named("a"));
    await begun(calls, 1);
    const { signal } = calls[0] as ShellCall;
    await engine.close();
    await engine.close();
    expect((await first).response.error).toMatchObject({ code: "cancelled", retryable: true });
    expect(signal.aborted).toBe(true);
    expect(codeOf(await send(engine, named("b")))).toBe("cancelled");
  });

  it("ends with the shell only for a request that has no request_id", async () => {
    const { engine, gate, calls } = slow(new TestClock());
    const gone = new AbortController();
    const context = { principal: "me", signal: gone.signal };
    const both = [send(engine, request(), context), send(engine, named("a"), context)];
    await begun(calls, 2);
    const signals = calls.map(({ signal }) => signal);
    gone.abort();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    gate.resolve();
    await Promise.all(both);
  });
});
