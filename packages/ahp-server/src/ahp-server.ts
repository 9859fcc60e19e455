import {
  type Channel,
  ConnectionClosedError,
  callSafely,
  type HarnessError,
  ProtocolError,
  RequestCancelledError,
} from "@harnesskit/wire";
import {
  ChannelServer,
  createDispatcher,
  type Dispatcher,
  type DispatcherStats,
  KeyedLanes,
  type Reply,
  type RpcReply,
} from "@harnesskit/wire/rpc";
import { systemClock } from "@harnesskit/wire/time";
import { AgentOrigin } from "./agent-origin.ts";
import { createAhpMethods } from "./ahp-methods.ts";
import { AuditTrail } from "./audit-trail.ts";
import { Decider } from "./decider.ts";
import { toHandshakeResult } from "./handshake.ts";
import { Handshakes } from "./handshakes.ts";
import { type AhpServerLimits, resolveLimits } from "./limits.ts";
import { checkAhpServerOptions } from "./option-names.ts";
import { ahpErrors, handlerFailure, handshakeRequired, invalidRequestError } from "./refusal.ts";
import type { AhpServerOptions } from "./server-options.ts";
import { type AhpState, Runs } from "./state/runs.ts";
import type { StateStore } from "./state/state-store.ts";

/** What a server counted since it was created, and what it holds. */
export interface AhpServerStats extends DispatcherStats {
  /** Decisions that were made, those in batches included, by their name. */
  readonly decisions: Readonly<Record<string, number>>;
  /** Connections that are open. */
  readonly connections: number;
  /** Runs in the state. */
  readonly runs: number;
}

/** The harness's side of AHP 2.4, for any number of connections and exchanges at once. */
export interface AhpServer<Context = unknown> {
  /**
   * Serves one agent on a channel, and starts it. A handshake on it holds for everything after it. Throws
   * `connection_closed` after `close`, and `invalid_argument` for a principal that has no JSON.
   */
  connect(channel: Channel<Context>): void;
  /**
   * Takes one message of an exchange (an HTTP POST). Resolves with its answer, or with undefined for a notification that was
   * accepted; one that is refused is answered with an error and the id "". Requests go by the handshake of the same
   * credential. Where the context has a `signal`, its abort cancels the request. Never rejects.
   */
  readonly handle: (message: unknown, context: Context) => Promise<Reply | undefined>;
  /** The answer to a body that is not a message (`invalid_message`, `frame_too_large`): -32700 or -32600 with the id "". */
  readonly malformed: (error: HarnessError) => Reply;
  /** The answer in place of one that cannot be sent: it is too large, too deep or not JSON. -32603, `result_too_large`. */
  readonly unsendable: (reply: unknown, error: HarnessError) => Reply;
  /** The durable contracts of all agents, reduced to their runs. */
  readonly state: AhpState;
  /** A copy. */
  stats(): AhpServerStats;
  /** Cancels what is being handled and closes every connection; accepts nothing more. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const contextField = (context: unknown, name: "principal" | "signal"): unknown =>
  typeof context === "object" && context !== null
    ? (context as { principal?: unknown; signal?: unknown })[name]
    : undefined;

const signalOf = (context: unknown): AbortSignal | undefined => {
  const signal = contextField(context, "signal");
  return signal instanceof AbortSignal ? signal : undefined;
};

class Server<Context> implements AhpServer<Context> {
  readonly #limits: AhpServerLimits;
  readonly #decisions: Record<string, number> = Object.create(null) as Record<string, number>;
  readonly #runs: Runs;
  readonly #stateStore: StateStore | undefined;
  readonly #handshakes: Handshakes;
  readonly #dispatcher: Dispatcher<AgentOrigin<Context>>;
  readonly #audit: AuditTrail;
  readonly #principalOf: (context: Context) => unknown;
  readonly #onError: (error: unknown) => void;
  readonly #open = new Map<Channel<Context>, ChannelServer<RpcReply>>();
  #connections = 0;
  #isClosed = false;

  constructor(options: AhpServerOptions<Context>) {
    const { limits, handlerTimeoutMs } = resolveLimits(options.limits, options.handlerTimeoutMs);
    const { clock = systemClock, stateStore: store } = options;
    const onError = (error: unknown): void => callSafely(() => options.onError?.(error));
    this.#limits = limits;
    this.#onError = onError;
    this.#principalOf = options.principalOf ?? ((context) => contextField(context, "principal"));
    this.#runs = new Runs({ limits, store, onError });
    this.#stateStore = store;
    this.#handshakes = new Handshakes(limits.maxSessions);
    const audit = new AuditTrail(options.audit, onError);
    this.#audit = audit;
    const decider = new Decider(options.handlers, onError);
    this.#dispatcher = createDispatcher<AgentOrigin<Context>>({
      ...createAhpMethods<Context>({
        limits,
        clock,
        audit,
        decider,
        runs: this.#runs,
        countDecision: (name) => {
          this.#decisions[name] = (this.#decisions[name] ?? 0) + 1;
        },
        lanes: new KeyedLanes(),
        handshakeResult: toHandshakeResult(options, limits),
        onHandshake: options.onHandshake,
        onError,
      }),
      guard: ({ method, context }) => this.#guard(method, context),
      limits: { timeoutMs: handlerTimeoutMs, maxPending: limits.maxPending, maxBatchSize: 0 },
      errors: ahpErrors,
      unknownId: "",
      anyParams: true,
      onRefused: (error, { id, method, params }) => audit.refused(method, id, params, error),
      // What a handler threw is reported where it is worded for the agent.
      onError: (error) => {
        if (!ProtocolError.isInstance(error)) onError(error);
      },
      clock,
    });
  }

  get state(): AhpState {
    return this.#runs;
  }

  connect(channel: Channel<Context>): void {
    if (this.#isClosed) throw new ConnectionClosedError("the harness is closed");
    const label = `connection ${++this.#connections}`;
    const origin = new AgentOrigin(channel.context, { principalOf: this.#principalOf, label });
    // A principal without JSON is the caller's mistake.
    void origin.owner;
    const calls = this.#dispatcher.open(origin, { onMessage: (isValid) => server.note(isValid) });
    const server = new ChannelServer<RpcReply>(channel, {
      receive: (message, respond) => void calls.accept(message, respond),
      malformed: (error) => {
        this.#onError(error);
        return this.#dispatcher.malformed(error);
      },
      unsendable: (reply, error) => ("error" in reply ? undefined : this.unsendable(reply, error)),
      maxPending: this.#limits.maxPendingPerConnection,
      countsUnsent: true,
      onError: this.#onError,
      onClose: ({ error }) => {
        const cause = new ConnectionClosedError(undefined, error && { cause: error });
        calls.close(new RequestCancelledError("the decision", { cause }));
      },
    });
    this.#open.set(channel, server);
    void channel.closed.then(() => this.#open.delete(channel));
    server.start();
  }

  readonly handle = (message: unknown, context: Context): Promise<Reply | undefined> => {
    const origin = new AgentOrigin(context, { principalOf: this.#principalOf, handshakes: this.#handshakes });
    // A transport may make its signal when that is first read.
    const options = { signal: () => signalOf(context), answersRefusals: true };
    return this.#dispatcher.receive(message, origin, options) as Promise<Reply | undefined>;
  };

  readonly unsendable = (reply: unknown, error: HarnessError): Reply => {
    const { id } = reply as Reply;
    return this.#dispatcher.unsendable({ jsonrpc: "2.0", id, result: null }, error) as Reply;
  };

  readonly malformed = (error: HarnessError): Reply =>
    this.#dispatcher.malformed(error) ??
    this.#dispatcher.refuse(invalidRequestError("not_json_rpc", "Not a message"), {
      kind: "invalid",
      id: undefined,
      method: undefined,
      params: undefined,
    });

  stats(): AhpServerStats {
    return {
      ...this.#dispatcher.stats(),
      decisions: { ...this.#decisions },
      connections: this.#open.size,
      runs: this.#runs.size,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const cause = new ConnectionClosedError("the harness is closed");
    this.#dispatcher.close(new RequestCancelledError("the decision", { cause }));
    const channels = [...this.#open.keys()];
    for (const server of this.#open.values()) server.finish();
    await Promise.all(channels.map(({ closed }) => closed));
    // What was notified before its connection closed is still kept.
    await this.#stateStore?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What stands in the way of a call before anything of its params is read. */
  #guard(method: string, origin: AgentOrigin<Context>): void {
    if (this.#isClosed) throw handlerFailure("server_closed", "the harness is closed");
    if (method !== "ahp/handshake" && origin.needsHandshake) throw handshakeRequired();
    if (method !== "ahp/handshake" && this.#audit.isFull)
      throw handlerFailure("audit_full", "the audit log takes no entries: nothing is decided until it does");
  }
}

/**
 * Makes a harness that asks `handlers` what agents may do. It does no I/O: give it channels with `connect`, messages with
 * `handle`, or both. Throws `invalid_argument` for limits that are not valid, and what the `load` of its store throws.
 */
export const createAhpServer = <Context = unknown>(options: AhpServerOptions<Context>): AhpServer<Context> =>
  new Server(checkAhpServerOptions(options));
