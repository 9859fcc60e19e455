import { createDeferred, newlineCodec } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { createShellEngine, type ShellCall, type ShellEngineOptions } from "../src/index.ts";
import { request, say } from "./support.ts";

/** An engine with one shell on a channel, and what the shell received. */
const connect = (options: Partial<ShellEngineOptions> = {}, maxFrameBytes = 1_000_000) => {
  const errors: unknown[] = [];
  const engine = createShellEngine({
    handlers: { intent: ({ intent }) => [say(`You said: ${intent}`)] },
    onError: (error) => errors.push(error),
    ...options,
  });
  const { client: shell, server, clientWire } = createMemoryPair({ codec: newlineCodec({ maxFrameBytes }) });
  engine.connect(server);
  const received: { request_id?: string; response: { status: string; error?: { code: string } } }[] = [];
  let wake = createDeferred<void>();
  shell.start({
    message: (message) => {
      received.push(message as (typeof received)[number]);
      wake.resolve();
      wake = createDeferred<void>();
    },
    error: (error) => errors.push(error),
    close: () => wake.resolve(),
  });
  const count = async (size: number) => {
    while (received.length < size && !shell.signal.aborted) await wake.promise;
    return received;
  };
  return { engine, shell, clientWire, count, errors };
};

const codes = (received: Awaited<ReturnType<ReturnType<typeof connect>["count"]>>) =>
  received.map(({ response }) => response.error?.code ?? response.status);

describe("a shell on a channel", () => {
  it("is who its channel says, and its handlers get the channel's context", async () => {
    const calls: ShellCall<{ principal: string }>[] = [];
    const engine = createShellEngine<{ principal: string }>({
      handlers: {
        intent: (call) => {
          calls.push(call);
        },
      },
    });
    const { client: shell, server } = createMemoryPair({ serverContext: { principal: "ada" } });
    engine.connect(server);
    const answered = createDeferred<unknown>();
    shell.start({ message: (message) => answered.resolve(message), error: () => {}, close: () => {} });
    await shell.send(request());
    await answered.promise;
    expect([calls[0]?.principal, calls[0]?.context.principal]).toEqual(["ada", "ada"]);
  });

  it("that only sends what is not a message is not read any further", async () => {
    const { shell } = connect();
    const sends = Array.from({ length: 1100 }, () => shell.send("noise").catch(() => {}));
    await Promise.all(sends);
    expect((await shell.closed).error).toBeUndefined();
    expect(shell.signal.aborted).toBe(true);
  });

  it("gets an error in the place of a response that its channel cannot carry", async () => {
    const { shell, count } = connect({ handlers: { intent: () => [say("x".repeat(100_000))] } }, 10_000);
    await shell.send(request({}, { request_id: "r1" }));
    const [response] = await count(1);
    expect([response?.request_id, response?.response.error?.code]).toEqual(["r1", "internal_error"]);
  });

  it("has its calls without an id cancelled when it goes away; those with an id go on", async () => {
    const began = createDeferred<void>();
    const calls: ShellCall[] = [];
    const { shell } = connect({
      handlers: {
        intent: (call) => {
          calls.push(call);
          void call.signal;
          if (calls.length === 2) began.resolve();
          return new Promise(() => {});
        },
      },
    });
    await shell.send(request());
    await shell.send(request({}, { request_id: "r1" }));
    await began.promise;
    const gone = new Promise((resolve) => calls[0]?.signal.addEventListener("abort", resolve));
    await shell.close();
    await gone;
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  it("is not read while too much of it is pending", async () => {
    const open = createDeferred<void>();
    let begun = 0;
    const { shell, count, engine } = connect({
      limits: { maxPendingPerChannel: 3 },
      handlers: {
        intent: async () => {
          begun++;
          await open.promise;
        },
      },
    });
    for (let index = 0; index < 10; index++) void shell.send(request({}, { request_id: `r${index}` }));
    await expect.poll(() => begun).toBe(3);
    await nextTurn();
    expect([begun, engine.stats().inFlight]).toEqual([3, 3]);
    open.resolve();
    expect(codes(await count(10))).toEqual(Array.from({ length: 10 }, () => "success"));
  });

  it("that sends no more gets what is pending, and then the end", async () => {
    const open = createDeferred<void>();
    const handlers = { intent: () => open.promise.then(() => [say("late")]) };
    const { shell, clientWire, count, engine } = connect({ handlers });
    await shell.send(request({}, { request_id: "r1" }));
    await expect.poll(() => engine.stats().inFlight).toBe(1);
    clientWire.end();
    open.resolve();
    expect(codes(await count(1))).toEqual(["success"]);
    await shell.closed;
  });

  it("gets its answers, and then the end, where the engine is closed", async () => {
    const began = createDeferred<void>();
    const handlers = {
      intent: () => {
        began.resolve();
        return new Promise<never>(() => {});
      },
    };
    const { shell, count, engine } = connect({ handlers });
    await shell.send(request({}, { request_id: "r1" }));
    await began.promise;
    await engine.close();
    expect(codes(await count(1))).toEqual(["cancelled"]);
    expect((await shell.closed).error).toBeUndefined();
    const late = createMemoryPair();
    expect(() => engine.connect(late.server)).toThrow(expect.objectContaining({ code: "connection_closed" }));
  });
});
