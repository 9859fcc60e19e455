import type { JsonValue } from "@harnesskit/protocol/envelope";
import {
  type Event,
  THREAD_PROTOCOL_VERSION,
  type Thread,
  type ThreadMethodName,
  type ThreadMethodParams,
  type ThreadMethodResult,
  threadMethods,
} from "@harnesskit/protocol/threads";
import {
  type Call,
  type Channel,
  createPeer,
  type HarnessError,
  invalidParams,
  methodNotFound,
  type Peer,
  ProtocolError,
} from "@harnesskit/wire";
import type { ActiveTurn } from "./active-turn.ts";
import { Approvals } from "./approvals.ts";
import { type Connection, Connections } from "./connections.ts";
import { StoreError } from "./errors.ts";
import { resolveSettings, type ServerSettings, type ThreadServerOptions } from "./server-settings.ts";
import { ThreadSessions } from "./thread-sessions.ts";

type Methods = {
  [M in ThreadMethodName]: (
    params: ThreadMethodParams<M>,
    call: Call & { reply(result: ThreadMethodResult<M>): void },
    client: Client,
  ) => Promise<ThreadMethodResult<M> | undefined>;
};

/** What a connection adds to a request. */
interface Client extends Connection {
  /** The turns that it started and that have not ended. */
  readonly turns: Set<ActiveTurn>;
}

/** A server of the thread protocol. Knows no transport: it speaks over any channel, and over several at once. */
export interface ThreadServer {
  /**
   * Serves a client on this channel. When the client's input ends, what it asked is answered, the turns that it
   * started go on to their end or their approval, and then the channel is closed.
   */
  connect(channel: Channel): void;
  /**
   * Stops what runs (`turn.error`, code `server_closed`), leaves what waits for a human as it is, closes the
   * connections and the store. Idempotent.
   */
  close(): Promise<void>;
}

class Server implements ThreadServer {
  readonly #settings: ServerSettings;
  readonly #connections: Connections;
  readonly #approvals = new Approvals();
  readonly #sessions: ThreadSessions;
  #clients = 0;
  #closing: Promise<void> | undefined;

  constructor(options: ThreadServerOptions) {
    const tell = (event: Event) => this.#connections.notify(event);
    this.#settings = resolveSettings(options, (bodies, error) => {
      this.#settings.onError(error);
      for (const body of bodies) this.#connections.notify(body);
    });
    this.#connections = new Connections(this.#settings.onError);
    this.#sessions = new ThreadSessions({
      settings: this.#settings,
      approvals: this.#approvals,
      onEvent: tell,
    });
  }

  connect(channel: Channel): void {
    const turns = new Set<ActiveTurn>();
    const peer: Peer = createPeer(
      channel,
      {
        request: (method, params, call) => this.#handle(method, params, call, client),
        end: () => void this.#finish(client),
        unexpected: (error) => this.#settings.onError(error),
        resultTooLarge: (method, error) => resultTooLarge(method, error.maxFrameBytes),
      },
      // In order: whoever creates a thread and lists the threads in one go finds it.
      { maxConcurrentCalls: 1 },
    );
    const client: Client = { label: `client-${++this.#clients}`, peer, channel, turns };
    this.#connections.add(client);
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
    initialize: async ({ clientInfo } = {}, _call, client) => {
      if (clientInfo) client.label = clientInfo.name.slice(0, 100);
      const capabilities = {
        threads: true,
        turns: true,
        approvals: true,
        streaming: true,
        persistence: true,
      };
      return { version: THREAD_PROTOCOL_VERSION, capabilities };
    },
    "thread.create": async ({ title = "New thread", directory } = {}, call) => {
      const { clock, createId, resolveDirectory } = this.#settings;
      const created = clock.now();
      const thread: Thread = {
        threadId: createId("ses"),
        title,
        directory: await resolveDirectory(directory),
        time: { created, updated: created },
      };
      await this.#sessions.create(thread, () => call.reply({ thread }));
      return undefined;
    },
    "thread.list": async () => ({ threads: await this.#settings.store.list() }),
    "thread.get": async ({ threadId, afterSeq = 0, limit }) => {
      const thread = await this.#sessions.recovered(threadId);
      const events: Event[] = [];
      const options = limit === undefined ? { afterSeq } : { afterSeq, limit };
      for await (const event of this.#settings.store.events(threadId, options)) events.push(event);
      return { thread, events };
    },
    "turn.start": async ({ threadId, input, model, agent: name }, call, client) => {
      const { agents } = this.#settings;
      const agent = name === undefined ? agents[0] : agents.find((profile) => profile.name === name);
      if (!agent) throw invalidParams("Unknown agent", { agents: agents.map((profile) => profile.name) });
      const session = await this.#sessions.open(threadId);
      const request = model === undefined ? { input, agent } : { input, agent, model };
      const turn = await session.startTurn(request, (turnId) => call.reply({ turnId }));
      client.turns.add(turn);
      void turn.ended.then(() => client.turns.delete(turn));
      return undefined;
    },
    "approval.respond": async ({ requestId, decision }, call, client) => {
      const answer = { decision, resolvedBy: client.label };
      await this.#approvals.respond(requestId, answer, () => call.reply({ ok: true }));
      return undefined;
    },
    "turn.cancel": async ({ threadId }, call) => {
      const session = await this.#sessions.open(threadId);
      session.cancelTurn(() => call.reply({ ok: true }));
      return undefined;
    },
  };

  /** Every request is validated here, once. */
  async #handle(method: string, rawParams: unknown, call: Call, client: Client): Promise<unknown> {
    if (!Object.hasOwn(threadMethods, method)) throw methodNotFound(method);
    if (this.#closing !== undefined) {
      throw new ProtocolError(-32603, "The server is closing", { data: { reason: "server_closing" } });
    }
    const name = method as ThreadMethodName;
    const parsed = threadMethods[name].params.safeParse(rawParams);
    if (!parsed.success) throw invalidParams("Invalid params", { issues: toIssues(parsed.error.issues) });
    try {
      return await (this.#methods[name] as Methods["thread.get"])(
        parsed.data as never,
        call as never,
        client,
      );
    } catch (error) {
      throw StoreError.isInstance(error) ? storeFailure(error) : error;
    }
  }

  /** The client will ask no more: answer, let its turns go on, then close. */
  async #finish(client: Client): Promise<void> {
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

const storeFailure = (error: HarnessError): ProtocolError =>
  new ProtocolError(-32603, error.message, { data: { reason: error.code }, code: error.code, cause: error });

const resultTooLarge = (method: string, maxFrameBytes: number): ProtocolError => {
  const data = { reason: "result_too_large", maxFrameBytes };
  return method === "thread.get"
    ? invalidParams(
        "The history exceeds the message limit: ask for a part of it with `afterSeq` and `limit`",
        {
          ...data,
          param: "limit",
        },
      )
    : new ProtocolError(-32603, "The result exceeds the message limit", { data });
};

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
