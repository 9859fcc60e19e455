import { BufferFullError, type Clock, ConnectionClosedError, type HarnessError } from "@harnesskit/wire";
import { WebSocketCloseError } from "../errors.ts";
import type { FrameSocket, FrameSocketEvents } from "./frame-socket.ts";

/** A WebSocket as browsers have it, as far as it is used here. */
export interface PlatformWebSocket {
  binaryType: string;
  readonly bufferedAmount: number;
  readonly readyState: number;
  readonly protocol: string;
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

/** A platform's WebSocket. It cannot be paused: what arrives while it should be is held here, up to a limit. */
export class PlatformSocket implements FrameSocket {
  readonly #socket: PlatformWebSocket;
  readonly #clock: Clock;
  readonly #maxHeldBytes: number;
  readonly #utf8 = new TextEncoder();
  #events: FrameSocketEvents | undefined;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #isPaused = true;
  #close: { readonly code: number; readonly reason: string } | undefined;
  #isDone = false;
  #isClosed = false;

  constructor(socket: PlatformWebSocket, options: { clock: Clock; maxHeldBytes: number }) {
    this.#socket = socket;
    this.#clock = options.clock;
    this.#maxHeldBytes = options.maxHeldBytes;
    socket.addEventListener("message", ({ data }) => this.#received(data));
    socket.addEventListener("close", ({ code, reason }) => {
      this.#isClosed = true;
      this.#close = { code, reason };
      this.#deliverHeld();
    });
  }

  listen(events: FrameSocketEvents): void {
    this.#events = events;
  }

  send(texts: readonly string[], done: (error?: Error | null) => void): void {
    if (this.#socket.readyState !== openState) {
      queueMicrotask(() => done(new ConnectionClosedError()));
      return;
    }
    for (const text of texts) this.#socket.send(text);
    this.#whenHandedOver(done);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliverHeld();
  }

  close(code: number): void {
    this.#isPaused = false;
    this.#socket.close(pageCode(code));
    this.#deliverHeld();
  }

  terminate(): void {
    this.#isDone = true;
    this.#socket.close(1000);
  }

  #received(data: unknown): void {
    if (this.#isDone) return;
    if (typeof data !== "string") {
      this.#fail(1003, new WebSocketCloseError(1003, "here", "messages must be text frames"));
      return;
    }
    const bytes = this.#utf8.encode(data);
    if (!this.#isPaused) {
      this.#events?.frame(bytes);
      return;
    }
    this.#heldBytes += bytes.length;
    this.#held.push(bytes);
    if (this.#heldBytes > this.#maxHeldBytes) {
      this.#fail(1008, new BufferFullError("maxBufferedBytes", this.#maxHeldBytes));
    }
  }

  #fail(code: number, error: HarnessError): void {
    this.#isDone = true;
    this.#held = [];
    this.#socket.close(pageCode(code));
    this.#events?.failed(error);
  }

  /** One at a time: a handler may pause between two. The close comes after all. */
  #deliverHeld(): void {
    while (!this.#isPaused && !this.#isDone) {
      const bytes = this.#held.shift();
      if (!bytes) break;
      this.#heldBytes -= bytes.length;
      this.#events?.frame(bytes);
    }
    const close = this.#close;
    if (!close || (this.#held.length > 0 && close.code !== 1006)) return;
    this.#close = undefined;
    this.#events?.closed(close.code, close.reason);
  }

  #whenHandedOver(done: (error?: Error | null) => void): void {
    if (this.#isClosed) done(new ConnectionClosedError());
    else if (this.#socket.bufferedAmount <= handedOverBytes) queueMicrotask(done);
    else this.#clock.after(pollMs, () => this.#whenHandedOver(done));
  }
}
