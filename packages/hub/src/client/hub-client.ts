import {
  type ApprovalRecord,
  type BacktestResult,
  HUB_API_VERSION,
  type HubMethodName,
  type HubMethodParams,
  type HubMethodResult,
  type TimelineFilter,
  type TimelineRow,
} from "@harnesskit/protocol/hub";
import {
  type Clock,
  type CloseReason,
  callSafely,
  HarnessError,
  type HarnessError as HarnessErrorType,
  systemClock,
  type Transport,
} from "@harnesskit/wire";
import {
  ClientSession,
  type ConnectOptions,
  type ReconnectOptions,
  type RequestOptions,
  resolveReconnect,
  type SessionState,
} from "@harnesskit/wire/rpc";
import { checkHubClientOptions } from "../option-names.ts";
import { callHub, HubConnection } from "./hub-connection.ts";
import { follow } from "./watch.ts";

export interface HubClientOptions {
  /** The way to the hub: a Unix socket, or a WebSocket to `hubPaths.api`. */
  readonly transport: Transport;
  /** How the client introduces itself: answers are recorded as `USER (NAME)`. */
  readonly client: { readonly name: string; readonly version?: string };
  /** Replaces a lost connection. @default 10 attempts, from 100 ms to 30 s apart */
  readonly reconnect?: false | ReconnectOptions | undefined;
  /** How long a call waits for its answer. @default 60000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Reports what failed behind the caller's back. What it throws is ignored. @default no report */
  readonly onError?: ((error: HarnessErrorType) => void) | undefined;
  /** Receives each change of the state. What it throws is ignored. @default no report */
  readonly onState?: ((state: SessionState) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

export interface HubWatchOptions {
  /** The number of the last change that you have. @default only what comes */
  readonly afterSeq?: number | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

/** What the hub says of itself. */
export type HubIntroduction = HubMethodResult<"hub.hello">;

/** The arguments of a call after the method's name: its params, which only some methods can do without, and options. */
export type ParamsArgument<M extends HubMethodName> =
  undefined extends HubMethodParams<M>
    ? [params?: HubMethodParams<M>, options?: RequestOptions]
    : [params: HubMethodParams<M>, options?: RequestOptions];

export interface HubBacktestOptions extends RequestOptions {
  /** Receives how far it has come, some times a second. */
  readonly onProgress?: ((progress: { readonly events: number; readonly share: number }) => void) | undefined;
}

/** A client of the hub's own API. */
export interface HubClient {
  /** Opens the connection. Rejects with the errors of the transport and of a call, and `version_mismatch`. */
  connect(options?: ConnectOptions): Promise<HubIntroduction>;
  /**
   * Calls a method of `hubMethods`. Rejects with a `HubError`, whose code is the hub's reason, or with `connection_closed`,
   * `request_timeout`, `request_cancelled`.
   */
  call<M extends HubMethodName>(method: M, ...args: ParamsArgument<M>): Promise<HubMethodResult<M>>;
  /** `policy.backtest`, which reports how far it has come. Rejects as `call`. */
  backtest(
    params: Omit<NonNullable<HubMethodParams<"policy.backtest">>, "watchId">,
    options?: HubBacktestOptions,
  ): Promise<BacktestResult>;
  /** Iterates changed approvals; continues over lost connections. States in between may be skipped. */
  watchInbox(options?: HubWatchOptions): AsyncIterableIterator<ApprovalRecord>;
  /**
   * The number of the newest change of an approval. List what matters after it is known, and watch from it: then no change falls
   * between the two, and no older one is read. Rejects as `call`.
   */
  inboxSeq(): Promise<number>;
  /** Iterates changed rows that match the filter; continues over lost connections. */
  watchTimeline(
    options?: HubWatchOptions & { readonly filter?: TimelineFilter },
  ): AsyncIterableIterator<readonly TimelineRow[]>;
  /** What the hub said of itself; undefined before the first `connect`. */
  readonly introduction: HubIntroduction | undefined;
  readonly state: SessionState;
  readonly closed: Promise<CloseReason>;
  /** Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const majorOf = (version: string): string | undefined => version.split(".", 1)[0];

/** Makes a client. Nothing is opened before `connect`. Throws `invalid_argument` for options that are not valid. */
export const createHubClient = (options: HubClientOptions): HubClient => {
  checkHubClientOptions(options);
  const { transport, clock = systemClock, requestTimeoutMs = 60_000 } = options;
  const onError = (error: HarnessErrorType): void => callSafely(() => options.onError?.(error));
  const session: ClientSession<HubConnection, HubIntroduction> = new ClientSession({
    async open(signal, onOver) {
      const channel = await transport.connect({ signal });
      return new HubConnection(channel, { requestTimeoutMs, clock, onOver, onError });
    },
    async introduce(connection, { timeoutMs, signal }) {
      const hello = await callHub(connection, "hub.hello", { client: options.client }, { timeoutMs, signal });
      if (majorOf(hello.version) === majorOf(HUB_API_VERSION)) return hello;
      const text = `the hub speaks version ${hello.version} of its API, and this client ${HUB_API_VERSION}`;
      throw new HarnessError("version_mismatch", text);
    },
    reconnect: resolveReconnect(options.reconnect),
    timeoutMs: () => requestTimeoutMs,
    isFinal: (error) => HarnessError.isInstance(error) && error.code === "version_mismatch",
    onState: (state) => callSafely(() => options.onState?.(state)),
    onAttemptFailed: onError,
    clock,
  });
  let backtests = 0;
  const call: HubClient["call"] = (method, ...[params, { signal, timeoutMs = requestTimeoutMs } = {}]) =>
    callHub(session, method, params as never, { signal, timeoutMs });
  return {
    connect: async (connecting) => (await session.connect(connecting)).introduction,
    call,
    async backtest(params, { onProgress, signal, timeoutMs = requestTimeoutMs } = {}) {
      const { connection } = await session.whenReady({ signal });
      const watchId = `backtest ${++backtests}`;
      const stop = connection.listen(
        watchId,
        (event) => event.name === "policy.progress" && onProgress?.(event.params),
        () => {},
      );
      try {
        return await callHub(connection, "policy.backtest", { ...params, watchId }, { signal, timeoutMs });
      } finally {
        stop();
      }
    },
    async inboxSeq() {
      const { watchId, afterSeq } = await call("inbox.watch");
      await call("watch.cancel", { watchId });
      return afterSeq;
    },
    watchInbox: (watching = {}) =>
      follow(session, watching, {
        start: (connection, after) => callHub(connection, "inbox.watch", after),
        read: ({ name, params }) =>
          name === "inbox.changed" ? { item: params.record, seq: params.record.seq } : undefined,
      }),
    watchTimeline: ({ filter, ...watching } = {}) =>
      follow(session, watching, {
        start: (connection, after) => callHub(connection, "timeline.watch", { filter, ...after }),
        read: ({ name, params }) =>
          name === "timeline.changed" ? { item: params.rows, seq: params.seq } : undefined,
      }),
    get introduction() {
      return session.introduction;
    },
    get state() {
      return session.state;
    },
    get closed() {
      return session.closed;
    },
    close: () => session.close(),
    [Symbol.asyncDispose]: () => session.close(),
  };
};
