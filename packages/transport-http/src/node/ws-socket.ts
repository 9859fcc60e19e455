import type { Socket } from "node:net";
import {
  ConnectionClosedError,
  FrameTooLargeError,
  type HarnessError,
  InvalidMessageError,
  TransportError,
} from "@harnesskit/wire";
import type { WebSocket } from "ws";
import { WebSocketCloseError } from "../errors.ts";
import type { ChannelLimits } from "../limits.ts";
import { closeCode, FramePipe, type FramePipeOptions } from "../socket/frame-pipe.ts";

/** Bytes that are still read for a handler that is busy, so that pings are seen and answered meanwhile. */
const readAheadBytes = 64 * 1024;

/** The limits as options of the `ws` package. */
export const wsLimits = ({ maxFrameBytes, closeTimeoutMs }: ChannelLimits) => ({
  maxPayload: maxFrameBytes,
  maxFragments: 1024,
  maxBufferedChunks: Math.max(16 * 1024, Math.ceil(maxFrameBytes / 256)),
  closeTimeout: closeTimeoutMs,
  autoPong: false,
  perMessageDeflate: false,
});

const toFault = (cause: unknown, maxFrameBytes: number): HarnessError => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  switch (code) {
    case "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH":
    case "WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH":
      return new FrameTooLargeError(maxFrameBytes);
    case "WS_ERR_INVALID_UTF8":
      return new InvalidMessageError("not_utf8", "a message is not UTF-8", { cause });
    case "WS_ERR_TOO_MANY_BUFFERED_PARTS":
      return new WebSocketCloseError(closeCode.policyViolation, "here", "too many fragments", { cause });
    default:
      if (typeof code === "string" && code.startsWith("WS_ERR_")) {
        return new WebSocketCloseError(1002, "here", "a frame breaks the rules", { cause });
      }
      return new TransportError("the connection broke off", { cause });
  }
};

export interface WsSocketOptions extends FramePipeOptions {
  readonly maxFrameBytes: number;
  /** How often the other side is asked for a sign of life, and how long it may take for one. */
  readonly pingIntervalMs: number;
  readonly pongTimeoutMs: number;
}

/** A connected WebSocket of the `ws` package. */
export class WsSocket extends FramePipe {
  readonly #ws: WebSocket;
  readonly #raw: Socket;
  readonly #options: WsSocketOptions;
  #cancelPing = () => {};
  #isDone = false;
  #isHeld = true;
  #isPaused = true;
  #readAhead = 0;
  #isPonging = false;
  #nextPong: Buffer | undefined;

  constructor(ws: WebSocket, raw: Socket, options: WsSocketOptions) {
    super(options);
    this.#ws = ws;
    this.#raw = raw;
    this.#options = options;
    ws.pause();
    ws.on("message", (data, isBinary) => this.#received(data as Buffer, isBinary));
    ws.on("ping", (data) => this.#pong(data));
    ws.on("error", (cause) => this.#fail(toFault(cause, options.maxFrameBytes)));
    ws.on("close", (code, reason) => {
      this.#end();
      this.hasClosed(code, reason.toString());
    });
    this.#waitToPing();
  }

  /** A little is read on, so that pings are still answered; then the other side has to wait. */
  pause(): void {
    this.#isHeld = true;
    this.#readAhead = 0;
  }

  resume(): void {
    this.#isHeld = false;
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#ws.resume();
  }

  terminate(): void {
    this.#ws.terminate();
  }

  protected sendFrames(texts: readonly string[], done: (error?: Error | null) => void): void {
    if (this.#ws.readyState !== this.#ws.OPEN) {
      queueMicrotask(() => done(new ConnectionClosedError()));
      return;
    }
    const last = texts.length - 1;
    const options = { compress: false, binary: false };
    // One system call for all.
    this.#raw.cork();
    for (const [index, text] of texts.entries()) {
      this.#ws.send(text, options, index === last ? done : undefined);
    }
    this.#raw.uncork();
  }

  protected closeSocket(code: number): void {
    this.resume();
    this.#ws.close(code);
  }

  #received(data: Buffer, isBinary: boolean): void {
    if (this.#isDone) return;
    if (isBinary) {
      this.#ws.close(closeCode.unsupportedData);
      this.#fail(new WebSocketCloseError(closeCode.unsupportedData, "here", "messages must be text frames"));
      return;
    }
    this.deliver(data);
    if (!this.#isHeld || this.#isPaused) return;
    this.#readAhead += data.length;
    if (this.#readAhead <= readAheadBytes) return;
    this.#isPaused = true;
    this.#ws.pause();
  }

  #waitToPing(): void {
    const { clock, pingIntervalMs } = this.#options;
    this.#cancelPing = clock.after(pingIntervalMs, () => {
      // While nothing is read, no sign of life can be seen.
      if (this.#isPaused) this.#waitToPing();
      else this.#ping();
    });
  }

  #ping(): void {
    const { clock, pongTimeoutMs } = this.#options;
    const { bytesRead } = this.#raw;
    this.#ws.ping(undefined, undefined, () => {});
    this.#cancelPing = clock.after(pongTimeoutMs, () => {
      // A long message on its way is a sign of life, too.
      if (this.#isPaused || this.#raw.bytesRead !== bytesRead) {
        this.#waitToPing();
        return;
      }
      this.#fail(new TransportError("the other side did not answer a ping: it is gone or stuck"));
      this.#ws.terminate();
    });
  }

  /** One pong at a time, and then the newest (RFC 6455, 5.5.3): a flood of pings makes no flood of pongs. */
  #pong(data: Buffer): void {
    if (this.#isPonging) {
      this.#nextPong = data;
      return;
    }
    this.#isPonging = true;
    this.#ws.pong(data, undefined, () => {
      this.#isPonging = false;
      const next = this.#nextPong;
      this.#nextPong = undefined;
      if (next) this.#pong(next);
    });
  }

  #fail(error: HarnessError): void {
    if (this.#isDone) return;
    this.#end();
    this.finish(error);
  }

  #end(): void {
    this.#isDone = true;
    this.#cancelPing();
  }
}
