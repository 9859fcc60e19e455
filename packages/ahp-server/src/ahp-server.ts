import {
  type Channel,
  ConnectionClosedError,
  type HarnessError,
  quietly,
  systemClock,
} from "@harnesskit/wire";
import { AuditTrail } from "./audit-trail.ts";
import { Connection } from "./connection.ts";
import { Decider } from "./decider.ts";
import { Dispatcher } from "./dispatcher.ts";
import { ExchangeOrigin, type Exchanges } from "./exchange-origin.ts";
import { toCapabilities, toHandshakeResult } from "./handshake.ts";
import { resolveLimits } from "./limits.ts";
import { Load } from "./load.ts";
import { NotificationLanes } from "./notification-lanes.ts";
import { ownerKey } from "./owner-key.ts";
import { invalidRequest, toFaultRefusal } from "./refusal.ts";
import { unsendableReply } from "./reply-sender.ts";
import type { Reply, ServerParts } from "./server-parts.ts";
import type { AhpServerOptions } from "./server-settings.ts";
import { type AhpServerGauges, type AhpServerStats, createStats, DecisionCounts } from "./server-stats.ts";
import { SessionTable } from "./session-table.ts";
import type { AhpState } from "./state/run-state.ts";
import { RunStates } from "./state/run-states.ts";
import type { StateStore } from "./state/state-store.ts";
import { Supervisor } from "./supervisor.ts";

/** The harness's side of AHP 2.4, for any number of connections and exchanges at once. */
export interface AhpServer<Context = unknown> {
  /**
   * Serves one agent on a channel, and starts it. A handshake on it holds for everything after it. Throws
   * `connection_closed` after `close`, and `invalid_argument` for a principal that has no JSON.
   */
  connect(channel: Channel<Context>): void;
  /**
   * Takes one message of an exchange (an HTTP POST). Gives its answer, or undefined for a notification that was taken; one
   * that is refused is answered with an error and the id "". Requests go by the handshake of the same
   * credential (`exchangeHandshake`). Where the context has a `signal`, its abort cancels the request. Never rejects.
   */
  readonly handle: (message: unknown, context: Context) => Promise<Reply | undefined>;
  /** The answer to a body that is no message (`invalid_message`, `frame_too_large`): -32700 or -32600 with the id "". */
  readonly malformed: (error: HarnessError) => Reply;
  /** The answer in the place of one that cannot be sent: it is too large, too deep or no JSON. -32603, `result_too_large`. */
  readonly unsendable: (reply: unknown, error: HarnessError) => Reply;
  /** The durable contracts of all agents, reduced to their runs. */
  readonly state: AhpState;
  /** What was counted so far, and what there is now; a copy. */
  stats(): AhpServerStats & AhpServerGauges;
  /** Cancels what is being handled, closes every connection and ends every watch; takes nothing more. Idempotent. */
  close(): Promise<void>;
}

const principalIn = (context: unknown): unknown =>
  typeof context === "object" && context !== null
    ? (context as { principal?: unknown }).principal
    : undefined;

class Server<Context> implements AhpServer<Context> {
  readonly #parts: ServerParts<Context>;
  readonly #dispatcher: Dispatcher<Context>;
  readonly #exchanges: Exchanges<Context>;
  readonly #principalOf: (context: Context) => unknown;
  readonly #connections = new Set<Connection<Context>>();
  readonly #stateStore: StateStore | undefined;
  #isClosed = false;

  constructor(options: AhpServerOptions<Context>) {
    const { limits, handlerTimeoutMs } = resolveLimits(options.limits ?? {}, options.handlerTimeoutMs);
    const { handlers, clock = systemClock } = options;
    const onError = (error: unknown): void => quietly(() => options.onError?.(error));
    const decisions = new DecisionCounts();
    const stats = createStats(decisions);
    const capabilities = options.capabilities ?? toCapabilities((name) => handlers[name] !== undefined);
    const info = { name: options.name, version: options.version, capabilities: [...capabilities] };
    const result = toHandshakeResult(info, limits);
    const { createSessionToken } = options;
    this.#parts = {
      limits,
      clock,
      stats,
      decisions,
      onError,
      audit: new AuditTrail(options.audit, onError),
      decider: new Decider({ handlers, stats, onFailure: onError }),
      supervisor: new Supervisor({ timeoutMs: handlerTimeoutMs, clock, stats }),
      lanes: new NotificationLanes(),
      states: new RunStates({ limits, stats, store: options.stateStore, onError }),
      toHandshakeResult: (handshake, context) =>
        createSessionToken ? { ...result, session_token: createSessionToken(handshake, context) } : result,
      isClosed: () => this.#isClosed,
    };
    this.#stateStore = options.stateStore;
    this.#dispatcher = new Dispatcher(this.#parts);
    this.#principalOf = options.principalOf ?? principalIn;
    this.#exchanges = {
      sessions: new SessionTable({
        clock,
        maxSessions: limits.maxSessions,
        ttlMs: limits.sessionTtlMs,
        anySession: options.exchangeHandshake !== "session",
      }),
      load: new Load(limits.maxPending),
      cancel: (call, cause) => this.#parts.supervisor.cancel(call, cause),
    };
  }

  get state(): AhpState {
    return this.#parts.states;
  }

  connect(channel: Channel<Context>): void {
    if (this.#isClosed) throw new ConnectionClosedError("the harness is closed");
    const { stats, limits, onError } = this.#parts;
    const principal = this.#principalOf(channel.context);
    const connection = new Connection(channel, {
      label: `connection ${++stats.connections}`,
      principal,
      owner: ownerKey(principal),
      maxPending: limits.maxPendingPerConnection,
      load: this.#exchanges.load,
      dispatcher: this.#dispatcher,
      cancel: this.#exchanges.cancel,
      onUnsendable: () => {
        stats.unsendableReplies++;
      },
      onError,
    });
    this.#connections.add(connection);
    void channel.closed.then(() => this.#connections.delete(connection));
    connection.start();
  }

  readonly handle = (message: unknown, context: Context): Promise<Reply | undefined> => {
    try {
      const principal = this.#principalOf(context);
      const origin = new ExchangeOrigin(this.#exchanges, context, principal, ownerKey(principal));
      return Promise.resolve(this.#dispatcher.receive(message, origin));
    } catch (cause) {
      return Promise.resolve(this.#dispatcher.broken(message, cause));
    }
  };

  readonly unsendable = (reply: unknown): Reply => {
    this.#parts.stats.unsendableReplies++;
    return unsendableReply(reply as Reply);
  };

  readonly malformed = (error: HarnessError): Reply =>
    this.#dispatcher.malformed(toFaultRefusal(error) ?? invalidRequest("not_json_rpc", "Not a message"));

  stats(): AhpServerStats & AhpServerGauges {
    const { stats, supervisor, states } = this.#parts;
    return {
      ...stats,
      decisions: { ...stats.decisions },
      openConnections: this.#connections.size,
      pending: supervisor.size,
      sessions: this.#exchanges.sessions.size,
      runs: states.size,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const { supervisor, states } = this.#parts;
    supervisor.close(new ConnectionClosedError("the harness is closed"));
    states.close();
    await Promise.all([...this.#connections].map((connection) => connection.close()));
    // What was told before its connection closed is still kept.
    this.#stateStore?.close();
  }
}

/**
 * Makes a harness that asks `handlers` what agents may do. It does no I/O: give it channels with `connect`, messages with
 * `handle`, or both. Throws `invalid_argument` for limits under which nothing could work, and what the `load` of its
 * store throws.
 */
export const createAhpServer = <Context = unknown>(options: AhpServerOptions<Context>): AhpServer<Context> =>
  new Server(options);
