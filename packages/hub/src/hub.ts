import { type AhpHandlers, type AhpServer, createAhpServer, type StateStore } from "@harnesskit/ahp-server";
import {
  type ApprovalRecord,
  type ApprovalRisk,
  type ApprovalStore,
  approvalLimits,
} from "@harnesskit/approvals";
import type { AuditSink } from "@harnesskit/audit";
import { type Explanation, type Policy, type PolicyHarness, parsePolicy } from "@harnesskit/policy";
import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import type { HubMethodParams, RowState } from "@harnesskit/protocol/hub";
import {
  type Channel,
  type Clock,
  type CreateId,
  callSafely,
  joinKey,
  randomId,
  systemClock,
} from "@harnesskit/wire";
import { askerOf } from "./agents/asker.ts";
import { type AgentLink, Presence } from "./agents/presence.ts";
import { AnswerBudget } from "./api/answer-budget.ts";
import { HubApi, type HubUser } from "./api/hub-api.ts";
import { ApprovalDesk } from "./desk/approval-desk.ts";
import { Escalation } from "./desk/escalation.ts";
import { EventLog } from "./desk/event-log.ts";
import { QuestionBudget } from "./desk/question-budget.ts";
import { type AnyEvent, isHookEvent, originOf } from "./desk/read-event.ts";
import { shortId } from "./desk/short-id.ts";
import { Supervisor } from "./desk/supervisor.ts";
import { type HubLimits, hubLimits } from "./limits.ts";
import { PolicyDesk } from "./policy-desk.ts";
import { Recorder } from "./timeline/recorder.ts";
import type { TimelineStore } from "./timeline/timeline-store.ts";

export interface HubOptions {
  /** The policy in force. Its `escalate` becomes an approval. */
  readonly policy: PolicyHarness;
  /** Where approvals are kept. The caller closes it after the hub. */
  readonly approvals: ApprovalStore;
  /** Where the timeline is kept. The caller closes it after the hub. */
  readonly timeline: TimelineStore;
  /** Names the hub for agents and clients. @default "harness-hub" */
  readonly name?: string;
  readonly version: string;
  /** Where runs are kept. @default they live as long as the hub */
  readonly stateStore?: StateStore;
  /** What a human should know about the danger of an action. @default unknown */
  readonly riskOf?: (event: AnyEvent, explanation: Explanation) => ApprovalRisk;
  /** What is known of an agent's protection, in a line, such as what `harness guard doctor` has found. @default undefined, nothing */
  readonly protectionOf?: (agent: string) => string | undefined;
  /** Makes a policy for a backtest. @default `parsePolicy` without functions */
  readonly parsePolicy?: (text: string) => Policy;
  /** More fields of events whose values the timeline does not keep, by name in any case. @default names of secrets only */
  readonly secretFields?: readonly string[];
  /** The default and longest duration of grants, as the store of approvals has it. @default its default */
  readonly grantMs?: number;
  /** Records answers, refused ones too, and revoked grants. @default nowhere */
  readonly audit?: Pick<AuditSink, "record">;
  /** See {@link HubLimits}. */
  readonly limits?: Partial<HubLimits>;
  /** Reports what no agent and no client sees. What it throws is ignored. */
  readonly onError?: (error: unknown) => void;
  /** @default the real time */
  readonly clock?: Clock;
  /** @default random */
  readonly createId?: CreateId;
}

/** What the hub knows about the sender of an event. */
export interface AgentContext {
  readonly link: AgentLink;
  readonly principal?: unknown;
  readonly signal?: AbortSignal;
}

/** A channel's or exchange's context, as transports give it. */
export interface TransportContext {
  readonly principal?: unknown;
  readonly signal?: AbortSignal;
}

/** One harness for all agents. */
export interface Hub {
  /** Starts what the hub does by itself. Rows that ran when a former hub was lost are `unknown` from then on. */
  start(): Promise<void>;
  /** Serves an agent over a channel, and starts the channel. Throws `connection_closed` after `close`. */
  connectAgent(channel: Channel, transport: "unix" | "websocket"): void;
  /** Answers AHP over HTTP: a route of `createHttpServer`. */
  readonly exchange: Pick<AhpServer<AgentContext>, "malformed" | "unsendable"> & {
    handle(message: unknown, context: TransportContext): Promise<unknown>;
  };
  /** Serves a client of the hub's own API over a channel, and starts the channel. */
  connectClient(channel: Channel, user: HubUser): void;
  /** An approval as it is; undefined if it is not kept. */
  approval(id: string): Promise<ApprovalRecord | undefined>;
  /**
   * Answers an approval as `inbox.answer` of the API does, within the same budget and with the same entry of the audit. Rejects with an
   * `ApprovalError` where another answer was first or the question is over, and with a `ProtocolError` for an id that is not there
   * and for too many answers.
   */
  answer(answer: HubMethodParams<"inbox.answer">, by: string): Promise<ApprovalRecord>;
  stats(): HubStats;
  /** Ends what waits, without an answer, and closes all connections. Questions stay. Idempotent. */
  close(): Promise<void>;
}

export interface HubStats extends ReturnType<AhpServer["stats"]> {
  /** Questions that are held for a human. */
  readonly held: number;
  /** Clients of the API. */
  readonly clients: number;
}

const pruneMs = 60_000;
const hubLost = "the hub was restarted before an outcome was reported";
const effects = { done: "done", failed: "failed", refused: "failed", unknown: "ambiguous" } as Partial<
  Record<RowState, "done" | "failed" | "ambiguous">
>;

/**
 * Makes a hub: it decides the events of agents by policy, asks humans where the policy says so, and keeps what happened. Nothing
 * is opened before `start`. Throws `invalid_argument` for limits that are not valid.
 */
export const createHub = (options: HubOptions): Hub => {
  const { policy, approvals, timeline, version, name = "harness-hub" } = options;
  const { clock = systemClock, createId = randomId, secretFields = [] } = options;
  const limits = hubLimits.resolve(options.limits);
  const onError = (error: unknown): void => callSafely(() => options.onError?.(error));
  const recorder = new Recorder(timeline, {
    clock,
    delayMs: limits.recordWithinMs,
    maxWaiting: limits.maxUnwritten,
    onError,
  });
  const presence = new Presence(timeline, clock, limits.maxAgents, options.protectionOf ?? (() => undefined));
  const budget = new QuestionBudget(limits);
  const onChanged = (record: ApprovalRecord) => budget.changed(record);
  const desk = new ApprovalDesk({ approvals, recorder, clock, createId, onChanged, onError });
  const content = {
    maxLength: limits.maxContentLength,
    secretFields: new Set(secretFields.map((field) => field.toLowerCase())),
  };
  const log = new EventLog({ recorder, content, clock });
  const riskOf = options.riskOf ?? (() => ({ level: "unknown", reasons: [] }) as const);
  const escalation = new Escalation({ policy, desk, log, budget, limits, clock, riskOf, onError });
  const supervisor = new Supervisor({ policy, desk, escalation, log });
  const httpLink = presence.open("http", new AbortController().signal);

  const handle = (type: AhpEventType) => {
    const asks = ahpEvents[type].blocking;
    return (
      event: AnyEvent,
      call: { context: AgentContext; signal: AbortSignal; batchIndex: number | undefined },
    ) => {
      const { context, batchIndex } = call;
      presence.heard(context.link, { ...originOf(event), isHook: isHookEvent(event) }, asks);
      if (!asks) return supervisor.note(event);
      // A signal is made when it is read: only a question that waits needs one.
      const signals = () => [call.signal, context.link.gone];
      return supervisor.decide(event, {
        signals,
        batchIndex,
        asker: () => askerOf(context.link, context.principal, httpLink),
      });
    };
  };
  const handlers = Object.fromEntries(
    (Object.keys(ahpEvents) as AhpEventType[]).map((type) => [type, handle(type)]),
  );
  const server = createAhpServer<AgentContext>({
    name,
    version,
    handlers: handlers as AhpHandlers<AgentContext>,
    capabilities: [...new Set([...policy.capabilities, "confirmation"])],
    limits: { timeoutMs: limits.maxHoldMs },
    handlerTimeoutMs: limits.maxHoldMs,
    onHandshake: ({ agent_id: agent, session_id: session, agent_info: info }, { link }) =>
      presence.introduced(link, shortId(agent) ?? "unknown", shortId(session) ?? "unknown", info),
    onError,
    clock,
    ...(options.stateStore && { stateStore: options.stateStore }),
  });
  const api = new HubApi({
    approvals,
    timeline,
    recorder,
    desk,
    presence,
    policy: new PolicyDesk({
      policy,
      timeline,
      clock,
      parse: options.parsePolicy ?? ((text) => parsePolicy(text)),
      maxEvents: limits.maxBacktestEvents,
    }),
    budget: new AnswerBudget(clock, limits.maxAnswersPerMinute),
    limits,
    clock,
    about: { name, version, startedAtMs: clock.now() },
    grantMs: options.grantMs ?? approvalLimits.defaults.grantMs,
    audit: (entry) => options.audit?.record(entry),
    onError,
  });

  let isClosed = false;
  let cancelPrune = () => {};
  const write = (change: Parameters<Recorder["write"]>[0]) => recorder.write(change).catch(onError);
  const prune = (): void => {
    if (isClosed) return;
    const beforeMs = clock.now() - limits.outcomeWithinMs;
    void write({ type: "lose", writer: "gone", outcome: hubLost })
      .then(() => write({ type: "lose", beforeMs, outcome: "no outcome was reported in time" }))
      .then(() => timeline.prune())
      .catch(onError);
    cancelPrune = clock.after(pruneMs, prune);
  };

  /** Running actions of sessions that do not come back are unknown. */
  const left = (link: AgentLink): void => {
    const sessions = presence.close(link);
    if (sessions.length === 0) return;
    clock.after(limits.returnWithinMs, () => {
      if (isClosed) return;
      for (const { agent, session } of sessions) {
        if (presence.isHere(joinKey(agent, session))) continue;
        void write({
          type: "lose",
          of: { agent, session },
          // The agent may have gone on to another hub of the same store.
          writer: "own",
          outcome: "the agent was lost before it reported an outcome",
        });
      }
    });
  };

  // What is known of an action is known of its approval. Its agent may be lost: then it may have been done, and its word may still come.
  recorder.onRows((rows) => {
    for (const { state, approval, outcome } of rows) {
      const effect = effects[state];
      if (effect === undefined || approval === undefined) continue;
      const isOpen =
        approval.effect === "claimed" || (approval.effect === "ambiguous" && effect !== "ambiguous");
      if (!isOpen) continue;
      desk.report(approval.id, effect, outcome).catch(onError);
    }
  });

  let closing: Promise<void> | undefined;
  return {
    async start() {
      recorder.startFrom((await timeline.page({ limit: 1 })).lastSeq);
      await recorder.write({ type: "lose", writer: "gone", outcome: hubLost });
      desk.start();
      cancelPrune = clock.after(pruneMs, prune);
    },
    connectAgent(channel, transport) {
      const gone = new AbortController();
      const link = presence.open(transport, gone.signal);
      const { principal } = (channel.context ?? {}) as TransportContext;
      void channel.closed.then(() => left(link));
      server.connect({
        start: (handlers) =>
          channel.start({
            message: (message) => handlers.message(message),
            error: (error) => handlers.error(error),
            end() {
              gone.abort();
              if (handlers.end) handlers.end();
              else void channel.close();
            },
            close: (reason) => handlers.close(reason),
          }),
        send: (message) => channel.send(message),
        close: (error) => channel.close(error),
        closed: channel.closed,
        signal: channel.signal,
        context: { link, principal },
      });
    },
    exchange: {
      malformed: server.malformed,
      unsendable: server.unsendable,
      handle: (message, context) =>
        server.handle(message, {
          link: httpLink,
          principal: context.principal,
          get signal() {
            return context.signal as AbortSignal;
          },
        }),
    },
    connectClient: (channel, user) => api.connect(channel, user),
    approval: (id) => approvals.get(id),
    answer: async (answer, by) => (await api.answer(answer, by)).record,
    stats: () => ({ ...server.stats(), held: desk.held, clients: api.clients }),
    close() {
      closing ??= (async () => {
        isClosed = true;
        cancelPrune();
        // Held questions are answered with `defer`, so that agents come back.
        await desk.close();
        await server.close();
        await api.close();
        await recorder.flush();
      })();
      return closing;
    },
  };
};
