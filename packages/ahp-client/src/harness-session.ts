import type { AhpEvent, HandshakeParams, HandshakeResult } from "@harnesskit/protocol/ahp";
import type { Clock, HarnessError } from "@harnesskit/wire";
import {
  ClientSession,
  type ConnectOptions,
  resolveReconnect,
  type SessionState,
  type SessionWait,
} from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";
import type { AhpClientOptions } from "./client-options.ts";
import { connectorOf, type HarnessConnection } from "./connections.ts";
import {
  AhpFailure,
  type FailureCode,
  isLoss,
  toConnectFailure,
  toFailure,
  toOpenFailure,
  wantsHandshake,
  withStderr,
} from "./errors.ts";
import { shakeHands } from "./handshake.ts";

export interface HarnessSessionOptions {
  readonly client: AhpClientOptions;
  readonly clock: Clock;
  readonly params: HandshakeParams;
  readonly maxInFlight: number;
  readonly handshakeTimeoutMs: () => number;
  /** How long a notification may take over an exchange. */
  readonly notifyTimeoutMs: () => number;
  readonly onDropped: (error: HarnessError) => void;
  readonly onState: (state: SessionState) => void;
  readonly onListenerFailed: (error: HarnessError) => void;
  /** Reports each failed attempt that no caller asked for. */
  readonly onAttemptFailed: (error: HarnessError) => void;
}

/** A harness that refused the handshake, or whose answer to it was not valid, is there. */
const answers: ReadonlySet<FailureCode> = new Set([
  "unauthorized",
  "harness_error",
  "invalid_answer",
  "version_mismatch",
]);

/** Errors that another attempt cannot mend. */
const isPermanent = ({ code }: AhpFailure): boolean => code === "version_mismatch" || code === "unauthorized";

/** The client session with a harness: its errors are {@link AhpFailure}s, and it repeats forgotten handshakes. */
export class HarnessSession extends ClientSession<HarnessConnection, HandshakeResult> {
  /** Notifications that may be unsettled at one time without losing their order. */
  readonly maxUnsettled: number;
  /** The result of the last handshake that succeeded. */
  harness: HandshakeResult | undefined;
  readonly #options: HarnessSessionOptions;
  readonly #closing: AbortController;
  /** Repeated handshakes in progress, by the session that they introduce. */
  readonly #handshakes = new Map<string, Promise<HandshakeResult>>();

  /** Throws `invalid_argument`. */
  constructor(options: HarnessSessionOptions) {
    const { client, params } = options;
    const closing = new AbortController();
    const reconnect = resolveReconnect(client.reconnect);
    const connector = connectorOf(client, { ...options, signal: closing.signal });
    super({
      ...options,
      reconnect: connector.reopens ? reconnect : undefined,
      timeoutMs: options.handshakeTimeoutMs,
      open: (signal, onOver) =>
        connector.open(signal, onOver).catch((error: unknown) => {
          throw toOpenFailure(error);
        }),
      introduce: async (connection, wait) => {
        this.harness = await shakeHands(connection, params, wait);
        return this.harness;
      },
      recover: (error, connection, sent, wait) => this.recover(error, connection, eventsOf(sent), wait),
      // Endless attempts go on until the client is closed.
      isFinal: (error) => Number.isFinite(reconnect?.maxAttempts) && isPermanent(toFailure(error)),
      toError: (error, connection) => toConnectFailure(error, connection?.lastFault),
      toWaitError: (error) => this.#toWaitFailure(error),
      toCallError: (error, { signal }) => (signal?.aborted ? toFailure(error) : this.#toFailure(error)),
    });
    this.#options = options;
    this.#closing = closing;
    this.maxUnsettled = connector.maxUnsettled;
  }

  /** Opens a connection unless one is open, and shakes hands over it. Rejects with an {@link AhpFailure}. */
  async shakeHands(options: ConnectOptions): Promise<HandshakeResult> {
    try {
      const connection = this.ready?.connection;
      if (connection) return await this.#shakeAgain(connection, this.#options.params, options);
      return (await this.connect(options)).introduction;
    } catch (error) {
      throw withStderr(this.#toFailure(error));
    }
  }

  /**
   * Shakes hands again after a refusal for want of a handshake: the harness has forgotten this agent; or it keeps one
   * handshake for each session, as over HTTP, and an event that its caller built is of another session.
   */
  async recover(
    error: unknown,
    connection: HarnessConnection,
    refused: readonly Pick<AhpEvent, "session_id" | "agent_id">[],
    wait: SessionWait,
  ): Promise<boolean> {
    if (!wantsHandshake(error)) return false;
    const { params } = this.#options;
    const senders = new Map(
      refused.map(({ session_id, agent_id }) => [session_id, { session_id, agent_id }]),
    );
    if (senders.size === 0 || senders.has(params.session_id)) senders.set(params.session_id, params);
    await Promise.all(
      [...senders.values()].map((sender) => this.#shakeAgain(connection, { ...params, ...sender }, wait)),
    );
    return true;
  }

  /** Settles what waits, at once. Idempotent. */
  override async close(): Promise<void> {
    const closing = super.close();
    this.#closing.abort();
    await closing.catch(() => {});
  }

  /** One handshake for all that want it at the same time. The former one stays in force where this one is refused. */
  async #shakeAgain(
    connection: HarnessConnection,
    params: HandshakeParams,
    { timeoutMs, signal }: SessionWait,
  ): Promise<HandshakeResult> {
    const { clock, handshakeTimeoutMs } = this.#options;
    const { session_id: id } = params;
    const shaking = this.#handshakes.get(id) ?? this.#begin(connection, params);
    this.#handshakes.set(id, shaking);
    const name = "ahp/handshake";
    return within(shaking, { clock, name, timeoutMs: timeoutMs ?? handshakeTimeoutMs(), signal });
  }

  async #begin(connection: HarnessConnection, params: HandshakeParams): Promise<HandshakeResult> {
    const isOwn = params.session_id === this.#options.params.session_id;
    try {
      const harness = await shakeHands(connection, params, { timeoutMs: this.#options.handshakeTimeoutMs() });
      if (isOwn) this.harness = harness;
      return harness;
    } catch (error) {
      const failure = toFailure(error);
      if (isOwn && (isLoss(failure) || failure.code === "version_mismatch")) {
        this.drop(connection, failure);
      }
      throw failure;
    } finally {
      this.#handshakes.delete(params.session_id);
    }
  }

  #toFailure(error: unknown): AhpFailure {
    if (this.state !== "closed") return toFailure(error);
    return new AhpFailure("closed", "the client is closed", { cause: error });
  }

  /** What ended a wait for a connection: the last attempt says why, where it reached the harness. */
  #toWaitFailure(error: unknown): AhpFailure {
    const failure = this.#toFailure(error);
    if (failure.code !== "timeout" && failure.code !== "connection_lost") return failure;
    const reason = this.error && toFailure(this.error);
    const found =
      failure.code === "timeout" ? "no connection to the harness in time" : "no connection to the harness";
    return new AhpFailure(
      reason && answers.has(reason.code) ? reason.code : "unreachable",
      reason ? `${found}: ${reason.message}` : found,
      { cause: reason ?? failure },
    );
  }
}

/** The events that a call sends; none for a query. */
const eventsOf = (params: unknown): readonly AhpEvent[] => {
  const { events, event_type: type } = params as { events?: readonly AhpEvent[]; event_type?: string };
  return events ?? (type === undefined ? [] : [params as AhpEvent]);
};
