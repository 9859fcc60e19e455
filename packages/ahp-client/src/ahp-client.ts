import {
  AHP_VERSION,
  type AhpEvent,
  type AhpEventType,
  type BlockingEventType,
  type Decision,
  type DecisionFor,
  type EventPayloadInput,
  type HandshakeResult,
  type NotificationEventType,
  type QueryResult,
} from "@harnesskit/protocol/ahp";
import {
  type CloseReason,
  callSafely,
  type HarnessError,
  InvalidArgumentError,
  randomId,
  systemClock,
} from "@harnesskit/wire";
import type { SessionCallOptions, SessionState } from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";
import { toDecisions, toQueryResult } from "./answers.ts";
import {
  type AhpCallOptions,
  type AhpClient,
  type AhpClientOptions,
  type AhpClientStats,
  type AhpConnectOptions,
  type AhpErrorContext,
  ahpClientLimits,
  type NotificationReceipt,
  type QueryPayload,
} from "./client-options.ts";
import { callClassOf, checkedTimeout, Deadlines } from "./deadlines.ts";
import { AhpUsageError } from "./errors.ts";
import { tracedQuestion, withTrace, withTraces } from "./event-trace.ts";
import {
  assertEventType,
  assertKind,
  type BatchEvent,
  createBatch,
  createEvent,
  createQuery,
  type EventFields,
  type Sender,
} from "./events.ts";
import { assertBatch, assertDepth, type HarnessLimits, toHarnessLimits } from "./harness-limits.ts";
import { HarnessSession } from "./harness-session.ts";
import { type HeartbeatState, startHeartbeat } from "./heartbeat.ts";
import { Judge, type Verdict } from "./judge.ts";
import { NotificationQueue } from "./notification-queue.ts";
import { checkAhpClientOptions } from "./option-names.ts";

/** What can be called: the blocking events, and the two methods beside. */
type CallName = BlockingEventType | "query" | "batch";

class HarnessClient implements AhpClient {
  readonly sessionId: string;
  readonly agentId: string;
  readonly #options: AhpClientOptions;
  readonly #sender: Sender;
  readonly #startedAt: number;
  readonly #deadlines: Deadlines;
  readonly #judge: Judge;
  readonly #session: HarnessSession;
  readonly #notifications: NotificationQueue;
  readonly #closing = new AbortController();
  readonly #resent: ReadonlySet<CallName>;
  readonly #maxAttempts: number;
  #events = 0;
  #dropped = 0;

  constructor(options: AhpClientOptions) {
    const { clock = systemClock, createId = randomId, framework, version } = options;
    const limits = ahpClientLimits.resolve(options.limits);
    const { calls = [], maxAttempts = 2 } = options.resend ?? {};
    if (!(maxAttempts >= 1)) throw new InvalidArgumentError("resend.maxAttempts must be at least 1");
    this.#options = options;
    this.#resent = new Set(calls);
    this.#maxAttempts = maxAttempts;
    this.#startedAt = clock.elapsedMs();
    this.sessionId = options.sessionId ?? createId("ses");
    this.agentId = options.agentId ?? createId("agent");
    this.#sender = { sessionId: this.sessionId, agentId: this.agentId, clock };
    this.#deadlines = new Deadlines(options, limits.maxTimeoutMs);
    this.#judge = new Judge(options);
    this.#session = new HarnessSession({
      client: options,
      clock,
      params: {
        protocol_version: AHP_VERSION,
        agent_info: { framework, version, capabilities: [...(options.capabilities ?? [])] },
        session_id: this.sessionId,
        agent_id: this.agentId,
      },
      maxInFlight: limits.maxInFlight,
      handshakeTimeoutMs: () => this.#deadlines.of("handshake", undefined),
      notifyTimeoutMs: () => this.#deadlines.of("notification", this.harness?.config),
      onDropped: (error) => {
        this.#dropped++;
        this.#report(error, "message");
      },
      onAttemptFailed: (error) => this.#report(error, "connection"),
      onListenerFailed: (error) => this.#report(error, "listener"),
      onState: (state) => this.#notifications.changed(state),
    });
    this.#notifications = new NotificationQueue({
      ...limits,
      session: this.#session,
      clock,
      makeReport:
        options.reportLosses === false ? undefined : (payload) => createEvent(this.#sender, "error", payload),
      onLoss: (report) => callSafely(() => this.#options.onLoss?.(report)),
    });
  }

  get state(): SessionState {
    return this.#session.state;
  }

  onState(listener: (state: SessionState) => void): () => void {
    return this.#session.onState(listener);
  }

  get harness(): HandshakeResult | undefined {
    return this.#session.harness;
  }

  get #limits(): HarnessLimits {
    return toHarnessLimits(this.harness?.config);
  }

  stats(): AhpClientStats {
    return {
      events: this.#events,
      ...this.#session.stats(),
      ...this.#notifications.counts,
      droppedMessages: this.#dropped,
    };
  }

  async connect({ timeoutMs, signal, retry }: AhpConnectOptions = {}): Promise<HandshakeResult> {
    const waitMs =
      retry && timeoutMs === undefined ? undefined : this.#deadlines.of("handshake", undefined, timeoutMs);
    return this.#session.shakeHands({ timeoutMs: waitMs, signal, retry });
  }

  decide<T extends BlockingEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options: EventFields & AhpCallOptions = {},
  ): Promise<Verdict<DecisionFor<T>>> {
    const { session_id: sessionId = this.sessionId, agent_id: agentId = this.agentId } = options;
    return tracedQuestion({ eventType, sessionId, agentId, input: payload }, () =>
      this.#decide(eventType, payload, options),
    );
  }

  #decide<T extends BlockingEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options: EventFields & AhpCallOptions,
  ): Promise<Verdict<DecisionFor<T>>> {
    const judge = (outcome: unknown) => this.#judge.verdict<DecisionFor<T>>(eventType, outcome);
    try {
      const event = this.#createEvent(eventType, payload, options, true);
      const call = this.#callOptions(eventType, options, () => assertDepth(event, this.#limits));
      this.#events++;
      return this.#session.request("ahp/event", event, call).then(judge, judge);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  notify<T extends NotificationEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options?: EventFields,
  ): NotificationReceipt {
    const event = this.#createEvent(eventType, payload, options, false);
    this.#events++;
    const isTooDeep = event.depth > this.#limits.maxDepth;
    if (isTooDeep) this.#notifications.lose(eventType, 0, "depth_exceeded");
    return { decision: { decision: "allow" }, accepted: !isTooDeep && this.#notifications.add(event) };
  }

  async batch(events: readonly BatchEvent[], options: AhpCallOptions = {}): Promise<Verdict<Decision>[]> {
    this.#assertIntroduced();
    const complete = createBatch(this.#sender, withTraces(events));
    const { length } = complete;
    if (length === 0) return [];
    const call = this.#callOptions("batch", options, () => assertBatch(complete, this.#limits));
    this.#events += length;
    const outcomes = await this.#session
      .request("ahp/batch", { events: complete }, call)
      .then((result) => toDecisions(result, length))
      .catch((error: unknown) => complete.map(() => error));
    return complete.map(({ event_type }, index) => this.#judge.verdict(event_type, outcomes[index]));
  }

  async query(queryType: string, payload: QueryPayload, options: AhpCallOptions = {}): Promise<QueryResult> {
    this.#assertIntroduced();
    const params = createQuery(this.#sender, queryType, payload);
    return toQueryResult(
      await this.#session.request("ahp/query", params, this.#callOptions("query", options)),
    );
  }

  startHeartbeat(intervalMs: number, state: string | (() => HeartbeatState)): () => void {
    this.#assertIntroduced();
    return startHeartbeat({
      intervalMs,
      state,
      clock: this.#sender.clock,
      startedAt: this.#startedAt,
      events: () => this.#events,
      isConnected: () => this.#session.state === "ready",
      signal: this.#closing.signal,
      send: (payload) => this.notify("heartbeat", payload),
      onError: (error) => {
        this.#report(error, "heartbeat");
        this.#notifications.lose("heartbeat", 0, error.code);
      },
    });
  }

  async flush({ timeoutMs = 5000 }: { readonly timeoutMs?: number } = {}): Promise<boolean> {
    const wait = { clock: this.#sender.clock, name: "flush", timeoutMs: checkedTimeout(timeoutMs) };
    return within(this.#notifications.whenEmpty(), wait).then(
      () => true,
      () => false,
    );
  }

  get closed(): Promise<CloseReason> {
    return this.#session.closed;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#session.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A call that was sent and lost its connection is sent again only where `resend` names it. Throws `invalid_argument`. */
  #callOptions(
    name: CallName,
    { timeoutMs, signal }: AhpCallOptions,
    beforeSend?: () => void,
  ): SessionCallOptions {
    const callClass = name === "query" || name === "batch" ? name : callClassOf[name];
    return {
      timeoutMs: this.#deadlines.of(callClass, this.harness?.config, timeoutMs),
      signal,
      maxAttempts: this.#resent.has(name) ? this.#maxAttempts : 1,
      beforeSend,
    };
  }

  /** Calls before the first handshake fail, unless one is being retried. */
  #assertIntroduced(): void {
    if (this.harness || this.state === "connecting" || this.state === "closed") return;
    throw new AhpUsageError("handshake_required", "connect() must succeed before anything else is sent");
  }

  #createEvent(
    eventType: AhpEventType,
    payload: unknown,
    fields: EventFields | undefined,
    blocking: boolean,
  ): AhpEvent {
    this.#assertIntroduced();
    assertEventType(eventType);
    assertKind(eventType, blocking);
    return createEvent(this.#sender, eventType, payload, withTrace(fields));
  }

  #report(error: HarnessError, kind: AhpErrorContext["kind"]): void {
    callSafely(() => this.#options.onError?.(error, { kind }));
  }
}

/**
 * Makes the agent's side of AHP 2.4. Nothing is opened before `connect`. Throws `invalid_argument` for options under
 * which nothing could work.
 */
export const createAhpClient = (options: AhpClientOptions): AhpClient =>
  new HarnessClient(checkAhpClientOptions(options));
