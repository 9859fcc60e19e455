import {
  type HubMethodName,
  type HubMethodParams,
  type HubMethodResult,
  type HubNotificationName,
  type HubNotificationParams,
  hubMethods,
  hubNotifications,
} from "@harnesskit/protocol/hub";
import { type Channel, type Clock, type HarnessError, InvalidMessageError } from "@harnesskit/wire";
import { createPeer, type Peer, type RequestOptions, type RpcConnection } from "@harnesskit/wire/rpc";
import { withTraceMeta } from "@harnesskit/wire/trace";
import { toHubError } from "./hub-error.ts";

/** Calls a method over a connection or a session, and checks its result. Rejects with a `HubError`. */
export const callHub = async <M extends HubMethodName>(
  hub: Pick<RpcConnection, "request">,
  method: M,
  params?: HubMethodParams<M>,
  options?: RequestOptions,
): Promise<HubMethodResult<M>> => {
  const result = await hub
    .request(method, params && withTraceMeta(params), options)
    .catch((error: unknown) => {
      throw toHubError(error);
    });
  const parsed = hubMethods[method].result.safeParse(result);
  if (parsed.success) return parsed.data as HubMethodResult<M>;
  throw new InvalidMessageError("not_json_rpc", `the hub's answer to ${method} is not valid`);
};

/** A notification of one watch. */
export type WatchEvent = {
  [N in HubNotificationName]: { readonly name: N; readonly params: HubNotificationParams<N> };
}[HubNotificationName];

export interface HubConnectionOptions {
  readonly requestTimeoutMs: number | undefined;
  readonly clock: Clock;
  readonly onOver: (error?: HarnessError) => void;
  readonly onError: (error: HarnessError) => void;
}

/** Events of a watch that arrive before its name is known. */
const maxEarly = 1000;

/** One connection to the hub. */
export class HubConnection {
  readonly #peer: Peer;
  readonly #onError: (error: HarnessError) => void;
  readonly #watches = new Map<string, (event: WatchEvent) => void>();
  readonly #ended = new Set<() => void>();
  #early: WatchEvent[] = [];
  #isOver = false;

  constructor(channel: Channel, { requestTimeoutMs, clock, onOver, onError }: HubConnectionOptions) {
    this.#onError = onError;
    this.#peer = createPeer(
      channel,
      {
        notification: (name, params) => this.#notified(name, params),
        close: ({ error }) => {
          this.#isOver = true;
          for (const ended of [...this.#ended]) ended();
          onOver(error);
        },
        onError,
      },
      { clock, requestTimeoutMs },
    );
  }

  get hint(): string | undefined {
    return this.#peer.hint;
  }

  request(method: string, params?: unknown, options?: RequestOptions): Promise<unknown> {
    return this.#peer.request(method, params, options);
  }

  /** Passes the events of a watch to a function, until the returned one is called. `ended` is called when the connection is over. */
  listen(watchId: string, onEvent: (event: WatchEvent) => void, ended: () => void): () => void {
    this.#watches.set(watchId, onEvent);
    this.#ended.add(ended);
    const early = this.#early;
    this.#early = early.filter(({ params }) => params.watchId !== watchId);
    for (const event of early) if (event.params.watchId === watchId) onEvent(event);
    if (this.#isOver) ended();
    return () => {
      this.#watches.delete(watchId);
      this.#ended.delete(ended);
    };
  }

  close(): Promise<void> {
    return this.#peer.close();
  }

  #notified(name: string, params: unknown): void {
    if (!Object.hasOwn(hubNotifications, name)) return;
    const parsed = hubNotifications[name as HubNotificationName].safeParse(params);
    if (!parsed.success) {
      this.#onError(new InvalidMessageError("not_json_rpc", `the hub's notification ${name} is not valid`));
      return;
    }
    const event = { name, params: parsed.data } as WatchEvent;
    const onEvent = this.#watches.get(event.params.watchId);
    if (onEvent !== undefined) onEvent(event);
    else if (this.#early.length < maxEarly) this.#early.push(event);
  }
}
