import { within } from "@harnesskit/wire/time";
import type { Fields, ThreadHistory } from "./call-thread-server.ts";
import type { StartTurnOptions, ThreadClient, ThreadClientOptions } from "./client-options.ts";
import { checkCompact, checkStart, checkSubmit, checkThreadClientOptions } from "./option-names.ts";
import { readHistory, wholePage } from "./read-pages.ts";
import type { ThreadPage } from "./thread-options.ts";
import { ThreadSession } from "./thread-session.ts";
import { openSubscription } from "./thread-subscription.ts";

/** The fields of a prompt. A string is one text part. */
const toPrompt = (session: ThreadSession, options: StartTurnOptions): Fields => {
  const { threadId, input: said, model, agent, whenBusy } = options;
  if (whenBusy !== undefined) session.require("queue", "turn.start");
  const input = typeof said === "string" ? [{ type: "text", text: said }] : said;
  return { threadId, input, model, agent, whenBusy };
};

/**
 * Makes a client of the thread protocol; {@link ThreadClient.connect} opens the connection. Throws `invalid_argument` for invalid
 * limits or an invalid `reconnect`.
 */
export const createThreadClient = (options: ThreadClientOptions): ThreadClient => {
  const session = new ThreadSession(checkThreadClientOptions(options));
  const { connections, turns, approvals, limits } = session;
  const client: ThreadClient = {
    connect: async (given = {}) => (await connections.connect(given)).introduction,
    get capabilities() {
      return session.server.capabilities;
    },
    createThread: async (params, request) =>
      (await session.call("thread.create", { ...params }, request)).thread,
    async listThreads({ limit, cursor, directory, title, updatedAfter, archived, ...request } = {}) {
      const paging = { limit, cursor, directory, title, updatedAfter };
      if (Object.values(paging).some((value) => value !== undefined))
        session.require("paging", "thread.list");
      if (archived !== undefined) session.require("archive", "thread.list");
      const most = limit ?? (session.has("paging") ? wholePage : undefined);
      const readPage = (next: string | undefined): Promise<ThreadPage> =>
        session.call("thread.list", { ...paging, archived, limit: most, cursor: next }, request);
      let page = await readPage(cursor);
      const threads = [...page.threads];
      if (limit === undefined) {
        for (let pages = 1; page.nextCursor !== undefined && pages < limits.maxPages; pages++) {
          page = await readPage(page.nextCursor);
          for (const thread of page.threads) threads.push(thread);
        }
      }
      return { ...page, threads };
    },
    async *allThreads(wanted = {}) {
      const paged = session.has("paging") ? { ...wanted, limit: wanted.limit ?? 100 } : wanted;
      let cursor: string | undefined;
      do {
        const page = await client.listThreads({ ...paged, cursor });
        yield* page.threads;
        cursor = page.nextCursor;
      } while (cursor !== undefined);
    },
    async getThread(threadId, { afterSeq, limit, ...request } = {}) {
      const readPage = (after: number | undefined, most: number | undefined): Promise<ThreadHistory> =>
        session.call("thread.get", { threadId, afterSeq: after, limit: most }, request);
      if (!session.has("paging")) return readPage(afterSeq, limit);
      const { maxPages } = limits;
      const onTooLarge = session.report.bind(session);
      return readHistory(readPage, { afterSeq, limit, maxPages, onTooLarge });
    },
    async deleteThread(threadId, request) {
      await session.call("thread.delete", { threadId }, request);
    },
    renameThread: async (threadId, title, request) =>
      (await session.call("thread.rename", { threadId, title }, request)).thread,
    archiveThread: async (threadId, request) =>
      (await session.call("thread.archive", { threadId }, request)).thread,
    unarchiveThread: async (threadId, request) =>
      (await session.call("thread.unarchive", { threadId }, request)).thread,
    forkThread: async (threadId, { seq, title, clientRequestId, ...request } = {}) =>
      (await session.call("thread.fork", { threadId, seq, title, clientRequestId }, request)).thread,
    searchThreads: (query, { limit, cursor, threadId, directory, archived, ...request } = {}) =>
      session.call("thread.search", { query, limit, cursor, threadId, directory, archived }, request),
    listQueue: async (threadId, request) => (await session.call("queue.list", { threadId }, request)).queued,
    async subscribe(threadId, given = {}) {
      session.require("subscribe", "thread.subscribe");
      return openSubscription(session, threadId, given);
    },
    async startTurn(turn) {
      const fields = toPrompt(session, checkStart(turn));
      return within(() => turns.start("turn.start", fields, turn), {
        name: "turn.start",
        signal: turn.signal,
      });
    },
    async compactThread(turn) {
      const { threadId, model, signal } = checkCompact(turn);
      session.require("compact", "thread.compact");
      const name = "thread.compact";
      return within(() => turns.start(name, { threadId, model }, turn), { name, signal });
    },
    async submitTurn(given) {
      const { clientRequestId, signal, timeoutMs, ...turn } = checkSubmit(given);
      const fields = { ...toPrompt(session, turn), clientRequestId };
      return (await session.call("turn.start", fields, { signal, timeoutMs })).turnId;
    },
    async cancelTurn(threadId, { turnId, ...request } = {}) {
      if (turnId !== undefined) session.require("queue", "turn.cancel");
      await session.call("turn.cancel", { threadId, turnId }, request);
    },
    async respondApproval(requestId, decision, given = {}) {
      const { scope, match, digest, clientRequestId } = given;
      if ((scope ?? match ?? digest) !== undefined) session.require("grants", "approval.respond");
      if (clientRequestId !== undefined) session.require("clientRequestId", "approval.respond");
      approvals.settle(requestId);
      await approvals.respond(requestId, decision, given);
    },
    listGrants: async ({ threadId, directory, ...request } = {}) =>
      (await session.call("grant.list", { threadId, directory }, request)).grants,
    async revokeGrant(grantId, request) {
      await session.call("grant.revoke", { grantId }, request);
    },
    events: () => session.events(),
    get state() {
      return connections.state;
    },
    onState: (listener) => connections.onState(listener),
    closed: connections.closed,
    close: () => connections.close(),
    [Symbol.asyncDispose]: () => connections.close(),
  };
  return client;
};
