import {
  type Grant,
  type InputPart,
  THREAD_PROTOCOL_VERSION,
  ThreadErrorCode,
  type ThreadMethodName,
  type ThreadMethodParams,
  type ThreadMethodResult,
} from "@harnesskit/protocol/threads";
import { invalidParams, methodNotFound, ProtocolError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import type { ConnectedClient } from "./connections.ts";
import { unarchived, withTitle } from "./edit-thread.ts";
import { approvalNotFound, resultTooLarge } from "./errors.ts";
import { nameRequest, threadToCreate, threadToFork } from "./named-requests.ts";
import { answerQuestion, threadOfRequest } from "./question.ts";
import { checkHeard, lastSeqOf, readPage } from "./read-log.ts";
import { searchThreads } from "./search-threads.ts";
import { toThreadPage } from "./thread-list.ts";
import type { ThreadSessions } from "./thread-sessions.ts";
import type { TurnQueue } from "./turn-queue.ts";
import type { TurnRequest } from "./turn-runner.ts";

export type Methods = {
  [M in ThreadMethodName]: (
    params: ThreadMethodParams<M>,
    client: ConnectedClient,
  ) => Promise<ThreadMethodResult<M>>;
};

/** What `initialize` announces beside the five capabilities of the spec. */
const extensions = {
  subscribe: true,
  paging: true,
  clientRequestId: true,
  delete: true,
  grants: true,
  approvalResolved: true,
  itemUpdated: true,
  rename: { version: 1 },
  archive: { version: 1 },
  fork: { version: 1 },
  queue: { version: 1, policies: ["reject", "queue", "interrupt"] },
  search: { version: 1 },
};

/** What the log says that the user said for `thread.compact`. */
const compactInput: readonly InputPart[] = [{ type: "text", text: "/compact" }];

const isThreadNotFound = (error: unknown): boolean =>
  ProtocolError.isInstance(error) && error.rpcCode === ThreadErrorCode.ThreadNotFound;

/** The handlers of the protocol's methods. Their params are valid. */
export const createMethods = (sessions: ThreadSessions): Methods => {
  const { settings, connections } = sessions;
  const startTurn = (client: ConnectedClient, threadId: string, ...asked: Parameters<TurnQueue["start"]>) =>
    sessions.use(threadId, async ({ turns }) => {
      const started = await turns.start(...asked);
      if (turns.has(started.turnId)) client.turns.set(started.turnId, turns);
      return started;
    });
  return {
    initialize: async ({ clientInfo } = {}, client) => {
      if (clientInfo) client.label = clientInfo.name.slice(0, 100);
      const capabilities = {
        threads: true,
        turns: true,
        approvals: true,
        streaming: true,
        persistence: settings.store.isPersistent ?? true,
      };
      const compact = settings.runner.compact ? { compact: { version: 1 } } : {};
      return {
        version: THREAD_PROTOCOL_VERSION,
        capabilities: { ...capabilities, extensions: { ...extensions, ...compact } },
      };
    },
    "thread.create": async (params = {}) => {
      const thread = await threadToCreate(params, settings);
      await sessions.create(thread);
      return { thread };
    },
    "thread.list": async (params = {}) =>
      toThreadPage(await settings.store.list(), params, settings.limits.maxPageBytes),
    "thread.get": ({ threadId, afterSeq = 0, limit }) =>
      sessions.read(threadId, async (thread, session) => {
        const { maxPageBytes: maxBytes } = settings.limits;
        const page = { afterSeq, limit, maxBytes, lastSeq: session?.state.lastSeq };
        const { events, isCut } = await readPage(sessions, threadId, page);
        // Only a client that asks for pages knows that more may follow.
        if (isCut && limit === undefined) throw resultTooLarge("thread.get", maxBytes);
        const last = events.at(-1);
        if (isCut && !last) {
          const seq = afterSeq + 1;
          const text = `Event ${seq} exceeds the message limit: go on behind it with \`afterSeq\` ${seq}`;
          throw invalidParams(text, { reason: "event_too_large", param: "afterSeq", seq, maxBytes });
        }
        const nextAfterSeq = isCut ? last?.seq : undefined;
        return defined({ thread, events: [...events], lastSeq: session?.state.lastSeq, nextAfterSeq });
      }),
    "thread.subscribe": ({ threadId, afterSeq, afterTime }, client) => {
      const check = (lastSeq: number) =>
        afterSeq === undefined || afterTime === undefined
          ? undefined
          : checkHeard(settings.store, threadId, { afterSeq, afterTime, lastSeq });
      return sessions.subscribe(threadId, check, (thread, { lastSeq, lastTime }, state) => {
        connections.subscribe(client, threadId, lastSeq, afterSeq);
        const pending = state.requestedApprovals(afterSeq ?? lastSeq);
        for (const body of pending) client.outbox.notify(body).catch(() => {});
        connections.changed();
        return { thread, lastSeq, lastTime };
      });
    },
    "thread.unsubscribe": ({ threadId }, client) =>
      sessions.read(threadId, async () => {
        connections.unsubscribe(client, threadId);
        connections.changed();
        return { ok: true };
      }),
    "thread.delete": async ({ threadId }) => {
      await sessions.delete(threadId);
      connections.notifyDeleted(threadId);
      return { ok: true };
    },
    "thread.rename": ({ threadId, title }) =>
      sessions.use(threadId, async (session) => ({
        thread: await session.edit((thread) => withTitle(thread, title)),
      })),
    "thread.archive": ({ threadId }) =>
      sessions.use(threadId, async (session) => ({ thread: await session.archive() })),
    "thread.unarchive": ({ threadId }) =>
      sessions.use(threadId, async (session) => ({ thread: await session.edit(unarchived) })),
    "thread.fork": async (params) => {
      const thread = await sessions.read(params.threadId, async (source, session) => {
        const lastSeq = session?.state.lastSeq ?? (await lastSeqOf(settings.store, params.threadId));
        return threadToFork(params, source, lastSeq, settings);
      });
      await sessions.create(thread);
      return { thread };
    },
    "thread.search": (params) => searchThreads(params, settings),
    "turn.start": async (params, client) => {
      const { threadId, input, model, agent: name, whenBusy } = params;
      const { agents } = settings;
      const agent = name === undefined ? agents[0] : agents.find((profile) => profile.name === name);
      if (!agent) throw invalidParams("Unknown agent", { agents: agents.map((profile) => profile.name) });
      if (model !== undefined) await client.options.checkModel?.(model);
      const requestName = await nameRequest("turn.start", params);
      const request = { input, agent, model };
      const { turnId, position } = await startTurn(client, threadId, request, requestName, whenBusy);
      return defined({ turnId, queued: position === undefined ? undefined : { position } });
    },
    "thread.compact": async (params, client) => {
      const { threadId, model } = params;
      if (!settings.runner.compact) throw methodNotFound("thread.compact");
      if (model !== undefined) await client.options.checkModel?.(model);
      const requestName = await nameRequest("thread.compact", params);
      const request: TurnRequest = { input: compactInput, model, agent: settings.agents[0], compact: true };
      const { turnId } = await startTurn(client, threadId, request, requestName, "reject");
      return { turnId };
    },
    "queue.list": ({ threadId }) => sessions.use(threadId, ({ turns }) => ({ queued: turns.prompts.list })),
    "approval.respond": async (params, client) => {
      const threadId = threadOfRequest(params.requestId);
      if (threadId === undefined) throw approvalNotFound({ reason: "unknown" });
      const { requestId, digest, ...given } = params;
      if (given.reason !== undefined && given.decision !== "reject")
        throw invalidParams("reason goes with the decision reject only", { field: "reason" });
      if (given.note !== undefined && given.decision !== "reject")
        throw invalidParams("note goes with the decision reject only", { field: "note" });
      const answer = defined({ ...given, resolvedBy: client.label });
      try {
        await sessions.use(threadId, (session) => answerQuestion(session, requestId, answer, digest));
      } catch (error) {
        throw isThreadNotFound(error) ? approvalNotFound({ reason: "unknown" }) : error;
      }
      return { ok: true };
    },
    "turn.cancel": async ({ threadId, turnId }) => {
      await sessions.use(threadId, ({ turns }) => turns.cancel(turnId));
      return { ok: true };
    },
    "grant.list": async ({ threadId, directory } = {}) => {
      const grants = await settings.store.grants();
      const fits = (grant: Grant) =>
        (threadId === undefined || grant.threadId === threadId) &&
        (directory === undefined || grant.directory === directory);
      return { grants: grants.filter(fits) };
    },
    "grant.revoke": async ({ grantId }) => {
      if (!(await settings.store.removeGrant(grantId))) throw approvalNotFound({ reason: "unknown_grant" });
      return { ok: true };
    },
  };
};
