import { type AhpHandlers, type AuditRecorder, createAhpServer } from "@harnesskit/ahp-server";
import { type ApprovalRecord, approvalLimits } from "@harnesskit/approvals";
import type { AuditSink } from "@harnesskit/audit";
import { type AhpEventType, ahpEvents, type QueryParams } from "@harnesskit/protocol/ahp";
import { controlQueryType, type RowState } from "@harnesskit/protocol/hub";
import { callSafely, joinKey, principalKey, randomId, systemClock } from "@harnesskit/wire";
import { AgentControl } from "./agents/agent-control.ts";
import { type AgentLink, Presence } from "./agents/presence.ts";
import { AnswerBudget } from "./api/answer-budget.ts";
import { HubApi } from "./api/hub-api.ts";
import { ApprovalDesk } from "./desk/approval-desk.ts";
import { Askers } from "./desk/askers.ts";
import { Escalation } from "./desk/escalation.ts";
import { EventLog } from "./desk/event-log.ts";
import { shortId } from "./desk/event-text.ts";
import { type Asker, QuestionBudget } from "./desk/question-budget.ts";
import { type AnyEvent, isHookEvent, originOf, readEvent, unknownToolOf } from "./desk/read-event.ts";
import { Supervisor } from "./desk/supervisor.ts";
import type { AgentContext, Hub, HubOptions, TransportContext } from "./hub-options.ts";
import { hubLimits } from "./limits.ts";
import { checkHubOptions } from "./option-names.ts";
import { PolicyDesk } from "./policy-desk.ts";
import { Recorder } from "./timeline/recorder.ts";

const pruneMs = 60_000;
const hubLost = "the hub was restarted before an outcome was reported";
const effects = { done: "done", failed: "failed", refused: "failed", unknown: "ambiguous" } as Partial<
  Record<RowState, "done" | "failed" | "ambiguous">
>;

const heardOf = (event: AnyEvent) => ({
  ...originOf(event),
  isHook: isHookEvent(event),
  unknownTool: unknownToolOf(event),
});

/** The audit log of a hub has the tool of an event besides. */
const auditOf = (audit: Pick<AuditSink, "record" | "isFull">): AuditRecorder => ({
  record: (entry) => audit.record(entry),
  get isFull() {
    return audit.isFull;
  },
  eventDetails: (event) => {
    const { tool, callId } = readEvent(event as AnyEvent);
    return { tool, call_id: callId };
  },
});

/**
 * Makes a hub: it decides the events of agents by policy, asks humans where the policy says so, and keeps what happened. Nothing
 * is opened before `start`. Throws `invalid_argument` for limits that are not valid.
 */
export const createHub = (options: HubOptions): Hub => {
  checkHubOptions(options);
  const { policy, approvals, timeline, version, name = "harness-hub" } = options;
  const { clock = systemClock, createId = randomId, secretFields = [] } = options;
  const limits = hubLimits.resolve(options.limits);
  const onError = (error: unknown): void => callSafely(() => options.onError?.(error));
  const recorder = new Recorder(timeline, {
    clock,
    hub: name,
    delayMs: limits.recordWithinMs,
    maxWaiting: limits.maxUnwritten,
    onError,
  });
  const presence = new Presence(timeline, clock, limits.maxAgents, options.protectionOf ?? (() => undefined));
  const budget = new QuestionBudget(limits);
  const askers = new Askers({ approvals, clock, returnWithinMs: limits.returnWithinMs, onError });
  const onChanged = (record: ApprovalRecord) => {
    budget.changed(record);
    askers.changed(record);
  };
  const desk = new ApprovalDesk({ approvals, recorder, clock, createId, onChanged, onError });
  const content = {
    maxLength: limits.maxContentLength,
    secretFields: new Set(secretFields.map((field) => field.toLowerCase())),
  };
  const log = new EventLog({ recorder, content, clock });
  const riskOf = options.riskOf ?? (() => ({ level: "unknown", reasons: [] }) as const);
  const escalation = new Escalation({ policy, desk, askers, log, budget, limits, clock, riskOf, onError });
  const supervisor = new Supervisor({ policy, desk, escalation, log, recorder, onError });
  const httpLink = presence.open("http", new AbortController().signal);

  /** Who asks over a link. Exchanges have no connection: what they authenticate with is their client. */
  const askerOf = ({ link, principal }: AgentContext): Asker => {
    const credential = `${link.transport} ${principalKey(principal)}`;
    return { client: link === httpLink ? credential : link.name, credential };
  };
  const handle = (type: AhpEventType) => {
    const asks = ahpEvents[type].blocking;
    return (
      event: AnyEvent,
      call: { context: AgentContext; signal: AbortSignal; batchIndex: number | undefined },
    ) => {
      const { context, batchIndex } = call;
      presence.heard(context.link, heardOf(event), asks);
      if (!asks) return supervisor.note(event);
      // A signal is made when it is read: only a question that waits needs one.
      const signals = () => [call.signal, context.link.gone] as const;
      return supervisor.decide(event, { signals, batchIndex, asker: () => askerOf(context) });
    };
  };
  const control = new AgentControl({
    ...{ clock, createId },
    ...{ holdMs: limits.holdControlMs, answerWithinMs: limits.controlWithinMs },
  });
  const handlers = {
    ...Object.fromEntries((Object.keys(ahpEvents) as AhpEventType[]).map((type) => [type, handle(type)])),
    // Over exchanges, who asks is not known to be the agent of a session.
    query: (
      { query_type: type, payload }: QueryParams,
      { context, signal }: { context: AgentContext; signal: AbortSignal },
    ) =>
      type === controlQueryType && context.link !== httpLink
        ? control.answer(context.link, payload, signal)
        : undefined,
  };
  const server = createAhpServer<AgentContext>({
    name,
    version,
    handlers: handlers as AhpHandlers<AgentContext>,
    capabilities: [...new Set([...policy.capabilities, "confirmation", controlQueryType])],
    limits: { timeoutMs: limits.maxHoldMs },
    handlerTimeoutMs: limits.maxHoldMs,
    onHandshake: ({ agent_id: agent, session_id: session, agent_info: info }, { link }) =>
      presence.introduced(link, shortId(agent) ?? "unknown", shortId(session) ?? "unknown", info),
    onError,
    clock,
    stateStore: options.stateStore,
    audit: options.audit ? auditOf(options.audit) : undefined,
  });
  const api = new HubApi({
    approvals,
    timeline,
    recorder,
    desk,
    presence,
    control,
    policy: new PolicyDesk({
      policy,
      timeline,
      clock,
      maxEvents: limits.maxBacktestEvents,
      save: options.savePolicy,
    }),
    budget: new AnswerBudget(clock, limits.maxAnswersPerMinute),
    limits,
    clock,
    about: {
      ...{ name, version, startedAtMs: clock.now() },
      commands: options.commands,
      formerPolicy: options.formerPolicy,
    },
    costOf: options.costOf ?? (() => undefined),
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
      // Another hub, whose clock may be another, looks after its own.
      .then(() =>
        write({ type: "lose", writer: "own", beforeMs, outcome: "no outcome was reported in time" }),
      )
      .then(() => timeline.prune())
      .catch(onError);
    cancelPrune = clock.after(pruneMs, prune);
  };

  /** Running actions of sessions that do not come back are unknown. */
  const left = (link: AgentLink): void => {
    const sessions = presence.close(link);
    control.left(link);
    if (sessions.length === 0) return;
    clock.after(limits.returnWithinMs, () => {
      if (isClosed) return;
      for (const { agent, session } of sessions) {
        if (presence.isHere(joinKey(agent, session))) continue;
        void recorder.note({
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
      await askers.start();
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
            ...handlers,
            end() {
              gone.abort();
              if (handlers.end) handlers.end();
              else void channel.close();
            },
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
      // The context is this exchange's own, and makes its signal when that is read: a copy would make it for each.
      handle: (message, context) => server.handle(message, Object.assign(context, { link: httpLink })),
    },
    connectClient: (channel, user) => api.connect(channel, user),
    approval: (id) => approvals.get(id),
    answer: async (answer, by) => (await api.answer(answer, by)).record,
    stats: () => ({ ...server.stats(), held: desk.held, clients: api.clients }),
    close() {
      closing ??= (async () => {
        isClosed = true;
        cancelPrune();
        askers.close();
        // Held questions are answered with `defer`, so that agents come back.
        await desk.close();
        await server.close();
        await api.close();
        await recorder.close();
      })();
      return closing;
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
};
