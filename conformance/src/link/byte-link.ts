import { HarnessError, lengthPrefixCodec, newlineCodec } from "@harnesskit/wire";
import { maxJsonDepth } from "@harnesskit/wire/json";
import type { Framing } from "../scenario/suite-schema.ts";
import { Inbox } from "./inbox.ts";
import { type Link, toText } from "./link.ts";

/** Bytes both ways: a socket, or the pipes of a process. */
export interface ByteStream {
  onData(listener: (chunk: Uint8Array) => void): void;
  /** Once, when the target will send no more or is gone. */
  onEnd(listener: (end: { exitCode?: number | null; reason: string }) => void): void;
  /** Settles when the bytes were handed over; rejects when the other side is gone. */
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

const framed = (framing: Framing, content: string | Uint8Array): Uint8Array => {
  const bytes = Buffer.from(content as string);
  if (framing === "newline") return Buffer.concat([bytes, Buffer.from("\n")]);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
};

/** A connection over bytes, framed by newlines or by lengths. */
export const createByteLink = (
  stream: ByteStream,
  framing: Framing,
  limits: { readonly maxMessages: number; readonly maxMessageBytes: number },
): Link => {
  const inbox = new Inbox(limits.maxMessages);
  const options = { maxFrameBytes: limits.maxMessageBytes, maxDepth: maxJsonDepth };
  const codec = framing === "newline" ? newlineCodec(options) : lengthPrefixCodec(options);
  const decoder = codec.createDecoder();
  const deliver = (values: readonly unknown[]): void => {
    for (const value of values) {
      if (HarnessError.isInstance(value)) inbox.addNoise(value.message);
      else inbox.add(value);
    }
  };
  stream.onData((chunk) => deliver(decoder.push(chunk)));
  stream.onEnd((end) => {
    deliver(decoder.end());
    inbox.close(end);
  });
  const write = async (chunks: readonly Uint8Array[]): Promise<void> => {
    for (const [index, chunk] of chunks.entries()) {
      // A pause, so that the target reads each chunk by itself.
      if (index > 0) await new Promise((resolve) => setTimeout(resolve, 1));
      // What is written to a target that has gone shows in what it does not answer.
      await stream.write(chunk).catch(() => {});
    }
  };
  const send = (message: unknown) => write([framed(framing, toText(message))]);
  return {
    inbox,
    send,
    write,
    frame: (content) => framed(framing, content),
    async reply(_request, answer) {
      if ("message" in answer) return await send(answer.message);
      if (answer.body !== undefined) return await write([framed(framing, answer.body)]);
      await stream.close();
    },
    end: () => stream.end(),
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    close: () => stream.close(),
  };
};
