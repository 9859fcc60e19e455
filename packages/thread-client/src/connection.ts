import type { Params } from "@harnesskit/protocol/envelope";
import {
  type EventBody,
  THREAD_PROTOCOL_VERSION,
  type ThreadMethodName,
  type ThreadMethodResult,
} from "@harnesskit/protocol/threads";
import type { Channel, HarnessError } from "@harnesskit/wire";
import { createPeer, type Peer, type RequestOptions } from "@harnesskit/wire/rpc";
import type { Clock } from "@harnesskit/wire/time";
import { withTraceMeta } from "@harnesskit/wire/trace";
import type { ThreadClientOptions } from "./client-options.ts";
import { MalformedMessageError, toThreadError, VersionMismatchError } from "./errors.ts";
import { type CallResult, parseNotification, parseResult } from "./validation.ts";

/** What a server says of itself. */
export type Initialized = ThreadMethodResult<"initialize">;

/** What is known of the server before it has answered `initialize`. */
export const unknownServer: Initialized = {
  version: "",
  capabilities: { threads: false, turns: false, approvals: false, streaming: false, persistence: false },
};

const majorVersion = (version: string): string | undefined => /^(\d{1,9})\.\d/.exec(version)?.[1];

/** The params of a method; what is undefined in them is left out. */
export type Fields = Readonly<Record<string, unknown>>;

export interface ConnectionOptions {
  readonly requestTimeoutMs: number | undefined;
  readonly clock: Clock | undefined;
  /** Counted up. */
  readonly stats: { unknownNotifications: number; malformedNotifications: number };
  readonly onEvent: (event: EventBody) => void;
  readonly onDeleted: (threadId: string) => void;
  /** Called once and last. Without an error the connection ended in good order. */
  readonly onClose: (error?: HarnessError) => void;
  readonly onError: (error: HarnessError) => void;
}

/** The peer, with the calls' errors named, and results and notifications checked. */
export class ServerConnection {
  readonly #options: ConnectionOptions;
  readonly #peer: Peer;

  constructor(channel: Channel, options: ConnectionOptions) {
    const { requestTimeoutMs, clock, onClose, onError } = options;
    this.#options = options;
    this.#peer = createPeer(
      channel,
      {
        notification: (name, params) => this.#notified(name, params),
        close: ({ error }) => onClose(error),
        onError,
      },
      { requestTimeoutMs, clock },
    );
  }

  /** Calls a method and checks its result. */
  async call<M extends ThreadMethodName>(
    method: M,
    params: Fields,
    { signal, timeoutMs }: RequestOptions = {},
  ): Promise<CallResult<M>> {
    const options = { signal, timeoutMs };
    const result = await this.#peer
      .request(method, withTraceMeta(params), options)
      .catch((error: unknown) => {
        throw toThreadError(error);
      });
    return parseResult(method, result);
  }

  /** Introduces the client. Rejects with `version_mismatch` and the errors of a call. */
  async initialize(clientInfo: ThreadClientOptions["clientInfo"], signal: AbortSignal): Promise<Initialized> {
    const params = clientInfo ? { clientInfo: { name: clientInfo.name, version: clientInfo.version } } : {};
    const server = await this.call("initialize", params, { signal });
    if (majorVersion(server.version) !== majorVersion(THREAD_PROTOCOL_VERSION))
      throw new VersionMismatchError(server.version, THREAD_PROTOCOL_VERSION);
    return server;
  }

  close(): Promise<void> {
    return this.#peer.close();
  }

  /** Never throws for what came from outside: a malformed notification is reported, and the connection stays. */
  #notified(name: string, params: Params | undefined): void {
    const { stats, onEvent, onDeleted, onError } = this.#options;
    try {
      const notification = parseNotification(name, params);
      if (!notification) stats.unknownNotifications++;
      else if (notification.type === "thread.deleted") onDeleted(notification.data.threadId);
      else onEvent(notification);
    } catch (error) {
      if (!MalformedMessageError.isInstance(error)) throw error;
      stats.malformedNotifications++;
      onError(error);
    }
  }
}
