import type { HarnessError } from "@harnesskit/wire";

/** Where a connected WebSocket reports. */
export interface FrameSocketEvents {
  /** One text frame, whole. */
  frame(bytes: Uint8Array): void;
  /** It is closed, once and last: with the code and words of the close frame, or 1006 without one. */
  closed(code: number, reason: string): void;
  /** It broke a rule, or could not go on; it closes itself. Nothing but `closed` follows. */
  failed(error: HarnessError): void;
}

/** A connected WebSocket of any platform. It delivers nothing before `resume` is called for the first time. */
export interface FrameSocket {
  listen(events: FrameSocketEvents): void;
  /** Sends each text as a frame; `done` is called once, when all were handed to the operating system or could not be. */
  send(texts: readonly string[], done: (error?: Error | null) => void): void;
  pause(): void;
  resume(): void;
  /** Begins the closing handshake. Leads to `closed`. */
  close(code: number): void;
  /** Ends at once. Leads to `closed`. */
  terminate(): void;
}
