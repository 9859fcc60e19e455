import {
  type ShellResponse,
  type StreamFrame,
  StreamFrameSchema,
  streamingCapability,
} from "@harnesskit/protocol/openharness";
import { createDeferred, isMessageStream, newlineCodec } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
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
type Reader = AsyncIterableIterator<unknown>;

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
    frames.push(StreamFrameSchema.parse(JSON.parse(JSON.stringify(value))));
  }
  return frames;
};

const textOf = (frames: readonly StreamFrame[]) =>
  frames.map((frame) => (frame.type === "text" ? frame.delta : "")).join("");
const idOf = ([first]: readonly StreamFrame[]) => first?.stream_id ?? "";
const typesOf = (frames: readonly StreamFrame[]) => frames.map(({ type }) => type);
const responseOf = (frames: readonly StreamFrame[]): ShellResponse => {
  const last = frames.at(-1);
  expect(last?.type).toBe("end");
  return (last?.type === "end" ? last.response : undefined) as unknown as ShellResponse;
};
const cancel = (stream_id: string, more: object = {}) => ({
  type: "stream.cancel",
  stream_id,
  session_id: "s1",
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
    const engine = engineOf(({ stream }) => {
      const { text } = stream;
      text("Hel");
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
      for await (const frame of reader) last = frame;
      expect(JSON.stringify(last)).toContain(`"response":${plain}}`);
    }
  });

  it("gives every other shell what an engine without streams does, byte for byte", async () => {
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
});

it("a stream whose reader has gone ends nothing: the request still has its response", async () => {
  const { handle, began, end } = stepwise();
  const engine = engineOf(handle);
  const reader = await open(engine);
  await take(reader, 1);
  const { stream } = await began;
  await reader.return?.();
  expect(stream.isOpen).toBe(false);
  stream.text("for no reader");
  end();
  expect(messagesOf(await engine.handle(streamed(), me))).toEqual(["done"]);
  expect(messagesOf((await engine.handleStream(streamed(), me)) as ShellResponse)).toEqual(["done"]);
});

describe("a cancellation", () => {
  it("of another session or credential changes nothing, as one of a stream that was never there", async () => {
    const { handle, end } = stepwise();
    const engine = engineOf(handle);
    const reader = await open(engine);
    const id = idOf(await take(reader, 1));
    const asked: [unknown, unknown][] = [
      [cancel(id), { principal: "another" }],
      [cancel(id, { session_id: "s2" }), me],
      [cancel(id, { session_id: undefined }), me],
      [cancel(id, { auth: { tenant_id: "t" } }), me],
      [cancel("stream_forged"), me],
      [cancel("__proto__"), me],
    ];
    for (const [message, context] of asked)
      expect(await engine.handleStream(message, context)).toBeUndefined();
    end();
    expect(messagesOf(responseOf(await take(reader)))).toEqual(["done"]);
  });

  it("that is not valid is refused as a request, and the stream goes on", async () => {
    const { handle, end } = stepwise();
    const engine = engineOf(handle);
    const reader = await open(engine);
    const id = idOf(await take(reader, 1));
    const wrong = [
      { type: "stream.cancel" },
      { type: "stream.other", stream_id: id },
      { type: "stream.cancel", stream_id: { toString: 1 } },
      cancel(id, { auth: "x" }),
      cancel(id, { session_id: 1 }),
    ];
    for (const message of wrong) {
      expect(codeOf((await engine.handleStream(message, me)) as ShellResponse)).toBe("invalid_request");
    }
    end();
    expect(typesOf(await take(reader))).toEqual(["end"]);
  });

  it("that cancels ends the work; another one, and one after the end, changes nothing", async () => {
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
    expect(await engine.handleStream(cancel(id), me)).toBeUndefined();
    expect(await aborted.promise).toMatchObject({ code: "request_cancelled" });
    const { response } = responseOf(await take(reader));
    expect(response.error).toMatchObject({ code: "cancelled", retryable: false });
    expect(await engine.handleStream(cancel(id), me)).toBeUndefined();
    // As long as the work goes on, the same request is not begun again. What does not end still holds its place.
    expect(codeOf(await engine.handle(streamed(), me))).toBe("cancelled");
    expect([runs, engine.stats().inFlight]).toEqual([1, 1]);
  });

  it("that cancels lets the same request be made again, once its work has ended", async () => {
    let runs = 0;
    const engine = engineOf(async ({ signal, stream }) => {
      if (++runs > 1) return [say("again")];
      stream.text("begun");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return [say("too late")];
    });
    const reader = await open(engine);
    const id = idOf(await take(reader, 2));
    await engine.handleStream(cancel(id), me);
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
    expect(codeOf((await engine.handleStream(cancel(id), me)) as ShellResponse)).toBe("cancelled");
  });
});

describe("what waits for the reader of a stream", () => {
  it("is joined and bounded: a slow reader gets the beginning of the previews, and the response", async () => {
    const { handle, began, end } = stepwise();
    const engine = engineOf(handle, { limits: { maxStreamLength: 10_000, maxFrameLength: 1_000 } });
    const reader = await open(engine);
    await take(reader, 1);
    const { stream } = await began;
    for (let index = 0; index < 2_000; index++) stream.text("some text ");
    const some = await take(reader, 2);
    stream.text("this is not a preview any more");
    end();
    const frames = [...some, ...(await take(reader))];
    expect(frames.map((frame) => frame.seq)).toEqual(frames.map((_, index) => index + 1));
    expect("some text ".repeat(2_000).startsWith(textOf(frames))).toBe(true);
    expect(textOf(frames).length).toBeGreaterThan(5_000);
    expect(textOf(frames).length).toBeLessThan(10_000);
    expect(messagesOf(responseOf(frames))).toEqual(["done"]);
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

  it("holds no half of a character at the end of a frame", async () => {
    const engine = engineOf(
      ({ stream }) => {
        stream.text("😀".repeat(5));
        return [say("done")];
      },
      { limits: { maxFrameLength: 3 } },
    );
    const frames = await take(await open(engine));
    expect(frames.map((frame) => (frame.type === "text" ? frame.delta : frame.type))).toEqual([
      "opened",
      ...Array.from({ length: 5 }, () => "😀"),
      "end",
    ]);
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

  it("go beside ordinary responses, each in its order, and are cancelled", async () => {
    const { handle, began } = stepwise();
    const engine = engineOf((call) => (call.intent === "now" ? [say("now")] : handle(call)));
    const { client, received, frames } = connect(engine);
    await client.send(streamed());
    const { stream } = await began;
    stream.text("a");
    const [opened] = await frames((many) => textOf(many) === "a");
    await client.send(request({ user_intent: "now" }, { request_id: "r2" }));
    await expect.poll(() => received.some((message) => "protocol_version" in message)).toBe(true);
    await client.send(cancel(opened?.stream_id ?? ""));
    const all = await frames(hasEnd);
    const last = all.find(({ type }) => type === "end");
    expect(codeOf(responseOf([last as StreamFrame]))).toBe("cancelled");
    await client.close();
  });

  it("end before the channel closes, when the engine does", async () => {
    const { handle } = stepwise();
    const engine = engineOf(handle);
    const { client, frames } = connect(engine);
    await client.send(streamed());
    await frames((many) => many.length === 1);
    await engine.close();
    expect(codeOf(responseOf((await frames(hasEnd)).slice(-1)))).toBe("cancelled");
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
    await client.send(cancel("stream_x"));
    await expect.poll(() => received.length).toBe(1);
    expect(codeOf(received[0] as ShellResponse)).toBe("invalid_request");
    await client.close();
  });
});
