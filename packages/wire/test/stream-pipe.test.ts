import { type Duplex, PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createStreamPipe, TransportError } from "../src/index.ts";

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
