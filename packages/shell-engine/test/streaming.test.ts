import { verifies } from "@harnesskit/conformance/verifies";
import {
  type ShellResponse,
  type StreamFrame,
  StreamFrameSchema,
  streamingCapability,
} from "@harnesskit/protocol/openharness";
import {
  createDeferred,
  isMessageStream,
  type MessageStream,
  newlineCodec,
  type StreamedMessage,
} from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createShellEngine,
  type ShellCall,
  type ShellEngine,
  type ShellEngineOptions,
} from "../src/index.ts";
import { able, codeOf, messagesOf, request, say, TestClock } from "./support.ts";

const capabilities = { ...able, "openharness.streaming": streamingCapability };
const streamed = (context: object = {}, fields: object = {}) =>
  request({ user_intent: "hi", ...context }, { request_id: "r1", capabilities, ...fields });

const engineOf = (
  intent: (call: ShellCall) => unknown,
  options: Partial<ShellEngineOptions> = {},
): ShellEngine =>
  createShellEngine({
    handlers: { intent: intent as () => undefined },
    capabilities: { "openharness.streaming": true },
    ...options,
  });

const me = { principal: "me" };
type Reader = AsyncIterableIterator<StreamedMessage>;

const open = async (engine: ShellEngine, message: unknown = streamed(), context: unknown = me) => {
  const answer = await engine.handleStream(message, context);
  expect(isMessageStream(answer)).toBe(true);
  return answer as Reader;
};

const take = async (reader: Reader, count = Number.POSITIVE_INFINITY): Promise<StreamFrame[]> => {
  const frames: StreamFrame[] = [];
  while (frames.length < count) {
    const { done, value } = await reader.next();
    if (done) break;
    frames.push(StreamFrameSchema.parse(JSON.parse(JSON.stringify(value.message))));
  }
  return frames;
};

const textOf = (frames: readonly StreamFrame[]) =>
  frames.map((frame) => (frame.type === "text" ? frame.delta : "")).join("");
const idOf = ([first]: readonly StreamFrame[]) => first?.stream_id ?? "";
const errorOf = (frames: readonly StreamFrame[]) =>
  frames.map((frame) => (frame.type === "error" ? frame.error.code : frame.type));
const responseOf = (frames: readonly StreamFrame[]): ShellResponse => {
  const last = frames.at(-1);
  expect(last?.type).toBe("end");
  return (last?.type === "end" ? last.response : undefined) as unknown as ShellResponse;
};
const resume = (stream_id: string, after_seq?: number, more: object = {}) => ({
  type: "stream.resume",
  stream_id,
  session_id: "s1",
  ...(after_seq !== undefined && { after_seq }),
  ...more,
});

/** A handler that says one letter for each call of `go`, and ends at `end`. */
const stepwise = () => {
  const began = createDeferred<ShellCall>();
  const end = createDeferred<void>();
  const handle = async (call: ShellCall) => {
    began.resolve(call);
    await end.promise;
    return [say("done")];
  };
  return { handle, began: began.promise, end: () => end.resolve() };
};

describe("an engine that offers streams", () => {
  it("numbers the frames from 0, from opened to end, with an id that differs each time", async () => {
    verifies("OH-87");
    const engine = engineOf(({ stream }) => {
      stream.text("Hel");
      stream.text("lo");
      stream.progress("d1", { message: "half", fraction: 0.5, actionType: "render_ui" });
      stream.text("!", "second");
      return [say("Hello")];
    });
    const frames = await take(await open(engine));
    expect(frames).toMatchObject([
      { seq: 0, type: "opened", request_id: "r1", version: 1 },
      { seq: 1, type: "text", delta: "Hello" },
      { seq: 2, type: "progress", directive_id: "d1", state: "running", fraction: 0.5, message: "half" },
      { seq: 3, type: "text", message_id: "second", delta: "!" },
      { seq: 4, type: "end" },
    ]);
    const others = await take(await open(engine, streamed({}, { request_id: "r2" })));
    expect(idOf(frames)).toMatch(/^stream_.{20,}/);
    expect(idOf(others)).not.toBe(idOf(frames));
  });

  it("ends with the response that the request gets without a stream, byte for byte", async () => {
    verifies("OH-88");
    const intent = ({ stream, intent }: ShellCall) => {
      stream.text("a preview of something else");
      if (intent === "fail") throw new Error("no");
      return { directives: [say("Hello")], extensions: { "com.example": { a: 1 } } };
    };
    for (const user_intent of ["hi", "fail"]) {
      const make = () => engineOf(intent, { clock: new TestClock() });
      const message = streamed({ user_intent });
      const plain = JSON.stringify(await make().handle(message, me));
      const reader = await open(make(), message);
      let last: unknown;
      for await (const { message } of reader) last = message;
      expect(JSON.stringify(last)).toContain(`"response":${plain}}`);
    }
  });

  it("gives every other shell what an engine without streams does, byte for byte", async () => {
    verifies("OH-86", "OH-69");
    const intent = ({ stream }: ShellCall) => {
      stream.text("unseen");
      return [say(`open: ${stream.isOpen}`)];
    };
    const clock = new TestClock();
    const others = [undefined, able, { ...able, "openharness.streaming": false }, { "com.example.x": 1 }];
    for (const declared of others) {
      const message = streamed({}, { capabilities: declared });
      const without = createShellEngine({ handlers: { intent }, clock });
      const expected = JSON.stringify(await without.handle(message, me));
      const engine = engineOf(intent, { clock });
      expect(JSON.stringify(await engine.handle(message, me))).toBe(expected);
      expect(JSON.stringify(await engineOf(intent, { clock }).handleStream(message, me))).toBe(expected);
    }
  });

  it("denies streams to a shell that does not name the profile and its version, and says which it has", async () => {
    verifies("OH-86", "OH-69");
    const engine = engineOf(() => [say("x")]);
    const asked = [true, "1", {}, { profile: "com.example", versions: [1] }];
    for (const [index, value] of [...asked, { ...streamingCapability, versions: [2] }].entries()) {
      const fields = { request_id: `r${index}`, capabilities: { "openharness.streaming": value } };
      const answer = (await engine.handleStream(streamed({}, fields), me)) as ShellResponse;
      expect(answer.capability_denials).toMatchObject([
        { capability: "openharness.streaming", code: "profile_unsupported" },
      ]);
      expect(answer.capability_denials?.[0]?.message).toContain("dev.harnesskit.stream in version 1");
      expect(answer.supported_capabilities).not.toHaveProperty(["openharness.streaming"]);
    }
  });

  it("answers without a stream where the request has no id, is not valid, or was answered before", async () => {
    const engine = engineOf(() => [say("x")]);
    const plain = async (message: unknown) =>
      codeOf((await engine.handleStream(message, me)) as ShellResponse);
    expect(await plain(streamed({}, { request_id: undefined }))).toBe("success");
    expect(await plain({ protocol_version: "1.0.0" })).toBe("invalid_request");
    expect(responseOf(await take(await open(engine))).response.status).toBe("success");
    expect(await plain(streamed())).toBe("success");
  });

  it("cannot offer them in another way than this package has them", () => {
    const offer = () => engineOf(() => [], { capabilities: { "openharness.streaming": { versions: [9] } } });
    expect(offer).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });

  it("refuses what a handler passes that cannot be a frame, with and without a stream", async () => {
    const wrong: ((call: ShellCall) => void)[] = [
      ({ stream }) => stream.text(1 as never),
      ({ stream }) => stream.text("x", ""),
      ({ stream }) => stream.progress("x".repeat(129)),
      ({ stream }) => stream.progress("d", { fraction: 1.5 }),
      ({ stream }) => stream.progress("d", { state: "maybe" as never }),
      ({ stream }) => stream.progress("d", { message: 1 as never }),
    ];
    for (const intent of wrong) {
      const errors: unknown[] = [];
      const options = { onError: (error: unknown) => errors.push(error) };
      expect(codeOf(await engineOf(intent, options).handle(streamed(), me))).toBe("internal_error");
      expect(codeOf(responseOf(await take(await open(engineOf(intent, options)))))).toBe("internal_error");
      expect(errors).toEqual([
        expect.objectContaining({ code: "invalid_argument" }),
        expect.objectContaining({ code: "invalid_argument" }),
      ]);
    }
  });
});

describe("a stream that is resumed", () => {
  it("goes on behind the last frame that arrived, while the handler works and after its end", async () => {
    verifies("OH-89");
    const { handle, began, end } = stepwise();
    const engine = engineOf(handle);
    const first = await open(engine);
    const { stream } = await began;
    stream.text("one ");
    const before = await take(first, 2);
    await first.return?.();
    stream.text("two ");
    const second = await open(engine, resume(idOf(before), 1));
    const middle = await take(second, 1);
    stream.text("three");
    await second.return?.();
    end();
    const context = { ...me, headers: { "last-event-id": "2" } };
    const rest = await take(await open(engine, resume(idOf(before)), context));
    const all = [...before, ...middle, ...rest];
    expect(all.map((frame) => (frame.type === "error" ? -1 : frame.seq))).toEqual([0, 1, 2, 3, 4]);
    expect(textOf(all)).toBe("one two three");
    expect(messagesOf(responseOf(all))).toEqual(["done"]);
    // From the beginning once more: each frame as it was.
    expect(await take(await open(engine, resume(idOf(before), 0)))).toEqual(all.slice(1));
  });

  it("says that frames are gone, and still has the response", async () => {
    verifies("OH-90");
    const { handle, began, end } = stepwise();
    const engine = engineOf(handle, { limits: { maxStreamFrames: 4 } });
    const reader = await open(engine);
    const [opened] = await take(reader, 1);
    const { stream } = await began;
    for (let index = 0; index < 20; index++) stream.progress(`d${index}`);
    // The reader has fallen behind, and is told once.
    expect(errorOf(await take(reader, 1))).toEqual(["frames_dropped"]);
    await reader.return?.();
    const late = await open(engine, resume(idOf([opened as StreamFrame]), 3));
    expect(errorOf(await take(late, 1))).toEqual(["frames_dropped"]);
    end();
    expect(messagesOf(responseOf(await take(late)))).toEqual(["done"]);
  });

  it("has one reader: the one before is told who reads now, and gets no end", async () => {
    const { handle, end } = stepwise();
    const engine = engineOf(handle);
    const first = await open(engine);
    const opened = await take(first, 1);
    const { signal } = first as MessageStream;
    expect(signal?.aborted).toBe(false);
    const second = await open(engine, resume(idOf(opened), 0));
    // A transport whose client reads nothing cuts it off.
    expect([signal?.aborted, (second as MessageStream).signal?.aborted]).toEqual([true, false]);
    expect(errorOf(await take(first))).toEqual(["stream_taken"]);
    end();
    expect(errorOf(await take(second))).toEqual(["end"]);
  });

  it("is forgotten when it was not read for a time; its request still has the response", async () => {
    verifies("OH-91");
    const clock = new TestClock();
    const { handle, end } = stepwise();
    const engine = engineOf(handle, { clock, limits: { streamIdleMs: 1_000, handlerTimeoutMs: 60_000 } });
    const reader = await open(engine);
    const opened = await take(reader, 1);
    await reader.return?.();
    clock.move(999);
    expect(engine.stats().streams).toBe(1);
    clock.move(1);
    expect(engine.stats().streams).toBe(0);
    const late = await open(engine, resume(idOf(opened), 0));
    expect(errorOf(await take(late))).toEqual(["unknown_stream"]);
    end();
    expect(messagesOf(await engine.handle(streamed(), me))).toEqual(["done"]);
  });
});

describe("a message about a stream", () => {
  it("of another session or credential finds nothing, as one that was never there", async () => {
    verifies("OH-91");
    const { handle, end } = stepwise();
    const engine = engineOf(handle);
    const reader = await open(engine);
    const id = idOf(await take(reader, 1));
    const asked: [unknown, unknown][] = [
      [resume(id, 0), { principal: "another" }],
      [resume(id, 0, { session_id: "s2" }), me],
      [resume(id, 0, { session_id: undefined }), me],
      [resume(id, 0, { auth: { tenant_id: "t" } }), me],
      [{ ...resume(id, 0), type: "stream.cancel" }, { principal: "another" }],
      [resume("stream_forged", 0), me],
      [resume("__proto__", 0), me],
    ];
    const answers = new Set<string>();
    for (const [message, context] of asked) {
      const [frame, ...more] = await take(await open(engine, message, context));
      expect(more).toEqual([]);
      answers.add(JSON.stringify(frame?.type === "error" ? frame.error : frame));
    }
    expect([...answers]).toEqual([expect.stringContaining('"unknown_stream"')]);
    end();
    expect(errorOf(await take(reader))).toEqual(["end"]);
  });

  it("that is not valid gets an error, and the stream goes on", async () => {
    verifies("OH-94");
    const { handle, end } = stepwise();
    const engine = engineOf(handle, { limits: { maxIdLength: 64 } });
    const reader = await open(engine);
    const id = idOf(await take(reader, 1));
    const wrong = [
      ...[-1, 1, 1.5, 2 ** 53, 1e308, "0", null].map((seq) => resume(id, seq as number)),
      resume(id),
      resume("x".repeat(65), 0),
      { type: "stream.resume" },
      { type: "stream.other", stream_id: id },
      { type: "stream.resume", stream_id: { toString: 1 } },
      resume(id, 0, { auth: "x" }),
      resume(id, 0, { deep: JSON.parse(`${"[".repeat(90)}${"]".repeat(90)}`) }),
    ];
    for (const message of wrong) {
      const [frame] = await take(await open(engine, message));
      expect([message, frame?.type === "error" && frame.error.code]).toEqual([message, "invalid_request"]);
    }
    for (const value of ["1", "-1", "99999999999999999", "x", "0x0"]) {
      const context = { ...me, headers: { "last-event-id": value } };
      expect(errorOf(await take(await open(engine, resume(id), context)))).toEqual(["invalid_request"]);
    }
    end();
    expect(errorOf(await take(reader))).toEqual(["end"]);
  });

  it("that cancels ends the work; another one, and one after the end, changes nothing", async () => {
    verifies("OH-92");
    const aborted = createDeferred<unknown>();
    let runs = 0;
    const engine = engineOf(({ signal, stream }) => {
      runs++;
      stream.text("begun");
      signal.addEventListener("abort", () => aborted.resolve(signal.reason));
      return new Promise(() => {});
    });
    const reader = await open(engine);
    const id = idOf(await take(reader, 2));
    const cancel = { type: "stream.cancel", stream_id: id, session_id: "s1" };
    expect(await engine.handleStream(cancel, me)).toBeUndefined();
    expect(await aborted.promise).toMatchObject({ code: "request_cancelled" });
    const { response } = responseOf(await take(reader));
    expect(response.error).toMatchObject({ code: "cancelled", retryable: false });
    expect(await engine.handleStream(cancel, me)).toBeUndefined();
    // As long as the work goes on, the same request is not begun again. What does not end still holds its place.
    expect(codeOf(await engine.handle(streamed(), me))).toBe("cancelled");
    expect([runs, engine.stats().inFlight]).toEqual([1, 1]);
  });

  it("that cancels lets the same request be made again, once its work has ended", async () => {
    verifies("OH-92");
    let runs = 0;
    const engine = engineOf(async ({ signal, stream }) => {
      if (++runs > 1) return [say("again")];
      stream.text("begun");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return [say("too late")];
    });
    const reader = await open(engine);
    const id = idOf(await take(reader, 2));
    await engine.handleStream({ type: "stream.cancel", stream_id: id, session_id: "s1" }, me);
    expect(codeOf(responseOf(await take(reader)))).toBe("cancelled");
    await expect.poll(() => engine.stats().inFlight).toBe(0);
    expect(messagesOf(responseOf(await take(await open(engine))))).toEqual(["again"]);
    expect(messagesOf(await engine.handle(streamed(), me))).toEqual(["again"]);
    expect(runs).toBe(2);
  });

  it("is refused, and streams end, when the engine closes", async () => {
    const { handle } = stepwise();
    const engine = engineOf(handle);
    const reader = await open(engine);
    const id = idOf(await take(reader, 1));
    await engine.close();
    expect(codeOf(responseOf(await take(reader)))).toBe("cancelled");
    expect(errorOf(await take(await open(engine, resume(id, 0))))).toEqual(["cancelled"]);
  });
});

describe("what is kept of streams", () => {
  it("is bounded while the reader does not read: text is joined, and the oldest frames go", async () => {
    verifies("OH-93");
    const { handle, began, end } = stepwise();
    const limits = { maxStreamLength: 10_000, maxFrameLength: 1_000 };
    const engine = engineOf(handle, { limits });
    const reader = await open(engine);
    await take(reader, 1);
    const { stream } = await began;
    for (let index = 0; index < 2_000; index++) stream.text("some text ");
    end();
    const frames = await take(reader);
    expect(errorOf(frames)).toEqual(["frames_dropped", "end"]);
    // A reader that keeps up with as much gets all of it in few frames.
    const quick = stepwise();
    const other = engineOf(quick.handle);
    const all = await open(other);
    const call = await quick.began;
    for (let index = 0; index < 2_000; index++) call.stream.text("some text ");
    quick.end();
    const got = await take(all);
    expect(textOf(got)).toBe("some text ".repeat(2_000));
    expect(got.length).toBeLessThan(6);
  });

  it("is bounded for each credential, and beyond that a request is answered without a stream", async () => {
    verifies("OH-93");
    const { handle, end } = stepwise();
    const engine = engineOf(handle, { limits: { maxStreamsPerOwner: 2, maxStreams: 3 } });
    const ask = (id: string, principal = "me") =>
      engine.handleStream(streamed({}, { request_id: id }), { principal });
    const readers = [await ask("r1"), await ask("r2"), await ask("r3", "you")];
    const more = [ask("r4"), ask("r5", "they")];
    expect(engine.stats().streams).toBe(3);
    end();
    for (const answer of (await Promise.all(more)) as ShellResponse[]) {
      expect(answer.capability_denials).toMatchObject([
        { capability: "openharness.streaming", code: "too_many_streams" },
      ]);
      expect(answer.supported_capabilities).not.toHaveProperty(["openharness.streaming"]);
      expect(messagesOf(answer)).toEqual(["done"]);
    }
    for (const reader of readers) await take(reader as Reader);
    // Those that have ended make room.
    expect(errorOf(await take((await ask("r6")) as Reader))).toEqual(["opened", "end"]);
  });

  it("is bounded for all streams together", async () => {
    verifies("OH-93");
    const engine = engineOf(
      ({ stream, intent }) => {
        stream.text("x".repeat(1_000));
        return [say(intent ?? "")];
      },
      { limits: { maxStreamsLength: 5_000 } },
    );
    const ids: string[] = [];
    for (let index = 0; index < 10; index++) {
      const reader = await open(engine, streamed({}, { request_id: `r${index}` }));
      ids.push(idOf(await take(reader)));
    }
    expect(engine.stats().streams).toBeLessThan(5);
    const of = async (id: string) => errorOf(await take(await open(engine, resume(id, 0))));
    expect([await of(ids[0] ?? ""), (await of(ids[9] ?? "")).at(-1)]).toEqual([["unknown_stream"], "end"]);
  });

  it("is taken from the longest streams where all together are too long", async () => {
    verifies("OH-93");
    const limits = { maxStreamsLength: 20_000, maxFrameLength: 1_000 };
    const ends = [stepwise(), stepwise(), stepwise()];
    const calls: Record<string, (typeof ends)[number] | undefined> = {
      a: ends[0],
      b: ends[1],
      small: ends[2],
    };
    const engine = engineOf((call) => calls[call.intent ?? ""]?.handle(call), { limits });
    const ask = (id: string, principal: string) =>
      open(engine, streamed({ user_intent: id }, { request_id: id }), { principal });
    const long = [await ask("a", "they"), await ask("b", "they")];
    const small = await ask("small", "me");
    const [a, b, mine] = await Promise.all(ends.map(({ began }) => began));
    for (let index = 0; index < 12; index++) {
      a?.stream.text("x".repeat(1_000), `a${index}`);
      b?.stream.text("x".repeat(1_000), `b${index}`);
    }
    for (let index = 0; index < 12; index++) mine?.stream.text("mine ", `m${index}`);
    for (const { end } of ends) end();
    const frames = await take(small);
    expect([textOf(frames), errorOf(frames).at(-1)]).toEqual(["mine ".repeat(12), "end"]);
    for (const reader of long) expect(errorOf(await take(reader))).toEqual(["frames_dropped", "end"]);
  });
});

describe("streams on a channel", () => {
  const connect = (engine: ShellEngine, maxFrameBytes = 1_000_000) => {
    const { client, server } = createMemoryPair({
      codec: newlineCodec({ maxFrameBytes }),
      serverContext: me,
    });
    engine.connect(server);
    const received: (StreamFrame | ShellResponse)[] = [];
    client.start({
      message: (message) => void received.push(message as StreamFrame),
      error: () => {},
      close: () => {},
    });
    const frames = async (isThere: (frames: StreamFrame[]) => boolean) => {
      await expect.poll(() => isThere(received as StreamFrame[])).toBe(true);
      return received as StreamFrame[];
    };
    return { client, received, frames };
  };
  const hasEnd = (frames: StreamFrame[]) => frames.some(({ type }) => type === "end");

  it("go beside ordinary responses, each in its order, and are resumed on another one", async () => {
    verifies("OH-87", "OH-89", "OH-92");
    const { handle, began, end } = stepwise();
    const engine = engineOf((call) => (call.intent === "now" ? [say("now")] : handle(call)));
    const one = connect(engine);
    await one.client.send(streamed());
    const { stream } = await began;
    stream.text("a");
    await one.frames((frames) => textOf(frames) === "a");
    await one.client.send(request({ user_intent: "now" }, { request_id: "r2" }));
    await expect.poll(() => one.received.some((message) => "protocol_version" in message)).toBe(true);
    await one.client.close();
    stream.text("b");
    const two = connect(engine);
    await two.client.send(
      resume(one.received[0] && "stream_id" in one.received[0] ? one.received[0].stream_id : "", 1),
    );
    end();
    expect(textOf(await two.frames(hasEnd))).toBe("b");
    await two.client.close();
  });

  it("leave the channel open for messages about them, however many there are", async () => {
    verifies("OH-92");
    const warnings: unknown[] = [];
    const warn = (warning: unknown) => warnings.push(warning);
    process.on("warning", warn);
    onTestFinished(() => void process.off("warning", warn));
    const { handle, end } = stepwise();
    let aborted = 0;
    const engine = engineOf(
      ({ signal, ...call }) => {
        signal.addEventListener("abort", () => aborted++);
        return handle({ signal, ...call } as ShellCall);
      },
      { limits: { maxPendingPerChannel: 4 } },
    );
    const { client, frames } = connect(engine);
    const opened = (many: StreamFrame[]) => many.filter(({ type }) => type === "opened");
    for (let index = 0; index < 16; index++) {
      await client.send(streamed({}, { request_id: `r${index}` }));
    }
    const all = opened(await frames((many) => opened(many).length === 16));
    for (const { stream_id } of all) await client.send(resume(stream_id, 0));
    for (const { stream_id } of all.slice(0, 8)) {
      await client.send({ type: "stream.cancel", stream_id, session_id: "s1" });
    }
    const ends = (many: StreamFrame[]) => many.filter(({ type }) => type === "end");
    await frames((many) => ends(many).length === 8);
    expect(aborted).toBe(8);
    end();
    await frames((many) => ends(many).length === 16);
    expect(warnings).toEqual([]);
    // What is under way ends before the channel closes.
    await client.send(streamed({}, { request_id: "last" }));
    await frames((many) => opened(many).length === 17);
    await engine.close();
    await frames((many) => ends(many).length === 17);
  });

  it("end with an error where the channel cannot carry the response", async () => {
    const engine = engineOf(() => [say("x".repeat(100_000))]);
    const { client, frames } = connect(engine, 10_000);
    await client.send(streamed());
    expect(codeOf(responseOf(await frames(hasEnd)))).toBe("internal_error");
    await client.close();
  });

  it("are not taken by a message that an engine without streams would refuse", async () => {
    const engine = createShellEngine({ handlers: { intent: () => [] } });
    const { client, received } = connect(engine);
    await client.send(resume("stream_x", 0));
    await expect.poll(() => received.length).toBe(1);
    expect(codeOf(received[0] as ShellResponse)).toBe("invalid_request");
    await client.close();
  });
});
