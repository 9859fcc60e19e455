import type { JsonValue } from "@harnesskit/protocol/envelope";
import {
  type Event,
  type EventBody,
  type Grant,
  THREAD_PROTOCOL_VERSION,
  type Thread,
  ThreadErrorCode,
  type ThreadMethodName,
  type ThreadMethodParams,
  type ThreadMethodResult,
  threadMethods,
} from "@harnesskit/protocol/threads";
import { type Channel, invalidParams, methodNotFound, ProtocolError } from "@harnesskit/wire";
import { type Call, createPeer, type Peer } from "@harnesskit/wire/rpc";
import { inTraceMeta } from "@harnesskit/wire/trace";
import { threadOfRequest } from "./approvals.ts";
import { type ConnectedClient, Connections, type ConnectOptions } from "./connections.ts";
import { threadToCreate } from "./create-thread.ts";
import { defined } from "./defined.ts";
import { approvalNotFound, eventTooLarge, historyTooLarge, StoreError } from "./errors.ts";
import type { LogEnd } from "./followed-threads.ts";
import { checkHeard, readPage } from "./read-log.ts";
import { nameRequest } from "./request-digest.ts";
import { resolveSettings, type ServerSettings, type ThreadServerOptions } from "./server-settings.ts";
import { toThreadPage } from "./thread-list.ts";
import { ThreadSessions } from "./thread-sessions.ts";

type Methods = {
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
};

/** A server of the thread protocol. Knows no transport: it speaks over any channel, and over several at once. */
export interface ThreadServer {
  /**
   * Serves a client on this channel. When the client's input ends, what it asked is answered, the turns that it
   * started go on to their end or their approval, and then the channel is closed.
   */
  connect(channel: Channel, options?: ConnectOptions): void;
  /**
   * Stops what runs (`turn.error`, code `server_closed`), leaves what waits for a human as it is, closes the
   * connections and the store. Idempotent.
   */
  close(): Promise<void>;
}

class Server implements ThreadServer {
  readonly #settings: ServerSettings;
  readonly #connections: Connections;
  readonly #sessions: ThreadSessions;
  #closing: Promise<void> | undefined;

  constructor(options: ThreadServerOptions) {
    const settings = resolveSettings(options, (bodies, error) => {
      settings.onError(error);
      for (const body of bodies) this.#connections.notifyUnwritten(body);
    });
    const { store, onError } = settings;
    const { maxOutboxLength } = settings.limits;
    const opened = (threadId: string) => this.#sessions.opened(threadId);
    async function* read(threadId: string, afterSeq: number) {
      for await (const event of store.events(threadId, { afterSeq })) {
        opened(threadId)?.checkRead(event);
        yield event;
      }
    }
    this.#settings = settings;
    this.#connections = new Connections({ read, maxOutboxLength, onError });
    const onEvent = (event: Event) => this.#connections.notify(event);
    this.#sessions = new ThreadSessions({ settings, connections: this.#connections, onEvent });
  }

  connect(channel: Channel, options?: ConnectOptions): void {
    const peer: Peer = createPeer(
      channel,
      {
        request: (method, params, call) => this.#handle(method, params, call, client),
        end: () => void this.#finish(client),
        onError: (error) => this.#settings.onError(error),
        resultTooLarge: (method, { maxFrameBytes }) => resultTooLarge(method, maxFrameBytes),
      },
      // In order: a client that creates a thread and lists the threads at once finds it.
      { maxConcurrentCalls: 1 },
    );
    const client = this.#connections.add(peer, channel, options);
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#sessions.close();
      await this.#connections.close();
      await this.#settings.store.close();
    })();
    return this.#closing;
  }

  readonly #methods: Methods = {
    initialize: async ({ clientInfo } = {}, client) => {
      if (clientInfo) client.label = clientInfo.name.slice(0, 100);
      const capabilities = {
        threads: true,
        turns: true,
        approvals: true,
        streaming: true,
        persistence: true,
      };
      return { version: THREAD_PROTOCOL_VERSION, capabilities: { ...capabilities, extensions } };
    },
    "thread.create": async (params = {}) => {
      const thread = await threadToCreate(params, this.#settings);
      await this.#sessions.create(thread);
      return { thread };
    },
    "thread.list": async (params = {}) =>
      toThreadPage(await this.#settings.store.list(), params, this.#settings.limits.maxPageBytes),
    "thread.get": ({ threadId, afterSeq = 0, limit }) =>
      this.#sessions.read(threadId, async (thread, session) => {
        const { store, limits } = this.#settings;
        const { maxPageBytes: maxBytes } = limits;
        const page = { afterSeq, limit, maxBytes, lastSeq: session?.lastSeq };
        const { events, isCut } = await readPage(store, threadId, page);
        for (const event of events) session?.checkRead(event);
        // Only a client that asks for pages knows that more may follow.
        if (isCut && limit === undefined) throw historyTooLarge(maxBytes);
        const last = events.at(-1);
        if (isCut && !last) throw eventTooLarge(afterSeq + 1, maxBytes);
        const nextAfterSeq = isCut ? last?.seq : undefined;
        return defined({ thread, events: [...events], lastSeq: session?.lastSeq, nextAfterSeq });
      }),
    "thread.subscribe": ({ threadId, afterSeq, afterTime }, client) =>
      this.#subscribe(client, threadId, { afterSeq, afterTime }),
    "thread.unsubscribe": ({ threadId }, client) =>
      this.#sessions.read(threadId, async () => {
        client.unsubscribe(threadId);
        this.#connections.changed();
        return { ok: true };
      }),
    "thread.delete": async ({ threadId }) => {
      await this.#sessions.delete(threadId);
      this.#connections.notifyDeleted(threadId);
      return { ok: true };
    },
    "turn.start": async (params, client) => {
      const { threadId, input, model, agent: name } = params;
      const { agents } = this.#settings;
      const agent = name === undefined ? agents[0] : agents.find((profile) => profile.name === name);
      if (!agent) throw invalidParams("Unknown agent", { agents: agents.map((profile) => profile.name) });
      if (model !== undefined) await client.checkModel(model);
      const requestName = await nameRequest("turn.start", params);
      const request = { input, agent, ...(model !== undefined && { model }) };
      const { turnId, turn } = await this.#sessions.use(threadId, (session) =>
        session.startTurn(request, requestName),
      );
      if (turn) {
        client.turns.add(turn);
        void turn.ended.then(() => client.turns.delete(turn));
      }
      return { turnId };
    },
    "approval.respond": async (params, client) => {
      const threadId = threadOfRequest(params.requestId);
      if (threadId === undefined) throw approvalNotFound({ reason: "unknown" });
      const { requestId, digest, ...given } = params;
      if (given.reason !== undefined && given.decision !== "reject")
        throw invalidParams("reason goes with the decision reject only", { field: "reason" });
      const answer = defined({ ...given, resolvedBy: client.label });
      try {
        await this.#sessions.use(threadId, (session) => session.approvals.respond(requestId, answer, digest));
      } catch (error) {
        throw isThreadNotFound(error) ? approvalNotFound({ reason: "unknown" }) : error;
      }
      return { ok: true };
    },
    "turn.cancel": async ({ threadId }) => {
      await this.#sessions.use(threadId, (session) => session.cancelTurn());
      return { ok: true };
    },
    "grant.list": async ({ threadId, directory } = {}) => {
      const grants = await this.#settings.store.grants();
      const fits = (grant: Grant) =>
        (threadId === undefined || grant.threadId === threadId) &&
        (directory === undefined || grant.directory === directory);
      return { grants: grants.filter(fits) };
    },
    "grant.revoke": async ({ grantId }) => {
      if (!(await this.#settings.store.removeGrant(grantId)))
        throw approvalNotFound({ reason: "unknown_grant" });
      return { ok: true };
    },
  };

  #subscribe(
    client: ConnectedClient,
    threadId: string,
    {
      afterSeq,
      afterTime,
    }: { readonly afterSeq: number | undefined; readonly afterTime: number | undefined },
  ): Promise<ThreadMethodResult<"thread.subscribe">> {
    const check = async (lastSeq: number) => {
      if (afterSeq === undefined || afterTime === undefined) return;
      await checkHeard(this.#settings.store, threadId, { afterSeq, afterTime, lastSeq });
    };
    const begin = (thread: Thread, { lastSeq, lastTime }: LogEnd, pending: readonly EventBody[]) => {
      client.subscribe(threadId, lastSeq, afterSeq);
      for (const body of pending) client.outbox.notify(body).catch(() => {});
      this.#connections.changed();
      return { thread, lastSeq, lastTime };
    };
    return this.#sessions.subscribe(
      threadId,
      async (session) => {
        await check(session.lastSeq);
        const { thread, lastSeq, lastTime } = session;
        return begin(thread, { lastSeq, lastTime }, session.pendingQuestions(afterSeq ?? lastSeq));
      },
      async (thread, end, state) => {
        await check(end.lastSeq);
        return begin(thread, end, state.requestedApprovals(afterSeq ?? end.lastSeq));
      },
    );
  }

  /** Every request is validated here, once. */
  async #handle(
    methodName: string,
    rawParams: unknown,
    call: Call,
    client: ConnectedClient,
  ): Promise<unknown> {
    if (!Object.hasOwn(threadMethods, methodName)) throw methodNotFound(methodName);
    if (this.#closing !== undefined) {
      throw new ProtocolError(-32603, "The server is closing", { data: { reason: "server_closing" } });
    }
    const name = methodName as ThreadMethodName;
    const parsed = threadMethods[name].params.safeParse(rawParams);
    if (!parsed.success) throw invalidParams("Invalid params", { issues: toIssues(parsed.error.issues) });
    const release = client.outbox.hold();
    try {
      const method = this.#methods[name] as Methods["thread.get"];
      call.reply(await inTraceMeta(rawParams, () => method(parsed.data as never, client)));
      return undefined;
    } catch (error) {
      throw StoreError.isInstance(error) ? storeFailure(error) : error;
    } finally {
      release();
    }
  }

  /** The client will ask no more: answer, let its turns go on, then close. */
  async #finish(client: ConnectedClient): Promise<void> {
    await client.peer.whenIdle();
    while ([...client.turns].some((turn) => !turn.isWaiting)) {
      await Promise.all([...client.turns].map((turn) => turn.whenQuiet()));
    }
    await client.peer.close();
  }
}

/** What a caller may know of a failed validation: where and what, never the value. */
const toIssues = (issues: readonly { path: PropertyKey[]; message: string }[]): JsonValue =>
  issues
    .slice(0, 10)
    .map(({ path, message }) => ({ path: path.map(String).join(".").slice(0, 200), message }));

const isThreadNotFound = (error: unknown): boolean =>
  ProtocolError.isInstance(error) && error.rpcCode === ThreadErrorCode.ThreadNotFound;

const storeFailure = (error: StoreError): ProtocolError => {
  const { code, detail, message } = error;
  const data = { reason: code, ...(detail !== undefined && { detail }) };
  return new ProtocolError(-32603, message, { data, code, cause: error });
};

const resultTooLarge = (method: string, maxFrameBytes: number): ProtocolError =>
  method === "thread.get"
    ? historyTooLarge(maxFrameBytes)
    : new ProtocolError(-32603, "The result exceeds the message limit", {
        data: { reason: "result_too_large", maxFrameBytes },
      });

/**
 * Makes a server of the thread protocol around an agent.
 *
 * @example
 * ```ts
 * import { createThreadServer } from "@harnesskit/thread-server";
 *
 * const server = createThreadServer({
 *   runner: {
 *     async run(turn) {
 *       const message = turn.message();
 *       message.append("Hello.");
 *       await message.complete();
 *     },
 *   },
 * });
 * await server.close();
 * ```
 */
export const createThreadServer = (options: ThreadServerOptions): ThreadServer => new Server(options);
