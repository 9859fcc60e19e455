import { type Codec, createMessageCodec, FaultRun, HarnessError, newlineCodec } from "@harnesskit/wire";

/** The close codes of RFC 6455 that this package sends. */
export const closeCode = {
  normal: 1000,
  goingAway: 1001,
  unsupportedData: 1003,
  invalidData: 1007,
  policyViolation: 1008,
  messageTooBig: 1009,
  serverError: 1011,
} as const;

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
 * is reported with its close code first.
 */
export const frameCodec = (
  limits: { readonly maxFrameBytes: number; readonly maxDepth: number },
  onFatal: (code: number) => void,
): Codec => ({
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
          onFatal(code);
          return flood ? [error, flood] : [error];
        }
      },
      end: () => [],
    };
  },
});
