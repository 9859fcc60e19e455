import { PassThrough, Writable } from "node:stream";
import { TransportError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { nextTurn, record } from "../../../test-kit/test-kit.ts";
import { createStdioChannel, ParentGoneError } from "../src/index.ts";

const brokenPipe = Object.assign(new TypeError("write EPIPE"), { code: "EPIPE" });

const brokenOutput = () =>
  new Writable({
    write(_chunk, _encoding, done) {
      done(brokenPipe);
    },
  });

describe("a channel on given streams", () => {
  it("reads, writes, and leaves standard output alone", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const before = process.stdout.write;
    const channel = createStdioChannel({ input, output });
    expect(process.stdout.write).toBe(before);
    expect(channel.context).toEqual({ parentId: process.ppid });
    const log = record(channel);
    input.write('{"a":1}\r\n');
    await log.untilMessages(1);
    await channel.send({ b: 2 });
    expect(String(output.read())).toBe('{"b":2}\n');
    input.end('{"a":2}');
    await channel.closed;
    expect(log.messages).toEqual([{ a: 1 }, { a: 2 }]);
    expect(log.closed).toEqual({});
    expect(output.writableFinished).toBe(true);
  });

  it("passes the limits on", async () => {
    const input = new PassThrough();
    const output = new Writable({ write() {} });
    const limits = { maxFrameBytes: 20, maxDepth: 2, maxBufferedBytes: 30, closeTimeoutMs: 0 };
    const channel = createStdioChannel({ input, output, ...limits });
    const log = record(channel);
    input.write(`"${"x".repeat(30)}"\n[[[1]]]\n1\n`);
    await log.untilMessages(1);
    expect(log.errors.map(({ code }) => code)).toEqual(["frame_too_large", "invalid_message"]);
    await expect(channel.send("x".repeat(20))).rejects.toMatchObject({ code: "frame_too_large" });
    const waiting = [1, 2].map(() => channel.send("x".repeat(15)).catch((error: unknown) => error));
    await expect(channel.send(1)).rejects.toMatchObject({ code: "buffer_full", limit: 30 });
    await channel.close();
    for (const outcome of await Promise.all(waiting)) {
      expect(["connection_closed", "transport_failed"]).toContain((outcome as TransportError).code);
    }
  });

  it("closes with transport_failed when a stream fails, also before the start", async () => {
    const first = createStdioChannel({ input: new PassThrough(), output: brokenOutput() });
    const log = record(first);
    await expect(first.send(1)).rejects.toMatchObject({ code: "transport_failed" });
    await first.closed;
    expect(log.closed?.error).toBeInstanceOf(TransportError);
    expect(log.closed?.error).toMatchObject({ code: "transport_failed", cause: brokenPipe });

    const input = new PassThrough();
    const second = createStdioChannel({ input, output: new PassThrough() });
    const failed = Object.assign(new TypeError("read EIO"), { code: "EIO" });
    input.destroy(failed);
    await nextTurn();
    record(second);
    expect((await second.closed).error).toMatchObject({ code: "transport_failed", cause: failed });

    const cut = new PassThrough();
    const third = createStdioChannel({ input: cut, output: new PassThrough() });
    record(third);
    cut.destroy();
    expect((await third.closed).error).toMatchObject({ code: "transport_failed" });
  });
});

describe("the watch on the parent", () => {
  const watched = (output: Writable) => {
    const clock = createManualClock();
    const parentId = vi.spyOn(process, "ppid", "get").mockReturnValue(42);
    onTestFinished(() => parentId.mockRestore());
    const channel = createStdioChannel({ input: new PassThrough(), output, clock });
    return { clock, parentId, channel, log: record(channel) };
  };

  it("closes the channel with parent_gone when another parent takes over", async () => {
    const { clock, parentId, channel, log } = watched(new PassThrough());
    clock.advance(10_000);
    expect(log.closed).toBeUndefined();
    parentId.mockReturnValue(1);
    clock.advance(1000);
    const { error } = await channel.closed;
    expect(error).toBeInstanceOf(ParentGoneError);
    expect(error).toMatchObject({ code: "parent_gone", parentId: 42 });
  });

  it("waits no longer than its limit for an output that nobody reads", async () => {
    const { clock, parentId, channel, log } = watched(new Writable({ write() {} }));
    const sent = channel.send("unread").catch((error: unknown) => error);
    await nextTurn();
    parentId.mockReturnValue(1);
    clock.advance(1000);
    expect(log.closed).toBeUndefined();
    clock.advance(2000);
    expect((await channel.closed).error).toMatchObject({ code: "parent_gone" });
    expect(["connection_closed", "transport_failed"]).toContain(((await sent) as TransportError).code);
  });
});
