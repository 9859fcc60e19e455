import {
  type ApprovalDecision,
  type EventBody,
  type EventName,
  type Thread,
  type ThreadMethodName,
  type ThreadMethodParams,
  type ThreadMethodResult,
  threadMethods,
  threadNotifications,
} from "@harnesskit/protocol/threads";
import { type CloseReason, createPeer, type HarnessError, type Peer, type Transport } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";

export interface ThreadLinkOptions {
  readonly transport: Transport;
  /** Who this is: what the log says about who answered. */
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Takes each event of the thread that is followed; the next one waits for what it returns. */
  readonly onEvent: (event: EventBody) => void | Promise<void>;
  /** Told of what arrived and was not used. */
  readonly onError: (error: HarnessError) => void;
  readonly signal?: AbortSignal;
}

/** A connection that follows one thread of a server, from its first event on. */
export class ThreadLink {
  readonly #peer: Peer;
  readonly #followed: { threadId?: string };

  private constructor(peer: Peer, followed: { threadId?: string }) {
    this.#peer = peer;
    this.#followed = followed;
  }

  /** Connects. Rejects with the errors of the transport, and of `initialize`. */
  static async open(options: ThreadLinkOptions): Promise<ThreadLink> {
    const { transport, clientInfo, onEvent, onError, signal } = options;
    const request = signal === undefined ? {} : { signal };
    const channel = await transport.connect(request);
    const followed: { threadId?: string } = {};
    const peer = createPeer(channel, {
      notification: (method, params) => {
        const event = toEvent(method, params, onError);
        return event && event.data.threadId === followed.threadId ? onEvent(event) : undefined;
      },
      unexpected: onError,
    });
    try {
      await peer.request("initialize", { clientInfo }, request);
      return new ThreadLink(peer, followed);
    } catch (error) {
      void peer.close();
      throw error;
    }
  }

  /** Settles when the connection is gone; never rejects. */
  get closed(): Promise<CloseReason> {
    return this.#peer.closed;
  }

  /** The threads that were used last, at most `limit`. */
  async threads(limit: number): Promise<Thread[]> {
    return (await this.#call("thread.list", { limit })).threads;
  }

  /** Begins to follow a thread: all its events, then what comes. Gives the number of its last event so far. */
  async follow(threadId: string): Promise<{ thread: Thread; lastSeq: number }> {
    // A new client hears of every thread. From here on it hears nothing, then this thread from its beginning.
    await this.#call("thread.unsubscribe", { threadId });
    this.#followed.threadId = threadId;
    return this.#call("thread.subscribe", { threadId, afterSeq: 0 });
  }

  /** Answers an approval. Rejects with -32004 when somebody else was first. */
  async respond(requestId: string, decision: ApprovalDecision, digest: string): Promise<void> {
    await this.#call("approval.respond", { requestId, decision, digest });
  }

  async cancel(threadId: string): Promise<void> {
    await this.#call("turn.cancel", { threadId });
  }

  async close(): Promise<void> {
    await this.#peer.close();
  }

  async #call<M extends ThreadMethodName>(
    method: M,
    params: ThreadMethodParams<M>,
  ): Promise<ThreadMethodResult<M>> {
    const parsed = threadMethods[method].result.safeParse(await this.#peer.request(method, params));
    if (!parsed.success)
      throw new CliError("invalid_message", `${method}: the server's answer is malformed`, {
        exitCode: ExitCode.unavailable,
        cause: parsed.error,
      });
    return parsed.data as ThreadMethodResult<M>;
  }
}

const isEventName = (method: string): method is EventName =>
  Object.hasOwn(threadNotifications, method) && method !== "thread.deleted";

/** A notification as an event; undefined for one that is unknown or malformed. */
const toEvent = (
  method: string,
  params: unknown,
  onError: (error: HarnessError) => void,
): EventBody | undefined => {
  if (!isEventName(method)) return undefined;
  const parsed = threadNotifications[method].safeParse(params);
  if (parsed.success) return { type: method, data: parsed.data } as EventBody;
  onError(new CliError("invalid_message", `${method}: a notification is malformed`, { cause: parsed.error }));
  return undefined;
};
