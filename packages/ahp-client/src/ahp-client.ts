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
import { type Clock, HarnessError, quietly, randomId, systemClock } from "@harnesskit/wire";
import { Calls } from "./calls.ts";
import type {
  AhpClient,
  AhpClientOptions,
  AhpClientStats,
  CallOptions,
  GateEventType,
  NotificationReceipt,
  QueryPayload,
} from "./client-options.ts";
import { callClassOf, checkedTimeout, Deadlines } from "./deadlines.ts";
import { sourceOf } from "./endpoint.ts";
import { toFailure } from "./errors.ts";
import {
  assertEventType,
  assertKind,
  type BatchEvent,
  completeEvents,
  type EventFields,
  type FullEvent,
  keepEvent,
  makeEvent,
} from "./events.ts";
import { checkBatch, isAdvertised, toDecisions } from "./harness-rules.ts";
import { beat, type HeartbeatState } from "./heartbeat.ts";
import { Judge } from "./judge.ts";
import { type HarnessLimits, resolveLimits, toHarnessLimits } from "./limits.ts";
import { type ClientState, Link } from "./link.ts";
import { Notifier } from "./notifier.ts";
import { toQueryParams, toQueryResult } from "./query.ts";
import { Question } from "./question.ts";
import { resolveReconnect } from "./reconnect.ts";
import { Renewals } from "./renewals.ts";
import type { Verdict } from "./verdict.ts";
import { within } from "./within.ts";

class Client implements AhpClient {
  readonly sessionId: string;
  readonly agentId: string;
  readonly #options: AhpClientOptions;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #deadlines: Deadlines;
  readonly #judge: Judge;
  readonly #link: Link;
  readonly #calls: Calls;
  readonly #notifier: Notifier;
  readonly #heartbeats = new Set<() => void>();
  #events = 0;
  #dropped = 0;

  constructor(options: AhpClientOptions) {
    const { clock = systemClock, createId = randomId, framework, version } = options;
    const limits = resolveLimits(options.limits ?? {});
    const { maxInFlight } = limits;
    this.#options = options;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.sessionId = options.sessionId ?? createId("ses");
    this.agentId = options.agentId ?? createId("agent");
    this.#deadlines = new Deadlines(options, limits.maxTimeoutMs);
    this.#judge = new Judge({ failOpen: options.failOpen, onFailOpen: options.onFailOpen });
    const handshakeTimeoutMs = () => this.#deadlines.of("handshake", undefined);
    const notifyTimeoutMs = () => this.#deadlines.of("notification", this.#link.harness?.config);
    const onDropped = (error: HarnessError) => {
      this.#dropped++;
      this.#report(error);
    };
    const params = {
      protocol_version: AHP_VERSION,
      agent_info: { framework, version, capabilities: [...(options.capabilities ?? [])] },
      session_id: this.sessionId,
      agent_id: this.agentId,
    };
    this.#link = new Link({
      source: sourceOf(options, { clock, maxInFlight, notifyTimeoutMs, onDropped }),
      policy: resolveReconnect(options.reconnect),
      clock,
      params,
      handshakeTimeoutMs,
      onState: (state) => {
        this.#notifier.changed(state);
        quietly(() => this.#options.onState?.(state));
      },
    });
    const link = this.#link;
    const renewals = new Renewals({ link, clock, params });
    this.#calls = new Calls({ link, renewals, clock, maxInFlight, resend: options.resend });
    this.#notifier = new Notifier({
      ...limits,
      link,
      renewals,
      clock,
      handshakeTimeoutMs,
      makeReport:
        options.reportLosses === false ? undefined : (payload) => this.#make("error", payload, undefined),
      onLoss: (report) => quietly(() => this.#options.onLoss?.(report)),
    });
  }

  get state(): ClientState {
    return this.#link.state;
  }

  get harness(): HandshakeResult | undefined {
    return this.#link.harness;
  }

  get harnessLimits(): HarnessLimits {
    return toHarnessLimits(this.#link.harness?.config);
  }

  supports(eventType: AhpEventType): boolean {
    assertEventType(eventType);
    return isAdvertised(this.#link.harness, eventType);
  }

  stats(): AhpClientStats {
    const { queue } = this.#notifier;
    return {
      events: this.#events,
      ...this.#judge.counts,
      inFlight: this.#calls.inFlight,
      notificationsSent: queue.sent,
      notificationsBuffered: queue.size,
      notificationsLost: this.#notifier.lost,
      droppedMessages: this.#dropped,
      reconnects: this.#link.reconnects,
    };
  }

  async handshake({ timeoutMs, signal }: CallOptions = {}): Promise<HandshakeResult> {
    return this.#link.handshake({ timeoutMs: this.#deadlines.of("handshake", undefined, timeoutMs), signal });
  }

  decide<T extends GateEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options?: EventFields & CallOptions,
  ): Promise<Verdict<Decision>> {
    return this.sendTyped(eventType, payload, options) as Promise<Verdict<Decision>>;
  }

  sendTyped<T extends BlockingEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options: EventFields & CallOptions = {},
  ): Promise<Verdict<DecisionFor<T>>> {
    try {
      this.#link.assertIntroduced();
      assertEventType(eventType);
      assertKind(eventType, true);
      return this.#ask(eventType, this.#make(eventType, payload, options), options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async sendFull<T extends BlockingEventType>(
    event: FullEvent<T>,
    options: CallOptions = {},
  ): Promise<Verdict<DecisionFor<T>>> {
    this.#link.assertIntroduced();
    const full = keepEvent(event);
    assertKind(full.event_type, true);
    return this.#ask(full.event_type as T, full, options);
  }

  notify<T extends NotificationEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options?: EventFields,
  ): NotificationReceipt {
    this.#link.assertIntroduced();
    assertEventType(eventType);
    assertKind(eventType, false);
    return this.#tell(this.#make(eventType, payload, options));
  }

  notifyFull<T extends NotificationEventType>(event: FullEvent<T>): NotificationReceipt {
    this.#link.assertIntroduced();
    const full = keepEvent(event);
    assertKind(full.event_type, false);
    return this.#tell(full);
  }

  async batch(events: readonly BatchEvent[], options: CallOptions = {}): Promise<Verdict<Decision>[]> {
    this.#link.assertIntroduced();
    const complete = completeEvents(this.#sender, events);
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

  async query(queryType: string, payload: QueryPayload, options: CallOptions = {}): Promise<QueryResult> {
    this.#link.assertIntroduced();
    const params = toQueryParams(this.#sender, queryType, payload);
    return toQueryResult(await this.#calls.send("ahp/query", params, "query", this.#times("query", options)));
  }

  startHeartbeat(intervalMs: number, state: string | (() => HeartbeatState)): () => void {
    this.#link.assertIntroduced();
    const stop = beat({
      intervalMs,
      state,
      clock: this.#clock,
      startedAt: this.#startedAt,
      events: () => this.#events,
      isConnected: () => this.#link.state === "ready",
      send: (payload) => this.notify("heartbeat", payload),
      onError: (cause) => {
        const error = HarnessError.isInstance(cause)
          ? cause
          : new HarnessError("handler_failed", "the state of a heartbeat failed", { cause });
        this.#report(error);
        this.#notifier.leaveOut("heartbeat", error.code);
      },
    });
    // It may have been closed before, or by the state that the first beat asked for.
    if (this.#link.state === "closed") stop();
    else this.#heartbeats.add(stop);
    return () => {
      this.#heartbeats.delete(stop);
      stop();
    };
  }

  async flush({ timeoutMs = 5000 }: { readonly timeoutMs?: number } = {}): Promise<boolean> {
    const { queue } = this.#notifier;
    const wait = { clock: this.#clock, name: "flush", timeoutMs: checkedTimeout(timeoutMs) };
    return within(() => queue.whenEmpty(), wait).then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    for (const stop of this.#heartbeats) stop();
    this.#heartbeats.clear();
    await this.#link.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #sender() {
    return { sessionId: this.sessionId, agentId: this.agentId, clock: this.#clock };
  }

  #make(eventType: AhpEventType, payload: unknown, fields: EventFields | undefined): AhpEvent {
    return makeEvent(this.#sender, eventType, payload, fields);
  }

  #times(callClass: "query" | "batch", { timeoutMs, signal }: CallOptions) {
    return { timeoutMs: this.#deadlines.of(callClass, this.#link.harness?.config, timeoutMs), signal };
  }

  #ask<T extends BlockingEventType>(
    eventType: T,
    event: AhpEvent,
    { timeoutMs, signal }: CallOptions,
  ): Promise<Verdict<DecisionFor<T>>> {
    const deadlineMs = this.#deadlines.of(callClassOf[eventType], this.#link.harness?.config, timeoutMs);
    this.#events++;
    const question = new Question(event, eventType, this.#judge, deadlineMs, signal);
    return this.#calls.send("ahp/event", event, eventType, question) as Promise<Verdict<DecisionFor<T>>>;
  }

  #tell(event: AhpEvent): NotificationReceipt {
    this.#events++;
    return this.#notifier.tell(event);
  }

  #report(error: HarnessError): void {
    quietly(() => this.#options.onError?.(error));
  }
}

/**
 * Makes the agent's side of AHP 2.4. Nothing is opened before `handshake`. Throws `invalid_argument` for options under
 * which nothing could work.
 */
export const createAhpClient = (options: AhpClientOptions): AhpClient => new Client(options);
