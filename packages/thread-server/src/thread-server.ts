import { JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import { type ThreadMethodName, threadMethods } from "@harnesskit/protocol/threads";
import {
  type Channel,
  displayText,
  type HarnessError,
  invalidParams,
  methodNotFound,
  ProtocolError,
} from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { type Call, createPeer, type Peer } from "@harnesskit/wire/rpc";
import { inTraceMeta } from "@harnesskit/wire/trace";
import type { ConnectedClient, ThreadConnectOptions } from "./connections.ts";
import { isStoreFailure, resultTooLarge, ThreadStoreError, type ThreadStoreErrorCode } from "./errors.ts";
import { QueueResumption } from "./resume-queues.ts";
import { createMethods, type Methods } from "./server-methods.ts";
import { resolveSettings, type ThreadServerOptions } from "./server-settings.ts";
import { ThreadSessions } from "./thread-sessions.ts";

/** A server of the thread protocol. Knows no transport: it speaks over any channel, and over several at once. */
export interface ThreadServer extends AsyncDisposable {
  /**
   * Serves a client on this channel. When the client's input ends, what it asked is answered, the turns that it
   * started go on to their end or their approval, and then the channel is closed.
   */
  connect(channel: Channel, options?: ThreadConnectOptions): void;
  /**
   * Goes on with the prompts that waited for a server which ended: for this the threads are listed once. One that another server
   * still holds is tried again every `takeOverAfterMs`. The first `connect` calls it,
   * unless `resumeQueues` is "use". Settles when each thread was tried once. Never rejects. Idempotent.
   */
  resume(): Promise<void>;
  /**
   * Stops what runs (`turn.error`, code `server_closed`), leaves what waits for a human as it is, closes the
   * connections and the store. Idempotent.
   */
  close(): Promise<void>;
}

class Server implements ThreadServer {
  readonly #sessions: ThreadSessions;
  readonly #resumption: QueueResumption;
  readonly #methods: Methods;
  #closing: Promise<void> | undefined;

  constructor(options: ThreadServerOptions) {
    this.#sessions = new ThreadSessions(resolveSettings(options));
    this.#resumption = new QueueResumption(this.#sessions);
    this.#methods = createMethods(this.#sessions);
  }

  connect(channel: Channel, options?: ThreadConnectOptions): void {
    const { settings, connections } = this.#sessions;
    if (settings.resumeQueues === "connect") void this.resume();
    const peer: Peer = createPeer(
      channel,
      {
        request: (method, params, call) => this.#handle(method, params, call, client),
        end: () => void this.#finish(client),
        onError: settings.onError,
        resultTooLarge: (method, { maxFrameBytes }) => answerTooLarge(method, maxFrameBytes),
      },
      // In order: a client that creates a thread and lists the threads at once finds it.
      { maxConcurrentCalls: 1 },
    );
    const client = connections.add(peer, channel, options);
  }

  resume(): Promise<void> {
    return this.#resumption.start();
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#resumption.close();
      await this.#sessions.close();
      await this.#sessions.connections.close();
      await this.#sessions.settings.store.close();
    })();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
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
      throw new ProtocolError(JsonRpcErrorCode.InternalError, "The server is closing", {
        data: { reason: "server_closing" },
      });
    }
    const name = methodName as ThreadMethodName;
    const parsed = threadMethods[name].params.safeParse(rawParams);
    if (!parsed.success) throw toInvalidParams(parsed.error.issues);
    const release = client.outbox.hold();
    try {
      const method = this.#methods[name] as Methods["thread.get"];
      call.reply(await inTraceMeta(rawParams, () => method(parsed.data as never, client)));
      return undefined;
    } catch (error) {
      throw isStoreFailure(error) ? storeFailure(error) : error;
    } finally {
      release();
    }
  }

  /** The client will ask no more: answer, let its turns go on, then close. */
  async #finish(client: ConnectedClient): Promise<void> {
    await client.peer.whenIdle();
    for (;;) {
      const going = [...client.turns].filter(([turnId, queue]) => queue.isGoingOn(turnId));
      if (going.length === 0) break;
      await Promise.race(going.map(([, queue]) => queue.whenChanged()));
    }
    client.outbox.flush();
    await client.peer.close();
  }
}

/** What a caller may know of a failed validation: where and what, never the value. */
const toInvalidParams = (all: readonly { path: PropertyKey[]; message: string }[]): ProtocolError => {
  const issues = all
    .slice(0, 10)
    .map(({ path, message }) => ({ path: path.map(String).join(".").slice(0, 200), message }));
  const said = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return invalidParams(displayText(`Invalid params: ${said.join("; ")}`, { maxLength: 500 }), { issues });
};

const storeFailure = (error: HarnessError<ThreadStoreErrorCode>): ProtocolError => {
  const { code, message } = error;
  const detail = ThreadStoreError.isInstance(error) ? error.detail : undefined;
  const data = defined({ reason: code, detail });
  return new ProtocolError(JsonRpcErrorCode.InternalError, message, { data, code, cause: error });
};

const answerTooLarge = (method: string, maxFrameBytes: number): ProtocolError =>
  method === "thread.get" || method === "thread.list"
    ? resultTooLarge(method, maxFrameBytes)
    : new ProtocolError(JsonRpcErrorCode.InternalError, "The result exceeds the message limit", {
        data: { reason: "result_too_large", maxFrameBytes },
      });

/**
 * Makes a server of the thread protocol around an agent. Throws `invalid_argument` for invalid options.
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
