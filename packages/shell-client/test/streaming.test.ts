import { verifies } from "@harnesskit/conformance/verifies";
import { createShellEngine } from "@harnesskit/shell-engine";
import { createHttpExchange as createFetchExchange } from "@harnesskit/transport-http";
import { createHttpExchange, createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createFaultyTransport, createMemoryTransport } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createShellClient, type EngineEndpoint } from "../src/index.ts";
import { led, serve, streamingEngine, streamingShell, token } from "./streaming-support.ts";
import { failureOf, manualClock, outcomesOf, say } from "./support.ts";

const credentials = { bearer: token };

type Served = Awaited<ReturnType<typeof serve>>;
const ways: Readonly<Record<string, (served: Served) => EngineEndpoint>> = {
  "server-sent events": ({ url }) => {
    const exchange = createHttpExchange({ url, credentials });
    onTestFinished(() => exchange.close());
    return exchange;
  },
  "server-sent events of fetch": ({ url }) => createFetchExchange({ url, credentials }),
  "a WebSocket": ({ webSocketUrl: url }) => createWebSocketTransport({ url, credentials }),
};

describe.each(Object.entries(ways))("a stream over %s", (_, engineAt) => {
  it("shows previews as they come, and carries out nothing before the response", async () => {
    verifies("OH-95", "OH-87");
    const { intent, began, end } = led();
    const { engine } = streamingEngine(intent);
    const { shell, events, shown, types } = streamingShell({ engine: engineAt(await serve(engine)) });
    const sent = shell.send({ intent: "go" });
    const { stream, requestId } = await began;
    stream.text("the an");
    stream.progress("card", { actionType: "render_ui", fraction: 0.25, message: "drawing" });
    await expect.poll(types).toEqual(["opened", "text", "progress"]);
    expect(events.slice(1)).toEqual([
      { requestId, type: "text", messageId: "1", delta: "the an" },
      {
        requestId,
        type: "progress",
        directiveId: "card",
        state: "running",
        actionType: "render_ui",
        fraction: 0.25,
        message: "drawing",
      },
    ]);
    expect(shown).toEqual([]);
    end();
    expect((await sent).status).toBe("success");
    expect([types().at(-1), shown]).toEqual(["ended", ["the answer"]]);
  });

  it("goes on after its connection was cut, and the response comes once", async () => {
    verifies("OH-96", "OH-97");
    const { intent, began, end } = led();
    const { engine, calls } = streamingEngine(intent);
    const served = await serve(engine);
    const { shell, shown, text, types } = streamingShell({ engine: engineAt(served) });
    const sent = shell.send({ intent: "go" });
    const { stream } = await began;
    let said = "";
    for (const word of ["one ", "two ", "three ", "four "]) {
      stream.text(word);
      said += word;
      await expect.poll(text).toBe(said);
      served.cut();
    }
    end();
    const outcome = await sent;
    expect([outcome.status, text(), shown]).toEqual(["success", said, ["the answer"]]);
    expect(types().filter((type) => type !== "text")).toEqual(["opened", "ended"]);
    expect(calls).toHaveLength(1);
    expect(served.connections()).toBeGreaterThan(1);
  });

  it("that is lost still has its response, by its request", async () => {
    verifies("OH-97");
    const clock = manualClock();
    const { intent, began, end } = led();
    const { engine, calls } = streamingEngine(intent, { clock, limits: { streamIdleMs: 1 } });
    const served = await serve(engine);
    const retry = { initialDelayMs: 20, maxAttempts: 20 };
    const { shell, shown, types } = streamingShell({ engine: engineAt(served), retry, reconnect: retry });
    const sent = shell.send({ intent: "go" });
    const { stream } = await began;
    stream.text("gone");
    await expect.poll(types).toContain("text");
    // The engine forgets the stream before the shell is back.
    served.block(true);
    served.cut();
    const streams = () => {
      clock.advance(1);
      return engine.stats().streams;
    };
    await expect.poll(streams).toBe(0);
    served.block(false);
    await expect.poll(types, { timeout: 10_000 }).toContain("lost");
    end();
    expect((await sent).status).toBe("success");
    expect([shown, types().at(-1), calls.length]).toEqual([["the answer"], "ended", 1]);
  });

  it("is cancelled with the call, and not with the client", async () => {
    verifies("OH-92");
    const first = led();
    const { engine, calls } = streamingEngine(first.intent);
    const served = await serve(engine);
    const { shell, types } = streamingShell({ engine: engineAt(served) });
    const giveUp = new AbortController();
    const sent = shell.send({ intent: "go", signal: giveUp.signal });
    const { signal } = await first.began;
    await expect.poll(types).toEqual(["opened"]);
    giveUp.abort();
    expect(failureOf(await sent).code).toBe("cancelled");
    await expect.poll(() => signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ code: "request_cancelled" });
    const again = shell.send({ intent: "again" });
    await expect.poll(() => calls.length).toBe(2);
    await expect.poll(types).toEqual(["opened", "ended", "opened"]);
    await shell.close();
    expect(failureOf(await again).code).toBe("closed");
    await expect.poll(() => calls[1]?.signal.aborted).toBe(false);
    first.end();
  });

  it("is not asked for without onStream, and not given by an engine without it", async () => {
    verifies("OH-98", "OH-70");
    const { engine, calls } = streamingEngine(({ stream }) => [say(`open: ${stream.isOpen}`)]);
    const plain = streamingShell({ engine: engineAt(await serve(engine)), reads: false });
    expect((await plain.shell.send({ intent: "go" })).denials).toEqual([]);
    expect([plain.shown, plain.types()]).toEqual([["open: false"], []]);
    expect(calls[0]?.shellCapabilities).not.toHaveProperty(["openharness.streaming"]);
    const without = streamingEngine(({ stream }) => [say(`open: ${stream.isOpen}`)], { capabilities: {} });
    const asks = streamingShell({ engine: engineAt(await serve(without.engine)) });
    const outcome = await asks.shell.send({ intent: "go" });
    expect(outcome.denials).toMatchObject([{ capability: "openharness.streaming", code: "not_supported" }]);
    expect([outcomesOf(outcome), asks.shown, asks.types()]).toEqual([["done"], ["open: false"], []]);
  });

  it("fails as the request does", async () => {
    const { engine } = streamingEngine(({ stream }) => {
      stream.text("about to");
      throw new Error("no");
    });
    const { shell, types } = streamingShell({ engine: engineAt(await serve(engine)) });
    const outcome = await shell.send({ intent: "go" });
    expect([outcome.error?.code, types().at(-1)]).toEqual(["internal_error", "ended"]);
  });
});

describe("a stream", () => {
  it("waits for its next frame as long as for a response, and no longer", async () => {
    const clock = manualClock();
    const { intent, began } = led();
    const { engine } = streamingEngine(intent);
    const options = { engine, clock, timeoutMs: 1_000, retry: { maxAttempts: 1 } };
    const { shell, types } = streamingShell(options);
    const sent = shell.send({ intent: "go" });
    const { stream, signal } = await began;
    for (let count = 1; count < 5; count++) {
      stream.progress("d");
      await expect.poll(() => types().length).toBe(count + 1);
      clock.advance(900);
    }
    clock.advance(100);
    expect(failureOf(await sent).code).toBe("response_timeout");
    expect([types().at(-1), signal.aborted]).toEqual(["ended", false]);
  });

  it("is not asked for where a function takes the requests, and is not declared by hand", async () => {
    verifies("OH-70");
    const sent: unknown[] = [];
    const { shell } = streamingShell({
      engine: async (message) => {
        sent.push(message.capabilities);
        return { protocol_version: "1.0.0", response: { status: "success" } };
      },
    });
    await shell.send({ intent: "go" });
    expect(sent[0]).not.toHaveProperty(["openharness.streaming"]);
    const engine = createShellEngine({ handlers: {} });
    expect(() => createShellClient({ engine, onStream: 1 as never })).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });

  it("is resumed as often in a row as retry says, and each time read", async () => {
    verifies("OH-97");
    for (const [maxAttempts, resumesWithEnd, isLost] of [
      [1, 1, false],
      [3, 3, false],
      [2, 3, true],
    ] as const) {
      let resumes = 0;
      const opened: string[] = [];
      const left: string[] = [];
      const response = { protocol_version: "1.0.0", response: { status: "success" } };
      async function* answer({ type = "request", request_id }: { type?: string; request_id?: string }) {
        try {
          if (type === "request")
            yield { message: { stream_id: "s", seq: 0, type: "opened", request_id, version: 1 } };
          else if (++resumes === resumesWithEnd)
            yield { message: { stream_id: "s", seq: 1, type: "end", response } };
        } finally {
          left.push(type);
        }
      }
      const { shell, types } = streamingShell({
        engine: {
          handle: async () => response,
          handleStream: async (message: object) => {
            opened.push("type" in message ? "stream.resume" : "request");
            return answer(message);
          },
        } as EngineEndpoint,
        retry: { maxAttempts, initialDelayMs: 1 },
      });
      expect((await shell.send({ intent: "go" })).status).toBe("success");
      expect([opened.length, left]).toEqual([1 + maxAttempts, opened]);
      expect(types()).toEqual(isLost ? ["opened", "lost", "ended"] : ["opened", "ended"]);
    }
  });

  it("is resumed once where retry allows one attempt, over a channel too", async () => {
    verifies("OH-97");
    const { intent, began, end } = led();
    const { engine, calls } = streamingEngine(intent);
    const served = await serve(engine);
    const { shell, types, text } = streamingShell({
      engine: createWebSocketTransport({ url: served.webSocketUrl, credentials }),
      retry: { maxAttempts: 1, initialDelayMs: 1 },
    });
    const sent = shell.send({ intent: "go" });
    const { stream } = await began;
    await expect.poll(types).toEqual(["opened"]);
    served.cut();
    stream.text("after the cut");
    await expect.poll(text).toBe("after the cut");
    end();
    expect((await sent).status).toBe("success");
    expect([types(), calls.length]).toEqual([["opened", "text", "ended"], 1]);
  });

  it("reads the answer to its cancellation, so that the connection is free", async () => {
    const left: string[] = [];
    async function* answer(message: object, signal: AbortSignal) {
      const isCancel = "type" in message;
      try {
        if (isCancel) {
          const error = { code: "unknown_stream", retryable: false };
          yield { message: { stream_id: "s", type: "error", error } };
          await new Promise(() => {});
        }
        const { request_id } = message as { request_id: string };
        yield { message: { stream_id: "s", seq: 0, type: "opened", request_id, version: 1 } };
        await new Promise((_, reject) => signal.addEventListener("abort", reject));
      } finally {
        left.push(isCancel ? "cancel" : "request");
      }
    }
    const { shell, types } = streamingShell({
      engine: {
        handle: async () => expect.fail("nothing is asked again"),
        handleStream: async (message: object, { signal }: { signal: AbortSignal }) => answer(message, signal),
      } as EngineEndpoint,
    });
    const giveUp = new AbortController();
    const sent = shell.send({ intent: "go", signal: giveUp.signal });
    await expect.poll(types).toEqual(["opened"]);
    giveUp.abort();
    expect(failureOf(await sent).code).toBe("cancelled");
    await shell.close();
    expect(left.sort()).toEqual(["cancel", "request"]);
  });

  it("drops frames of streams that it does not read, and those that are no frames", async () => {
    verifies("OH-96");
    const codes: string[] = [];
    const { transport, listener } = createMemoryTransport();
    await listener.listen((channel) => {
      channel.start({
        message: async (message) => {
          const { request_id } = message as { request_id: string };
          const frame = (seq: number, more: object, stream_id = "s") =>
            channel.send({ stream_id, seq, ...more });
          await frame(0, { type: "opened", request_id: "another", version: 1 });
          await frame(0, { type: "opened", request_id, version: 2 });
          await frame(0, { type: "opened", request_id, version: 1 });
          await frame(0, { type: "end", response: { status: "forged" } }, "forged");
          await frame(-1, { type: "text", message_id: "1", delta: "no" });
          await frame(1, { type: "text", message_id: "1", delta: 5 });
          await frame(1, { type: "text", message_id: "1", delta: "yes" });
          await frame(2, { type: "of the future", more: true });
          const response = { protocol_version: "1.0.0", request_id, response: { status: "success" } };
          await frame(3, { type: "end", response });
          await frame(3, { type: "end", response });
        },
        error: () => {},
        close: () => {},
      });
    });
    const onDiagnostic = ({ code }: { code: string }) => void codes.push(code);
    const { shell, text, types } = streamingShell({ engine: transport, onDiagnostic });
    expect((await shell.send({ intent: "go" })).status).toBe("success");
    expect([text(), types()]).toEqual(["yes", ["opened", "text", "ended"]]);
    expect(codes).toEqual(expect.arrayContaining(["late_response", "invalid_message"]));
  });

  it("asks for what was lost on a channel, and for nothing twice", async () => {
    verifies("OH-96");
    const { intent, began, end } = led();
    const { engine, calls } = streamingEngine(intent);
    const { transport, listener } = createMemoryTransport();
    await listener.listen((channel) => engine.connect(channel));
    const faults = [1, 3].map((index) => ({ direction: "receive", index, kind: "drop" }) as const);
    const { shell, text, types } = streamingShell({ engine: createFaultyTransport(transport, faults) });
    const sent = shell.send({ intent: "go" });
    const { stream } = await began;
    for (const word of ["a", "b", "c", "d", "e"]) {
      stream.progress(word);
      stream.text(word);
    }
    end();
    expect((await sent).status).toBe("success");
    expect([text(), types().filter((type) => type === "progress").length]).toEqual(["abcde", 5]);
    expect(calls).toHaveLength(1);
  });
});
