import {
  type Channel,
  type Clock,
  type Codec,
  createByteChannel,
  createMessageCodec,
  FaultRun,
  HarnessError,
  newlineCodec,
} from "@harnesskit/wire";
import type { ChannelLimits } from "../limits.ts";
import { closeCode, type FramePipe } from "./frame-pipe.ts";

/** Which close code a fault of what arrived asks for; undefined where the connection goes on. */
const codeOfFault = (fault: unknown): number | undefined => {
  if (!HarnessError.isInstance(fault)) return undefined;
  if (fault.code === "frame_too_large") return closeCode.messageTooBig;
  // RFC 6455, 8.1: text that is not UTF-8 ends the connection.
  return "reason" in fault && fault.reason === "not_utf8" ? closeCode.invalidData : undefined;
};

/**
 * One JSON message a frame. What was sent in one tick leaves as lines, which the pipe makes frames of: JSON holds no
 * line feed of its own. Each chunk that is pushed is one whole frame. A fault after which the connection has to close
 * gives the pipe its close code first.
 */
const frameCodec = (limits: ChannelLimits, pipe: FramePipe): Codec => ({
  createEncoder: () => newlineCodec(limits).createEncoder(),
  createDecoder: () => {
    const codec = createMessageCodec(limits);
    const faults = new FaultRun();
    let broken = false;
    return {
      get broken() {
        return broken;
      },
      push(frame) {
        try {
          const message = codec.decode(frame);
          faults.end();
          return [message];
        } catch (error) {
          const flood = faults.add();
          const code = flood ? closeCode.policyViolation : codeOfFault(error);
          if (code === undefined) return [error];
          broken = true;
          pipe.closeCode = code;
          return flood ? [error, flood] : [error];
        }
      },
      end: () => [],
    };
  },
});

/** Makes a channel of a connected WebSocket, which has no half-close: the `end` handler is never called. */
export const createSocketChannel = <Context>(
  pipe: FramePipe,
  context: Context,
  limits: ChannelLimits,
  clock: Clock,
): Channel<Context> => {
  const { maxBufferedBytes, closeTimeoutMs } = limits;
  const codec = frameCodec(limits, pipe);
  return createByteChannel(pipe, {
    codec,
    context,
    maxBufferedBytes,
    closeTimeoutMs,
    clock,
    halfClose: false,
  });
};
