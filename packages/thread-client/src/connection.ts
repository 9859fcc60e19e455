import type { Params } from "@harnesskit/protocol/envelope";
import type { EventBody } from "@harnesskit/protocol/threads";
import {
  type Channel,
  type Clock,
  type CloseReason,
  ConnectionClosedError,
  createDeferred,
  createPeer,
  type HarnessError,
  type Peer,
  type RequestOptions,
} from "@harnesskit/wire";
import { MalformedMessageError, toThreadError } from "./errors.ts";
import { type Notification, parseNotification } from "./validation.ts";

export interface ConnectionOptions {
  readonly requestTimeoutMs: number | undefined;
  readonly clock: Clock | undefined;
  /** Counted up. */
  readonly stats: { unknownNotifications: number; malformedNotifications: number };
  readonly onEvent: (event: EventBody) => void;
  readonly onDeleted: (threadId: string) => void;
  /** Called once and last. The error tells pending work that its end will not come. */
  readonly onClose: (error: ConnectionClosedError, reason: CloseReason) => void;
  readonly onError: (error: HarnessError) => void;
}

/** The peer, with the calls' errors named and the notifications checked. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #peer: Peer;
  readonly #over = createDeferred<void>();
  #isOver = false;

  constructor(channel: Channel, options: ConnectionOptions) {
    const { requestTimeoutMs, clock, onClose, onError } = options;
    this.#options = options;
    this.#peer = createPeer(
      channel,
      {
        notification: (name, params) => this.#notified(name, params),
        close: (reason) => {
          const { error } = reason;
          this.#isOver = true;
          onClose(new ConnectionClosedError(undefined, error ? { cause: error } : undefined), reason);
          this.#over.resolve();
        },
        unexpected: onError,
      },
      {
        ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
        ...(clock === undefined ? {} : { clock }),
      },
    );
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Settles when the connection is closed and `onClose` has run. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Calls a method and checks its result with `parse`. */
  async call<T>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    parse: (result: unknown) => T,
    { signal, timeoutMs }: RequestOptions = {},
  ): Promise<T> {
    const options = { ...(signal ? { signal } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const result = await this.#peer.request(method, params, options).catch((error: unknown) => {
      throw toThreadError(error);
    });
    return parse(result);
  }

  close(): Promise<void> {
    return this.#peer.close();
  }

  /** Never throws for what came from outside: a malformed notification is reported, and the connection stays. */
  #notified(name: string, params: Params | undefined): void {
    const { stats, onEvent, onDeleted, onError } = this.#options;
    let notification: Notification | undefined;
    try {
      notification = parseNotification(name, params);
    } catch (error) {
      if (!MalformedMessageError.isInstance(error)) throw error;
      stats.malformedNotifications++;
      onError(error);
      return;
    }
    if (!notification) stats.unknownNotifications++;
    else if (notification.type === "thread.deleted") onDeleted(notification.data.threadId);
    else onEvent(notification);
  }
}
