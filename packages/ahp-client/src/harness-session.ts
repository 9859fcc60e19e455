import type { HandshakeParams, HandshakeResult } from "@harnesskit/protocol/ahp";
import { type Clock, type HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import {
  ClientSession,
  type ConnectOptions,
  type ReadyConnection,
  resolveReconnect,
  type SessionState,
  type SessionWait,
  SharedRun,
} from "@harnesskit/wire/rpc";
import type { AhpClientOptions, HarnessEndpoint } from "./client-options.ts";
import {
  AhpFailure,
  type FailureCode,
  isLoss,
  toFailure,
  toLineFailure,
  toOpenFailure,
  withStderr,
} from "./errors.ts";
import { exchangeSource } from "./exchange-line.ts";
import { shakeHands } from "./handshake.ts";
import type { Line, LineSource, OnDropped } from "./line.ts";
import { channelSource, transportSource } from "./peer-line.ts";

/** A line with the handshake that succeeded over it; another object for each handshake. */
export type ReadyLine = ReadyConnection<Line, HandshakeResult>;

/** The sender of an event. */
export type Origin = Pick<HandshakeParams, "session_id" | "agent_id">;

export interface HarnessSessionOptions {
  readonly endpoint: HarnessEndpoint;
  readonly reconnect: AhpClientOptions["reconnect"];
  readonly clock: Clock;
  readonly params: HandshakeParams;
  readonly maxInFlight: number;
  readonly handshakeTimeoutMs: () => number;
  /** How long a notification may take over an exchange. */
  readonly notifyTimeoutMs: () => number;
  readonly onDropped: OnDropped;
  readonly onState: (state: SessionState) => void;
  /** Reports each failed attempt that no caller asked for. */
  readonly onError: (error: HarnessError) => void;
}

/** Throws `invalid_argument` unless exactly one way is given. */
const sourceOf = (options: HarnessSessionOptions): LineSource => {
  const { transport, channel, exchange } = options.endpoint;
  const [source, another] = [
    transport && transportSource(transport, options),
    channel && channelSource(channel, options),
    exchange && exchangeSource(exchange, options),
  ].filter((given) => given !== undefined);
  if (source && !another) return source;
  throw new InvalidArgumentError("give exactly one of transport, channel and exchange");
};

const closedFailure = (cause?: unknown) => new AhpFailure("closed", "the client is closed", { cause });

/** A harness that refused the handshake, or whose answer to it was not valid, is there. */
const answers: ReadonlySet<FailureCode> = new Set([
  "unauthorized",
  "harness_error",
  "invalid_answer",
  "version_mismatch",
]);

/** Errors that another attempt cannot mend. */
const isPermanent = ({ code }: AhpFailure): boolean => code === "version_mismatch" || code === "unauthorized";

/** The client session with a harness: its errors are {@link AhpFailure}s, and it renews forgotten handshakes. */
export class HarnessSession {
  readonly #options: HarnessSessionOptions;
  readonly #source: LineSource;
  readonly #session: ClientSession<Line, HandshakeResult>;
  readonly #renewals = new Map<string, SharedRun<HandshakeResult>>();

  /** Throws `invalid_argument`. */
  constructor(options: HarnessSessionOptions) {
    const { clock, params, maxInFlight, handshakeTimeoutMs, onState, onError } = options;
    const reconnect = resolveReconnect(options.reconnect);
    const source = sourceOf(options);
    this.#options = options;
    this.#source = source;
    this.#session = new ClientSession({
      clock,
      reconnect: source.reopens ? reconnect : undefined,
      maxWaitingCalls: maxInFlight,
      timeoutMs: handshakeTimeoutMs,
      onState,
      open: (signal, onOver) =>
        source.open(signal, onOver).catch((error: unknown) => {
          throw toOpenFailure(error);
        }),
      introduce: (line, wait) => shakeHands(line, params, wait),
      // Endless attempts go on until the client is closed.
      isFinal: (error) => Number.isFinite(reconnect?.maxAttempts) && isPermanent(toFailure(error)),
      onAttemptFailed: onError,
      toError: (error, line) => toLineFailure(error, line, 0),
    });
  }

  get state(): SessionState {
    return this.#session.state;
  }

  get closed() {
    return this.#session.closed;
  }

  /** The line in use; undefined while not connected. */
  get ready(): ReadyLine | undefined {
    return this.#session.ready;
  }

  /** The result of the last handshake that succeeded. */
  get harness(): HandshakeResult | undefined {
    return this.#session.introduction;
  }

  get reconnects(): number {
    return this.#session.stats().reconnects;
  }

  /** Opens a line unless one is open, and shakes hands over it. */
  async connect(options: ConnectOptions): Promise<HandshakeResult> {
    const { ready } = this.#session;
    const shaken = ready ? this.#renewOwn(ready, options) : this.#session.connect(options);
    try {
      return (await shaken).introduction;
    } catch (error) {
      throw withStderr(this.#toFailure(error));
    }
  }

  /** The line in use, or the next one. Fails when none comes in time. */
  async whenReady(options: SessionWait): Promise<ReadyLine> {
    try {
      return await this.#session.whenReady(options);
    } catch (error) {
      throw this.#toFailure(error);
    }
  }

  /** A call failed over this line. */
  failed({ connection }: ReadyLine, failure: AhpFailure): void {
    if (failure.rpcCode !== undefined) this.#session.confirm(connection);
    if (isLoss(failure)) this.#session.drop(connection, failure);
  }

  /** The harness answered a call over this line. */
  answered({ connection }: ReadyLine): void {
    this.#session.confirm(connection);
  }

  /**
   * Shakes hands again after a refusal for want of a handshake: the harness has forgotten this agent; or it keeps one
   * handshake for each session, as over HTTP, and an event that its caller built is of another session.
   */
  async renew(ready: ReadyLine, refused: readonly Origin[], options: SessionWait): Promise<void> {
    const bySession = new Map(refused.map((origin) => [origin.session_id, origin]));
    const isOwn = bySession.delete(this.#options.params.session_id) || bySession.size === 0;
    await Promise.all([
      isOwn && this.ready === ready ? this.#renewOwn(ready, options) : undefined,
      ...[...bySession.values()].map((origin) => this.#introduce(ready, origin, options)),
    ]);
  }

  /** Settles what waits, at once. Idempotent. */
  async close(): Promise<void> {
    await this.#session.close();
    await this.#source.close().catch(() => {});
  }

  /** The former handshake stays in force where the line is still of use. */
  async #renewOwn(ready: ReadyLine, options: SessionWait): Promise<ReadyLine> {
    try {
      return await this.#session.renew(ready, options);
    } catch (error) {
      const failure = this.#toFailure(error);
      if (isLoss(failure) || failure.code === "version_mismatch") {
        this.#session.drop(ready.connection, failure);
      }
      throw failure;
    }
  }

  /** What ended a wait for a connection: the last attempt says why, where it reached the harness. */
  #toFailure(error: unknown): AhpFailure {
    if (this.state === "closed") return closedFailure(error);
    const failure = toFailure(error);
    if (failure === error || failure.code === "cancelled" || failure.code === "overloaded") return failure;
    const reason = this.#session.error && toFailure(this.#session.error);
    const found =
      failure.code === "timeout" ? "no connection to the harness in time" : "no connection to the harness";
    return new AhpFailure(
      reason && answers.has(reason.code) ? reason.code : "unreachable",
      reason ? `${found}: ${reason.message}` : found,
      { cause: reason ?? failure },
    );
  }

  async #introduce(ready: ReadyLine, origin: Origin, options: SessionWait): Promise<void> {
    const { clock, params, handshakeTimeoutMs } = this.#options;
    const { timeoutMs = handshakeTimeoutMs(), signal } = options;
    const { session_id: session, agent_id } = origin;
    const shared = this.#renewals.get(session) ?? new SharedRun<HandshakeResult>();
    this.#renewals.set(session, shared);
    const other = { ...params, session_id: session, agent_id };
    const run = (stop: AbortSignal) =>
      shakeHands(ready.connection, other, { timeoutMs, signal: stop }).finally(() =>
        this.#renewals.delete(session),
      );
    await shared.join(run, { clock, name: "ahp/handshake", timeoutMs, signal });
  }
}
