import {
  AHP_VERSION,
  AhpErrorCode,
  type AhpEvent,
  type HandshakeParams,
  type HandshakeResult,
  HandshakeResultSchema,
} from "@harnesskit/protocol/ahp";
import { type Clock, displayText, type HarnessError } from "@harnesskit/wire";
import {
  ClientSession,
  type RpcConnection,
  resolveReconnect,
  type SessionState,
  type SessionWait,
} from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";
import type { AhpClientOptions } from "./client-options.ts";
import { connectorOf } from "./connections.ts";
import {
  AhpFailure,
  type FailureCode,
  firstIssue,
  toFailure,
  toOpenFailure,
  wantsHandshake,
} from "./errors.ts";

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

/** After these a connection is of no more use to its own session. */
const endsConnection: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "connection_lost",
  "unreachable",
  "version_mismatch",
]);

/** Errors that another attempt cannot mend. */
const isPermanent = ({ code }: AhpFailure): boolean => code === "version_mismatch" || code === "unauthorized";

/** A harness that refused the handshake, or whose answer to it was not valid, is there. */
const answers: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "unauthorized",
  "harness_error",
  "invalid_answer",
  "version_mismatch",
]);

const majorOf = (version: string): string | undefined => /^(\d{1,9})(?:\.|$)/.exec(version)?.[1];

/** Says who the agent is, and checks that the harness speaks the same major version. Rejects with an {@link AhpFailure}. */
const shakeHands = async (
  connection: RpcConnection,
  params: HandshakeParams,
  wait: SessionWait,
): Promise<HandshakeResult> => {
  let answer: unknown;
  try {
    answer = await connection.request("ahp/handshake", params, wait);
  } catch (cause) {
    const failure = toFailure(cause);
    if (failure.rpcCode !== AhpErrorCode.UnsupportedVersion) throw failure;
    const { message, rpcCode, rpcMessage } = failure;
    throw new AhpFailure("version_mismatch", message, { cause, rpcCode, rpcMessage });
  }
  const { data, error: cause } = HandshakeResultSchema.safeParse(answer);
  if (!data) {
    const text = `the answer to the handshake is not valid: ${firstIssue(cause)}`;
    throw new AhpFailure("invalid_answer", text, { cause });
  }
  if (majorOf(data.protocol_version) === majorOf(AHP_VERSION)) return data;
  const theirs = displayText(data.protocol_version, { maxLength: 50 });
  const text = `the harness speaks version ${theirs} of the protocol, this client ${AHP_VERSION}`;
  throw new AhpFailure("version_mismatch", text);
};

/** The client session with a harness: its errors are {@link AhpFailure}s, and it repeats forgotten handshakes. */
export class HarnessSession extends ClientSession<RpcConnection, HandshakeResult> {
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
      reconnect,
      timeoutMs: options.handshakeTimeoutMs,
      open: (signal, onOver) =>
        connector.open(signal, onOver).catch((error: unknown) => {
          throw toOpenFailure(error);
        }),
      introduce: async (connection, wait) => {
        this.harness = await shakeHands(connection, params, wait);
        return this.harness;
      },
      recover: (error, connection, sent, wait) => this.recover(error, connection, sent, wait),
      // Endless attempts go on until the client is closed.
      isFinal: (error) => Number.isFinite(reconnect?.maxAttempts) && isPermanent(toFailure(error)),
      toError: toFailure,
      toWaitError: (error) => this.#toWaitFailure(error),
      toCallError: (error, { signal }) => (signal?.aborted ? toFailure(error) : this.toFailure(error)),
    });
    this.#options = options;
    this.#closing = closing;
    this.maxUnsettled = connector.maxUnsettled;
  }

  /**
   * Shakes hands again after a refusal for want of a handshake: the harness has forgotten this agent; or it keeps one
   * handshake for each session, as over HTTP, and an event that its caller built is of another session.
   */
  async recover(
    error: unknown,
    connection: RpcConnection,
    refused: unknown,
    { timeoutMs = this.#options.handshakeTimeoutMs(), signal }: SessionWait,
  ): Promise<boolean> {
    if (!wantsHandshake(error)) return false;
    const { clock, params } = this.#options;
    const senders = new Map(sendersOf(refused).map((sender) => [sender.session_id, sender]));
    if (senders.size === 0 || senders.has(params.session_id)) senders.set(params.session_id, params);
    const shaking = Array.from(senders.values(), ({ session_id, agent_id }) =>
      this.#shakeAgain(connection, { ...params, session_id, agent_id }),
    );
    await within(Promise.all(shaking), { clock, name: "ahp/handshake", timeoutMs, signal });
    return true;
  }

  /** Settles what waits, at once. Idempotent. */
  override async close(): Promise<void> {
    const closing = super.close();
    this.#closing.abort();
    await closing.catch(() => {});
  }

  /** One handshake for all that want it at the same time. The former one stays in force where this one is refused. */
  #shakeAgain(connection: RpcConnection, params: HandshakeParams): Promise<HandshakeResult> {
    const { session_id: id } = params;
    const known = this.#handshakes.get(id);
    if (known) return known;
    const { handshakeTimeoutMs, params: own } = this.#options;
    const shaking = shakeHands(connection, params, { timeoutMs: handshakeTimeoutMs() });
    const done = shaking
      .then((harness) => {
        if (id === own.session_id) this.harness = harness;
        return harness;
      })
      .catch((error: unknown) => {
        const failure = toFailure(error);
        // Another version answers, or nothing does: the connection is of no more use.
        if (id === own.session_id && endsConnection.has(failure.code)) this.drop(connection, failure);
        throw failure;
      })
      .finally(() => this.#handshakes.delete(id));
    this.#handshakes.set(id, done);
    return done;
  }

  toFailure(error: unknown): AhpFailure {
    if (this.state !== "closed") return toFailure(error);
    return new AhpFailure("closed", "the client is closed", { cause: error });
  }

  /** What ended a wait for a connection; the last attempt says why there is none. */
  #toWaitFailure(error: unknown): AhpFailure {
    const failure = this.toFailure(error);
    if (failure.code !== "timeout" && failure.code !== "connection_lost") return failure;
    const reason = this.error && toFailure(this.error);
    const found = `no connection to the harness${failure.code === "timeout" ? " in time" : ""}`;
    const code = reason && answers.has(reason.code) ? reason.code : "unreachable";
    return new AhpFailure(code, reason ? `${found}: ${reason.message}` : found, { cause: reason ?? failure });
  }
}

/** The senders of the events that a message has; none for a query. */
const sendersOf = (params: unknown): readonly Pick<AhpEvent, "session_id" | "agent_id">[] => {
  const { events, event_type: type } = params as { events?: readonly AhpEvent[]; event_type?: string };
  return events ?? (type === undefined ? [] : [params as AhpEvent]);
};
