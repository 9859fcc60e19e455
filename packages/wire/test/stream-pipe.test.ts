import { Duplex, PassThrough } from "node:stream";
import { type ContractPair, channelContract } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { createByteChannel, createStreamPipe, newlineCodec, TransportError } from "../src/index.ts";

const limits = { maxFrameBytes: 65_536, maxBufferedBytes: 262_144 };

/** One end of a connection within this process: what is written to one is read from the other. */
class End extends Duplex {
  other: End | undefined;
  #ended = false;
  #taken: (() => void) | undefined;

  constructor() {
    super({ allowHalfOpen: true });
  }

  override _read(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.other?.receive(chunk, done);
  }

  override _final(done: () => void): void {
    this.other?.receiveEnd();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#taken?.();
    this.other?.receiveEnd();
    done(error);
  }

  receive(chunk: Uint8Array, done: () => void): void {
    if (this.destroyed || this.push(chunk)) done();
    else this.#taken = done;
  }

  receiveEnd(): void {
    if (this.#ended || this.destroyed) return;
    this.#ended = true;
    this.push(null);
  }
}

const pipeOver = (input: Duplex, output: Duplex, endOutput = true) => {
  const released: unknown[] = [];
  const pipe = createStreamPipe({
    input,
    output,
    endOutput,
    toError: (cause, stream) => new TransportError(`the ${stream} failed`, { cause }),
    release: (error) => {
      released.push(error);
      input.destroy();
      output.destroy();
    },
  });
  return { pipe, released };
};

const channelOver = (stream: Duplex) =>
  createByteChannel(pipeOver(stream, stream).pipe, { codec: newlineCodec(limits), context: {}, ...limits });

const makePair = (): ContractPair => {
  const [near, far] = [new End(), new End()];
  near.other = far;
  far.other = near;
  return {
    client: channelOver(near),
    server: channelOver(far),
    dispose: async () => void near.destroy(),
    writeRawToServer: (bytes) => void near.write(bytes),
    endClient: () => void near.end(),
    killClient: () => void near.destroy(),
  };
};

describe("a byte pipe over a stream keeps the channel contract", () => {
  const profile = { framing: "newline", halfClose: true, rawBytes: true, ...limits } as const;
  for (const { name, run } of channelContract({ name: "streams", makePair, profile })) it(name, run);
});

describe("a stream that fails", () => {
  const watch = (input: Duplex, output: Duplex, endOutput?: boolean) => {
    const { pipe, released } = pipeOver(input, output, endOutput);
    const closes: unknown[] = [];
    const start = () => pipe.start({ bytes() {}, end() {}, closed: (error) => closes.push(error) });
    return { pipe, released, closes, start };
  };

  it.each(["input", "output"] as const)("closes the pipe with its reason, once: the %s", async (stream) => {
    const streams = { input: new PassThrough(), output: new PassThrough() };
    const { closes, released, start } = watch(streams.input, streams.output);
    start();
    const cause = new TransportError("broken by the test");
    streams[stream].destroy(cause);
    await expect.poll(() => closes.length).toBe(1);
    expect(closes[0]).toBeInstanceOf(TransportError);
    expect(closes[0]).toMatchObject({ code: "transport_failed", message: `the ${stream} failed`, cause });
    await expect.poll(() => streams.input.closed && streams.output.closed).toBe(true);
    expect(closes).toHaveLength(1);
    expect(released).toEqual(closes);
  });

  it("is told to a pipe that is started later", async () => {
    const input = new PassThrough();
    const { closes, released, start } = watch(input, new PassThrough());
    input.destroy(new TransportError("early"));
    await expect.poll(() => released.length).toBe(1);
    expect(closes).toEqual([]);
    start();
    expect(closes).toEqual(released);
  });

  it("is not one that only has to be flushed: its end leaves the output open", () => {
    const output = new PassThrough();
    const { pipe, closes, released, start } = watch(new PassThrough(), output, false);
    start();
    pipe.end();
    expect(output.writableEnded).toBe(false);
    expect(closes).toEqual([undefined]);
    expect(released).toEqual([undefined]);
  });
});
