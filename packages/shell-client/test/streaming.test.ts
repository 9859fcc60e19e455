import { createShellEngine } from "@harnesskit/shell-engine";
import { createHttpExchange as createFetchExchange } from "@harnesskit/transport-http";
import { createHttpExchange, createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createMemoryTransport } from "@harnesskit/wire/testing";
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

  it("has its response by its request after its connection was cut, and no more previews", async () => {
    const { intent, began, end } = led();
    const { engine, calls } = streamingEngine(intent);
    const served = await serve(engine);
    const { shell, shown, text, types } = streamingShell({ engine: engineAt(served) });
    const sent = shell.send({ intent: "go" });
    const { stream } = await began;
    stream.text("one ");
    await expect.poll(text).toBe("one ");
    served.cut();
    await expect.poll(types).toEqual(["opened", "text", "ended"]);
    stream.text("two");
    end();
    const outcome = await sent;
    expect([outcome.status, text(), shown]).toEqual(["success", "one ", ["the answer"]]);
    expect(types()).toEqual(["opened", "text", "ended"]);
    expect(calls).toHaveLength(1);
    expect(served.connections()).toBeGreaterThan(1);
  });

  it("is cancelled with the call, and not with the client", async () => {
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

  it("is not asked for where the exchange has none, and is not declared by hand", async () => {
    const sent: unknown[] = [];
    const { shell } = streamingShell({
      engine: {
        handle: async (message) => {
          sent.push((message as { capabilities: unknown }).capabilities);
          return { protocol_version: "1.0.0", response: { status: "success" } };
        },
      },
    });
    await shell.send({ intent: "go" });
    expect(sent[0]).not.toHaveProperty(["openharness.streaming"]);
    const engine = createShellEngine({ handlers: {} });
    expect(() => createShellClient({ engine, onStream: 1 as never })).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });

  it("is tried again as often as retry says where it breaks off", async () => {
    const asked: string[] = [];
    const response = { protocol_version: "1.0.0", response: { status: "success" } };
    async function* broken(request_id: string) {
      yield { stream_id: "s", seq: 0, type: "opened", request_id, version: 1 };
    }
    const engineWith = (attempts: number): EngineEndpoint =>
      ({
        handle: async () => response,
        handleStream: async ({ request_id }: { request_id: string }) => {
          asked.push(request_id);
          return asked.length < attempts ? broken(request_id) : response;
        },
      }) as EngineEndpoint;
    const { shell, types } = streamingShell({ engine: engineWith(3) });
    expect((await shell.send({ intent: "go" })).status).toBe("success");
    expect([asked.length, new Set(asked).size]).toEqual([3, 1]);
    expect(types()).toEqual(["opened", "ended", "opened", "ended"]);
    const other = streamingShell({ engine: engineWith(99), retry: { maxAttempts: 2, initialDelayMs: 1 } });
    expect(failureOf(await other.shell.send({ intent: "go" })).code).toBe("engine_unreachable");
  });

  it("drops frames of streams that it does not read, and those that are no frames", async () => {
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
          await frame(1, { type: "text", message_id: "1", delta: "twice" });
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

  it("that was given up may send on, and the other calls of its channel go on", async () => {
    const { transport, listener } = createMemoryTransport();
    const requests: { request_id: string }[] = [];
    let send = async (_message: unknown): Promise<void> => {};
    await listener.listen((channel) => {
      send = (message) => channel.send(message);
      channel.start({
        message: (message) => void requests.push(message as { request_id: string }),
        error: () => {},
        close: () => {},
      });
    });
    const { shell, types } = streamingShell({ engine: transport, retry: { maxAttempts: 1 } });
    const giveUp = new AbortController();
    const [first, second] = [
      shell.send({ intent: "one", signal: giveUp.signal }),
      shell.send({ intent: "two" }),
    ];
    await expect.poll(() => requests.length).toBe(2);
    const [one, two] = requests.map(({ request_id }) => request_id);
    await send({ stream_id: "s", seq: 0, type: "opened", request_id: one, version: 1 });
    await expect.poll(types).toEqual(["opened"]);
    giveUp.abort();
    expect(failureOf(await first).code).toBe("cancelled");
    for (let seq = 1; seq <= 1500; seq++)
      await send({ stream_id: "s", seq, type: "text", message_id: "1", delta: "x" });
    await send({ protocol_version: "1.0.0", request_id: two, response: { status: "success" } });
    expect(await second).toMatchObject({ status: "success" });
  });
});
