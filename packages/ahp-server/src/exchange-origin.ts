import type { HandshakeParams } from "@harnesskit/protocol/ahp";
import { RequestCancelledError } from "@harnesskit/wire";
import type { Load } from "./load.ts";
import type { Origin } from "./origin.ts";
import { sessionKey } from "./owner-key.ts";
import type { PendingCall } from "./pending-call.ts";
import type { SessionTable } from "./session-table.ts";

/** What all exchanges share. */
export interface Exchanges<Context> {
  readonly sessions: SessionTable;
  readonly load: Load;
  /** Nobody waits for this call any more. */
  readonly cancel: (call: PendingCall<Context>, cause: unknown) => void;
}

/** Where the message of one exchange came from. */
export class ExchangeOrigin<Context> implements Origin<Context> {
  readonly context: Context;
  readonly principal: unknown;
  readonly owner: string;
  readonly answersNotifications = true;
  readonly isStrange = false;
  readonly #exchanges: Exchanges<Context>;
  #unlisten: (() => void) | undefined;

  constructor(exchanges: Exchanges<Context>, context: Context, principal: unknown, owner: string) {
    this.#exchanges = exchanges;
    this.context = context;
    this.principal = principal;
    this.owner = owner;
  }

  get isFull(): boolean {
    return this.#exchanges.load.isFull;
  }

  handshakeOf(sessionId: string): HandshakeParams | undefined {
    return this.#exchanges.sessions.get(this.owner, sessionId);
  }

  shake(handshake: HandshakeParams): void {
    this.#exchanges.sessions.set(this.owner, handshake);
  }

  /** Each exchange has its own answer, whatever ids others use. */
  isPending(): boolean {
    return false;
  }

  laneOf(sessionId: string): string {
    return `exchange ${sessionKey(this.owner, sessionId)}`;
  }

  begin(call: PendingCall<Context>): void {
    this.hold();
    const signal = signalOf(this.context);
    if (!signal) return;
    const cancel = () => this.#exchanges.cancel(call, new RequestCancelledError("the decision"));
    signal.addEventListener("abort", cancel, { once: true });
    this.#unlisten = () => signal.removeEventListener("abort", cancel);
    if (signal.aborted) queueMicrotask(cancel);
  }

  finish(): void {
    this.#unlisten?.();
    this.release();
  }

  hold(): void {
    this.#exchanges.load.pending++;
  }

  release(): void {
    this.#exchanges.load.pending--;
  }
}

const signalOf = (context: unknown): AbortSignal | undefined => {
  if (typeof context !== "object" || context === null) return undefined;
  const { signal } = context as { signal?: unknown };
  return signal instanceof AbortSignal ? signal : undefined;
};
