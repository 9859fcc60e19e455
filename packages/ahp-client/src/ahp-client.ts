import {
  AHP_VERSION,
  type AhpEvent,
  type BlockingEventType,
  type Decision,
  type DecisionFor,
  type EventPayloadInput,
  type HandshakeResult,
  type NotificationEventType,
  type QueryResult,
  QueryResultSchema,
} from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type CloseReason,
  callSafely,
  checkNumber,
  defineLimits,
  type HarnessError,
  randomId,
  systemClock,
} from "@harnesskit/wire";
import type { SessionCallOptions, SessionState } from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";
import { decided, decisionSpan, type Span, traced } from "@harnesskit/wire/trace";
import type { AhpCallOptions, AhpClient, AhpClientOptions, AhpErrorContext } from "./client-options.ts";
import { type CallName, checkTimeout, Deadlines, limitOf } from "./deadlines.ts";
import { AhpFailure, AhpUsageError, firstIssue, toFailure, withStderr } from "./errors.ts";
import {
  type BatchEvent,
  createBatch,
  createEvent,
  createQuery,
  type EventFields,
  type Sender,
} from "./events.ts";
import { HarnessSession } from "./harness-session.ts";
import { NotificationQueue } from "./notification-queue.ts";
import { checkAhpClientOptions } from "./option-names.ts";
import { toVerdict, type Verdict } from "./verdict.ts";

const clientLimits = defineLimits({ maxInFlight: 256, maxBufferedNotifications: 1000 });

class HarnessClient implements AhpClient {
  readonly sessionId: string;
  readonly agentId: string;
  readonly #options: AhpClientOptions;
  readonly #sender: Sender;
  readonly #deadlines: Deadlines;
  readonly #session: HarnessSession;
  readonly #notifications: NotificationQueue;
  readonly #resent: ReadonlySet<CallName>;
  readonly #maxAttempts: number;
  #isReporting = false;

  constructor(options: AhpClientOptions) {
    const { clock = systemClock, framework, version, capabilities = [] } = options;
    const { maxInFlight, maxBufferedNotifications } = clientLimits.resolve(options.limits);
    const { calls = [], maxAttempts = 2 } = options.resend ?? {};
    this.#options = options;
    this.#resent = new Set(calls);
    this.#maxAttempts = checkNumber("resend.maxAttempts", maxAttempts);
    this.sessionId = options.sessionId ?? randomId("ses");
    this.agentId = options.agentId ?? randomId("agent");
    this.#sender = { sessionId: this.sessionId, agentId: this.agentId, clock };
    this.#deadlines = new Deadlines(options);
    this.#session = new HarnessSession({
      client: options,
      clock,
      params: {
        protocol_version: AHP_VERSION,
        agent_info: { framework, version, capabilities: [...capabilities] },
        session_id: this.sessionId,
        agent_id: this.agentId,
      },
      maxInFlight,
      handshakeTimeoutMs: () => this.#deadlines.of("handshake", undefined),
      notifyTimeoutMs: () => this.#deadlines.of("notification", this.harness?.config),
      onDropped: (error) => this.#report(error, { kind: "message" }),
      onAttemptFailed: (error) => this.#report(error, { kind: "connection" }),
      onListenerFailed: (error) => this.#report(error, { kind: "listener" }),
      onState: (state) => this.#notifications.changed(state),
    });
    this.#notifications = new NotificationQueue(this.#session, maxBufferedNotifications, (event, failure) =>
      this.#report(failure, { kind: "notification", event }),
    );
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

  async connect({
    timeoutMs,
    signal,
    retry,
  }: AhpCallOptions & { readonly retry?: boolean | undefined } = {}): Promise<HandshakeResult> {
    const isEndless = retry && timeoutMs === undefined;
    const waitMs = isEndless ? undefined : this.#deadlines.of("handshake", undefined, timeoutMs);
    try {
      const { introduction } = await this.#session.connect({ timeoutMs: waitMs, signal, retry });
      return this.harness ?? introduction;
    } catch (error) {
      throw withStderr(this.#session.toFailure(error));
    }
  }

  decide<T extends BlockingEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options: EventFields & AhpCallOptions = {},
  ): Promise<Verdict<DecisionFor<T>>> {
    const start = () => {
      const { session_id: sessionId = this.sessionId, agent_id: agentId = this.agentId } = options;
      return decisionSpan("client", { eventType, sessionId, agentId, input: payload });
    };
    return traced(start, (span) => {
      const deciding = this.#decide(eventType, payload, options);
      return span === undefined ? deciding : recordVerdict(span, deciding);
    });
  }

  #decide<T extends BlockingEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options: EventFields & AhpCallOptions,
  ): Promise<Verdict<DecisionFor<T>>> {
    const judge = (outcome: unknown) => toVerdict<DecisionFor<T>>(eventType, outcome);
    try {
      this.#assertIntroduced();
      const event = createEvent(this.#sender, eventType, payload, options, true);
      const call = this.#callOptions(eventType, options, () => this.#assertDepth(event));
      return this.#session.request("ahp/event", event, call).then(judge, judge);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  notify<T extends NotificationEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    options: EventFields = {},
  ): boolean {
    this.#assertIntroduced();
    const event = createEvent(this.#sender, eventType, payload, options, false);
    try {
      this.#assertDepth(event);
    } catch (error) {
      this.#report(toFailure(error), { kind: "notification", event });
      return false;
    }
    return this.#notifications.add(event);
  }

  async batch(events: readonly BatchEvent[], options: AhpCallOptions = {}): Promise<Verdict<Decision>[]> {
    this.#assertIntroduced();
    const complete = createBatch(this.#sender, events);
    const { length } = complete;
    if (length === 0) return [];
    const call = this.#callOptions("batch", options, () => {
      const most = limitOf(this.harness?.config, "batch_size");
      if (length > most) {
        throw new AhpFailure("batch_too_large", `the batch has ${length} events, the harness takes ${most}`);
      }
      for (const event of complete) this.#assertDepth(event);
    });
    const outcomes = await this.#session
      .request("ahp/batch", { events: complete }, call)
      .then((result) => decisionsOf(result, length))
      .catch((error: unknown) => complete.map(() => error));
    return complete.map(({ event_type }, index) => toVerdict(event_type, outcomes[index]));
  }

  async query(
    queryType: string,
    payload: string | JsonObject,
    options: AhpCallOptions = {},
  ): Promise<QueryResult> {
    this.#assertIntroduced();
    const params = createQuery(this.#sender, queryType, payload);
    const result = await this.#session.request("ahp/query", params, this.#callOptions("query", options));
    const { data, error: cause } = QueryResultSchema.safeParse(result);
    if (data) return data;
    const message = `the answer to the query is not valid: ${firstIssue(cause)}`;
    throw new AhpFailure("invalid_answer", message, { cause });
  }

  async flush({ timeoutMs = 5000 }: { readonly timeoutMs?: number } = {}): Promise<boolean> {
    const wait = {
      clock: this.#sender.clock,
      name: "flush",
      timeoutMs: checkTimeout("timeoutMs", timeoutMs),
    };
    return within(this.#notifications.whenEmpty(), wait).then(
      () => true,
      () => false,
    );
  }

  get closed(): Promise<CloseReason> {
    return this.#session.closed;
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A call that was sent and lost its connection is sent again only where `resend` names it. Throws `invalid_argument`. */
  #callOptions(
    name: CallName,
    { timeoutMs, signal }: AhpCallOptions,
    beforeSend?: () => void,
  ): SessionCallOptions {
    return {
      timeoutMs: this.#deadlines.of(name, this.harness?.config, timeoutMs),
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

  /** Throws `depth_exceeded` for an event that the harness does not take. */
  #assertDepth({ depth, event_type }: AhpEvent): void {
    const most = limitOf(this.harness?.config, "max_depth");
    if (depth <= most) return;
    throw new AhpFailure("depth_exceeded", `${event_type} is ${depth} deep, the harness takes ${most}`);
  }

  #report(error: HarnessError, context: AhpErrorContext): void {
    // What is lost because `onError` notifies of a loss is not reported: that would go on until nothing else is kept.
    if (this.#isReporting && context.kind === "notification") return;
    this.#isReporting = true;
    callSafely(() => this.#options.onError?.(error, context));
    this.#isReporting = false;
  }
}

/** The unchecked decisions in the answer to a batch. Throws `invalid_answer` and `decision_count`. */
const decisionsOf = (result: unknown, count: number): readonly unknown[] => {
  const { decisions } = (result ?? {}) as { readonly decisions?: unknown };
  if (!Array.isArray(decisions)) throw new AhpFailure("invalid_answer", "the answer holds no decisions");
  if (decisions.length === count) return decisions;
  throw new AhpFailure("decision_count", `${count} events were answered with ${decisions.length} decisions`);
};

const recordVerdict = async <D>(span: Span, deciding: Promise<Verdict<D>>): Promise<Verdict<D>> => {
  const verdict = await deciding;
  span.set(decided((verdict.decision as { readonly decision: string }).decision));
  if (verdict.origin === "client") span.fail(verdict.code);
  return verdict;
};

/**
 * Makes the agent's side of AHP 2.4. Nothing is opened before `connect`. Throws `invalid_argument` for options under
 * which nothing could work.
 */
export const createAhpClient = (options: AhpClientOptions): AhpClient =>
  new HarnessClient(checkAhpClientOptions(options));
