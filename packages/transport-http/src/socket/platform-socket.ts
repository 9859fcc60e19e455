import { BufferFullError, ConnectionClosedError, type HarnessError } from "@harnesskit/wire";
import { WebSocketCloseError } from "../errors.ts";
import { FramePipe, type FramePipeOptions } from "./frame-pipe.ts";

/** A WebSocket as browsers have it, as far as it is used here. */
export interface PlatformWebSocket {
  binaryType: string;
  readonly bufferedAmount: number;
  readonly readyState: number;
  send(data: string): void;
  close(code?: number): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: "close",
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

const openState = 1;
/** Below this, what was sent counts as handed over. */
const handedOverBytes = 64 * 1024;
/** The platform tells of no progress; this is how often it is looked for while much waits. */
const pollMs = 10;
/** A page may send 1000 and the codes from 3000 on only; these stand for the ones of the standard. */
const pageCode = (code: number): number => (code === 1000 || code === 1001 ? 1000 : code + 3000);

export interface PlatformSocketOptions extends FramePipeOptions {
  readonly maxBufferedBytes: number;
}

/** A platform's WebSocket. It cannot be paused: what arrives while it should be is held here, up to a limit. */
export class PlatformSocket extends FramePipe {
  readonly #socket: PlatformWebSocket;
  readonly #options: PlatformSocketOptions;
  readonly #utf8 = new TextEncoder();
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #isPaused = true;
  #close: { readonly code: number; readonly reason: string } | undefined;
  #isDone = false;
  #isClosed = false;

  constructor(socket: PlatformWebSocket, options: PlatformSocketOptions) {
    super(options);
    this.#socket = socket;
    this.#options = options;
    socket.addEventListener("message", ({ data }) => this.#received(data));
    socket.addEventListener("close", ({ code, reason }) => {
      this.#isClosed = true;
      this.#close = { code, reason };
      this.#deliverHeld();
    });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliverHeld();
  }

  terminate(): void {
    this.#isDone = true;
    this.#socket.close(1000);
  }

  protected sendFrames(texts: readonly string[], done: (error?: Error | null) => void): void {
    if (this.#socket.readyState !== openState) {
      queueMicrotask(() => done(new ConnectionClosedError()));
      return;
    }
    for (const text of texts) this.#socket.send(text);
    this.#whenHandedOver(done);
  }

  protected closeSocket(code: number): void {
    this.#isPaused = false;
    this.#socket.close(pageCode(code));
    this.#deliverHeld();
  }

  #received(data: unknown): void {
    if (this.#isDone) return;
    if (typeof data !== "string") {
      this.#fail(1003, new WebSocketCloseError(1003, "here", "messages must be text frames"));
      return;
    }
    const bytes = this.#utf8.encode(data);
    if (!this.#isPaused) {
      this.deliver(bytes);
      return;
    }
    this.#heldBytes += bytes.length;
    this.#held.push(bytes);
    const { maxBufferedBytes } = this.#options;
    if (this.#heldBytes > maxBufferedBytes) {
      this.#fail(1008, new BufferFullError("maxBufferedBytes", maxBufferedBytes));
    }
  }

  #fail(code: number, error: HarnessError): void {
    this.#isDone = true;
    this.#held = [];
    this.#socket.close(pageCode(code));
    this.finish(error);
  }

  /** One at a time: a handler may pause between two. The close comes after all. */
  #deliverHeld(): void {
    while (!this.#isPaused && !this.#isDone) {
      const bytes = this.#held.shift();
      if (!bytes) break;
      this.#heldBytes -= bytes.length;
      this.deliver(bytes);
    }
    const close = this.#close;
    if (!close || (this.#held.length > 0 && close.code !== 1006)) return;
    this.#close = undefined;
    this.hasClosed(close.code, close.reason);
  }

  #whenHandedOver(done: (error?: Error | null) => void): void {
    if (this.#isClosed) done(new ConnectionClosedError());
    else if (this.#socket.bufferedAmount <= handedOverBytes) queueMicrotask(done);
    else this.#options.clock.after(pollMs, () => this.#whenHandedOver(done));
  }
}
