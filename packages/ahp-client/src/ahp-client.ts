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
import { type CloseReason, callSafely, HarnessError, randomId, systemClock } from "@harnesskit/wire";
import { SessionListeners, type SessionState } from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";
import { Calls } from "./calls.ts";
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
import { AhpUsageError, toFailure } from "./errors.ts";
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
import {
  type AhpHarnessLimits,
  checkBatch,
  checkEvent,
  isAdvertised,
  toDecisions,
  toHarnessLimits,
  toQueryResult,
} from "./harness-rules.ts";
import { HarnessSession } from "./harness-session.ts";
import { type HeartbeatState, startHeartbeat } from "./heartbeat.ts";
import { Judge, type Verdict } from "./judge.ts";
import { NotificationOutbox } from "./notification-outbox.ts";
import { checkAhpClientOptions } from "./option-names.ts";

class HarnessClient implements AhpClient {
  readonly sessionId: string;
  readonly agentId: string;
  readonly #options: AhpClientOptions;
  readonly #sender: Sender;
  readonly #startedAt: number;
  readonly #deadlines: Deadlines;
  readonly #judge: Judge;
  readonly #session: HarnessSession;
  readonly #calls: Calls;
  readonly #outbox: NotificationOutbox;
  readonly #closing = new AbortController();
  readonly #listeners = new SessionListeners((error) => this.#report(error, "listener"));
  #events = 0;
  #dropped = 0;

  constructor(options: AhpClientOptions) {
    const { clock = systemClock, createId = randomId, framework, version } = options;
    const limits = ahpClientLimits.resolve(options.limits);
    const { maxInFlight } = limits;
    this.#options = options;
    this.#startedAt = clock.elapsedMs();
    this.sessionId = options.sessionId ?? createId("ses");
    this.agentId = options.agentId ?? createId("agent");
    this.#sender = { sessionId: this.sessionId, agentId: this.agentId, clock };
    this.#deadlines = new Deadlines(options, limits.maxTimeoutMs);
    this.#judge = new Judge({ failOpen: options.failOpen, onFailOpen: options.onFailOpen });
    const handshakeTimeoutMs = () => this.#deadlines.of("handshake", undefined);
    const params = {
      protocol_version: AHP_VERSION,
      agent_info: { framework, version, capabilities: [...(options.capabilities ?? [])] },
      session_id: this.sessionId,
      agent_id: this.agentId,
    };
    this.#session = new HarnessSession({
      endpoint: options,
      reconnect: options.reconnect,
      clock,
      params,
      maxInFlight,
      handshakeTimeoutMs,
      notifyTimeoutMs: () => this.#deadlines.of("notification", this.harness?.config),
      onDropped: (error) => {
        this.#dropped++;
        this.#report(error, "message");
      },
      onError: (error) => this.#report(error, "connection"),
      onState: (state) => {
        this.#outbox.changed(state);
        this.#listeners.notify(state);
      },
    });
    const session = this.#session;
    this.#calls = new Calls({ session, clock, maxInFlight, resend: options.resend });
    this.#outbox = new NotificationOutbox({
      ...limits,
      session,
      clock,
      handshakeTimeoutMs,
      makeReport:
        options.reportLosses === false ? undefined : (payload) => createEvent(this.#sender, "error", payload),
      onLoss: (report) => callSafely(() => this.#options.onLoss?.(report)),
    });
  }

  get state(): SessionState {
    return this.#session.state;
  }

  onState(listener: (state: SessionState) => void): () => void {
    return this.#listeners.add(listener);
  }

  get harness(): HandshakeResult | undefined {
    return this.#session.harness;
  }

  get harnessLimits(): AhpHarnessLimits {
    return toHarnessLimits(this.harness?.config);
  }

  supports(eventType: AhpEventType): boolean {
    assertEventType(eventType);
    return isAdvertised(this.#session.harness, eventType);
  }

  stats(): AhpClientStats {
    return {
      events: this.#events,
      ...this.#judge.counts,
      inFlight: this.#calls.inFlight,
      ...this.#outbox.counts,
      droppedMessages: this.#dropped,
      reconnects: this.#session.reconnects,
    };
  }

  async connect({ timeoutMs, signal, retry }: AhpConnectOptions = {}): Promise<HandshakeResult> {
    const waitMs =
      retry && timeoutMs === undefined ? undefined : this.#deadlines.of("handshake", undefined, timeoutMs);
    return this.#session.connect({ timeoutMs: waitMs, signal, retry });
  }

  decide<T extends BlockingEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options: EventFields & AhpCallOptions = {},
  ): Promise<Verdict<DecisionFor<T>>> {
    const { session_id: sessionId = this.sessionId, agent_id: agentId = this.agentId } = options;
    return tracedQuestion({ eventType, sessionId, agentId, payload }, () =>
      this.#decide(eventType, payload, options),
    );
  }

  async #decide<T extends BlockingEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options: EventFields & AhpCallOptions,
  ): Promise<Verdict<DecisionFor<T>>> {
    const event = this.#createEvent(eventType, payload, options, true);
    const timeoutMs = this.#deadlines.of(callClassOf[eventType], this.harness?.config, options.timeoutMs);
    this.#events++;
    let outcome: unknown;
    try {
      outcome = await this.#calls.send("ahp/event", event, eventType, {
        timeoutMs,
        signal: options.signal,
        events: [event],
        check: (harness) => checkEvent(event, harness),
      });
    } catch (error) {
      outcome = toFailure(error);
    }
    return this.#judge.verdict(eventType, outcome);
  }

  notify<T extends NotificationEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options?: EventFields,
  ): NotificationReceipt {
    const event = this.#createEvent(eventType, payload, options, false);
    this.#events++;
    return this.#outbox.add(event);
  }

  async batch(events: readonly BatchEvent[], options: AhpCallOptions = {}): Promise<Verdict<Decision>[]> {
    this.#assertIntroduced();
    const complete = createBatch(this.#sender, withTraces(events));
    const { length } = complete;
    if (length === 0) return [];
    const times = this.#times("batch", options);
    this.#events += length;
    const outcomes = await this.#calls
      .send("ahp/batch", { events: complete }, "batch", {
        ...times,
        events: complete,
        check: (harness) => checkBatch(complete, harness),
      })
      .then((result) => toDecisions(result, length))
      .catch((error: unknown) => complete.map(() => toFailure(error)));
    return complete.map(({ event_type }, index) => this.#judge.verdict(event_type, outcomes[index]));
  }

  async query(queryType: string, payload: QueryPayload, options: AhpCallOptions = {}): Promise<QueryResult> {
    this.#assertIntroduced();
    const params = createQuery(this.#sender, queryType, payload);
    return toQueryResult(await this.#calls.send("ahp/query", params, "query", this.#times("query", options)));
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
      onError: (cause) => {
        const error = HarnessError.isInstance(cause)
          ? cause
          : new HarnessError("handler_failed", "the state of a heartbeat failed", { cause });
        this.#report(error, "heartbeat");
        this.#outbox.lose({ type: "heartbeat", bytes: 0 }, error.code);
      },
    });
  }

  async flush({ timeoutMs = 5000 }: { readonly timeoutMs?: number } = {}): Promise<boolean> {
    const wait = { clock: this.#sender.clock, name: "flush", timeoutMs: checkedTimeout(timeoutMs) };
    return within(this.#outbox.whenEmpty(), wait).then(
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

  #times(callClass: "query" | "batch", { timeoutMs, signal }: AhpCallOptions) {
    return { timeoutMs: this.#deadlines.of(callClass, this.harness?.config, timeoutMs), signal };
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
