import type { Params } from "@harnesskit/protocol/envelope";
import type { EventBody } from "@harnesskit/protocol/threads";
import {
  type Channel,
  type Clock,
  type CloseReason,
  ConnectionClosedError,
  createPeer,
  type HarnessError,
  type Peer,
  type RequestOptions,
} from "@harnesskit/wire";
import { MalformedMessageError, toThreadError } from "./errors.ts";
import { parseNotification } from "./validation.ts";

export interface ConnectionOptions {
  readonly requestTimeoutMs: number | undefined;
  readonly clock: Clock | undefined;
  readonly onEvent: (event: EventBody) => void;
  /** Called once and last. The error tells pending work that its end will not come. */
  readonly onClose: (error: ConnectionClosedError, reason: CloseReason) => void;
  readonly onError: (error: HarnessError) => void;
}

/** The peer, with the calls' errors named and the notifications checked. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #peer: Peer;
  #unknownNotifications = 0;
  #malformedNotifications = 0;

  constructor(channel: Channel, options: ConnectionOptions) {
    const { requestTimeoutMs, clock, onClose, onError } = options;
    this.#options = options;
    this.#peer = createPeer(
      channel,
      {
        notification: (name, params) => this.#notified(name, params),
        close: (reason) => {
          const { error } = reason;
          onClose(new ConnectionClosedError(undefined, error ? { cause: error } : undefined), reason);
        },
        unexpected: onError,
      },
      {
        ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
        ...(clock === undefined ? {} : { clock }),
      },
    );
  }

  get closed(): Promise<CloseReason> {
    return this.#peer.closed;
  }

  get stats() {
    return {
      unknownNotifications: this.#unknownNotifications,
      malformedNotifications: this.#malformedNotifications,
    };
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
    let event: EventBody | undefined;
    try {
      event = parseNotification(name, params);
    } catch (error) {
      if (!MalformedMessageError.isInstance(error)) throw error;
      this.#malformedNotifications++;
      this.#options.onError(error);
      return;
    }
    if (event) this.#options.onEvent(event);
    else this.#unknownNotifications++;
  }
}
