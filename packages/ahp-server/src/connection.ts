import type { HandshakeParams } from "@harnesskit/protocol/ahp";
import type { RequestId } from "@harnesskit/protocol/envelope";
import {
  type Channel,
  type CloseReason,
  ConnectionClosedError,
  createDeferred,
  type Deferred,
  FaultRun,
  type HarnessError,
} from "@harnesskit/wire";
import type { Dispatcher } from "./dispatcher.ts";
import { isIncoming } from "./incoming.ts";
import type { Load } from "./load.ts";
import type { Origin } from "./origin.ts";
import { sessionKey } from "./owner-key.ts";
import type { PendingCall } from "./pending-call.ts";
import { toFaultRefusal } from "./refusal.ts";
import { ReplySender } from "./reply-sender.ts";
import type { Reply } from "./server-parts.ts";

export interface ConnectionOptions<Context> {
  /** A name that no other connection of the server has. */
  readonly label: string;
  readonly owner: string;
  readonly principal: unknown;
  readonly maxPending: number;
  readonly load: Load;
  readonly dispatcher: Dispatcher<Context>;
  /** Nobody waits for this call any more. */
  readonly cancel: (call: PendingCall<Context>, cause: unknown) => void;
  /** An answer could not be sent as it was. */
  readonly onUnsendable: () => void;
  /** Must not throw. */
  readonly onError: (error: unknown) => void;
}

/** One agent on a channel, from its first message to its last. */
export class Connection<Context> implements Origin<Context> {
  readonly answersNotifications = false;
  readonly principal: unknown;
  readonly owner: string;
  readonly #channel: Channel<Context>;
  readonly #options: ConnectionOptions<Context>;
  readonly #sender: ReplySender;
  /** The requests that wait for their handlers; one with the id null, which any number may have, by itself. */
  readonly #requests = new Map<RequestId | PendingCall<Context>, PendingCall<Context>>();
  readonly #faults = new FaultRun();
  /** Requests that wait for their answer. */
  #unanswered = 0;
  /** Notifications that wait for their turn or their handler. */
  #notifications = 0;
  #handshake: HandshakeParams | undefined;
  /** Nothing more comes: what is left is handled and answered. */
  #hasEnded = false;
  #isClosing = false;
  #room: Deferred<void> | undefined;

  constructor(channel: Channel<Context>, options: ConnectionOptions<Context>) {
    this.#channel = channel;
    this.#options = options;
    this.owner = options.owner;
    this.principal = options.principal;
    this.#sender = new ReplySender({ ...options, channel, onSent: () => this.#progressed() });
  }

  start(): void {
    this.#channel.start({
      message: (message) => this.#receive(message),
      error: (error) => this.#fault(error),
      end: () => {
        this.#hasEnded = true;
        this.#progressed();
      },
      close: (reason) => this.#closed(reason),
    });
  }

  get context(): Context {
    return this.#channel.context;
  }

  get isStrange(): boolean {
    return this.#handshake === undefined;
  }

  /** For the whole server; where it is only this connection, its channel is not read any further. */
  get isFull(): boolean {
    return this.#options.load.isFull;
  }

  /** The last handshake that succeeded; it holds for every session on this connection. */
  handshakeOf(): HandshakeParams | undefined {
    return this.#handshake;
  }

  shake(handshake: HandshakeParams): void {
    this.#handshake = handshake;
  }

  isPending(id: RequestId): boolean {
    return id !== null && this.#requests.has(id);
  }

  laneOf(sessionId: string): string {
    return sessionKey(this.#options.label, sessionId);
  }

  begin(call: PendingCall<Context>): void {
    this.#options.load.pending++;
    this.#requests.set(call.requestId ?? call, call);
  }

  finish(call: PendingCall<Context>): void {
    this.#options.load.pending--;
    this.#requests.delete(call.requestId ?? call);
  }

  hold(): void {
    this.#options.load.pending++;
    this.#notifications++;
  }

  release(): void {
    this.#options.load.pending--;
    this.#notifications--;
    this.#progressed();
  }

  /** Answers what was cancelled, then closes; what notifications still wait is not waited for. */
  close(): Promise<void> {
    this.#isClosing = true;
    this.#progressed();
    return this.#channel.closed.then(() => {});
  }

  get #pending(): number {
    return this.#unanswered + this.#notifications + this.#sender.unsent;
  }

  #receive(message: unknown): void | Promise<void> {
    const isCall = isIncoming(message);
    if (isCall) this.#faults.end();
    else this.#flooded();
    const { dispatcher } = this.#options;
    const reply = isCall ? dispatcher.take(message, this) : dispatcher.invalid(message);
    if (reply instanceof Promise) {
      this.#unanswered++;
      void reply.then((late) => {
        this.#unanswered--;
        this.#answer(late);
      });
    } else if (reply) this.#answer(reply);
    if (this.#pending < this.#options.maxPending) return;
    this.#room ??= createDeferred<void>();
    return this.#room.promise;
  }

  #answer(reply: Reply | undefined): void {
    if (reply && !this.#channel.signal.aborted) this.#sender.send(reply);
    this.#progressed();
  }

  #fault(error: HarnessError): void {
    const refusal = toFaultRefusal(error);
    if (refusal) this.#sender.send(this.#options.dispatcher.malformed(refusal));
    this.#options.onError(error);
  }

  /** An agent that sends nothing but what is no message is not read any further. */
  #flooded(): void {
    const flood = this.#faults.add();
    if (flood) void this.#channel.close(flood);
  }

  /** Something was handled or sent: there is room again, or nothing is left to wait for. */
  #progressed(): void {
    if (this.#room && this.#pending < this.#options.maxPending) {
      this.#room.resolve();
      this.#room = undefined;
    }
    const isOver = this.#isClosing ? this.#unanswered === 0 : this.#hasEnded && this.#pending === 0;
    if (isOver) void this.#channel.close();
  }

  #closed({ error }: CloseReason): void {
    const lost = new ConnectionClosedError(undefined, error && { cause: error });
    for (const call of [...this.#requests.values()]) this.#options.cancel(call, lost);
    this.#room?.resolve();
  }
}
