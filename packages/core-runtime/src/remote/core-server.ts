import { sha256Hex } from "@harnesskit/node-kit";
import {
  type Actor,
  type Caller,
  CORE_API_UNAUTHORIZED,
  coreApiMethods,
  coreApiNotifications,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import {
  type Channel,
  ConnectionClosedError,
  callSafely,
  HarnessError,
  InvalidArgumentError,
  invalidParams,
  ProtocolError,
  RequestTimeoutError,
} from "@harnesskit/wire";
import { createPeer, type Peer, type RpcMethod } from "@harnesskit/wire/rpc";
import { type Clock, systemClock } from "@harnesskit/wire/time";
import type * as z from "zod";
import type { ToolCall } from "../call.ts";
import type { CallOptions } from "../call-options.ts";
import { coreResult } from "../call-result.ts";
import type { RunningCore } from "../core.ts";
import { checkCoreServerOptions } from "../option-names.ts";
import { callOptionsOf } from "./wire-options.ts";

/** Clients that are connected at the same time; further ones are closed. */
const maxClients = 64;
/** Calls of one client that run or wait; further ones end with `tool.busy`. */
const maxCalls = 64;
/** How long a client may take to introduce itself, in milliseconds. */
const helloTimeoutMs = 5_000;
/**
 * Requests beside calls that may wait. Calls beyond the limit are answered at once, so that they never fill the queue: the
 * connection is read on, and a client can always cancel.
 */
const maxOtherRequests = 64;
/** Characters of a token. */
const minTokenLength = 32;

/** A client by its token: as whom its calls are made. What the client says of itself does not count. */
interface RemoteClient {
  /** At least 32 characters. Secret. */
  readonly token: string;
  readonly caller: Caller;
  /** Who is behind the client. @default unknown */
  readonly actor?: Actor | undefined;
}

export interface CoreServerOptions {
  /** The core whose tools the server offers. The caller closes it. */
  readonly core: Pick<RunningCore, "tools" | "check" | "call">;
  /** Who may connect, by their tokens, and as whom their calls are made. */
  readonly clients: readonly RemoteClient[];
  /** As announced to clients. @default "0.0.0" */
  readonly version?: string | undefined;
  /** Receives what no client sees. What it throws is ignored. @default ignored */
  readonly onError?: ((error: HarnessError) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** Lets other processes use a core. */
export interface CoreServer extends AsyncDisposable {
  /** Serves one client on a channel that was not started yet. */
  connect(channel: Channel): void;
  /** Closes the connections; calls that run are cancelled. */
  close(): Promise<void>;
}

/**
 * Lets other processes list, check, call and cancel the tools of a core, over channels of any transport, as
 * `coreApiMethods` of `@harnesskit/protocol/runtime` says. A client whose connection is lost loses its calls: they are
 * cancelled. At most 64 clients are connected, with 64 calls each. Throws `invalid_argument` for tokens that cannot be used.
 */
export const createCoreServer = (options: CoreServerOptions): CoreServer => {
  const { clients, clock = systemClock } = checkCoreServerOptions(options);
  if (clients.some(({ token }) => token.length < minTokenLength)) {
    throw new InvalidArgumentError(`clients: a token must have at least ${minTokenLength} characters`);
  }
  // By their hashes: how long a look-up of a hash takes says nothing of a token.
  const byHash = new Map(clients.map((client) => [sha256Hex(client.token), client]));
  const channels = new Set<Channel>();
  let isClosing = false;
  return {
    connect(channel) {
      if (isClosing || channels.size >= maxClients) {
        void channel.close(new ConnectionClosedError("the core takes no more clients"));
        return;
      }
      channels.add(channel);
      const connection = new ServerConnection(channel, options, (token) => byHash.get(sha256Hex(token)));
      const stopWaiting = clock.after(helloTimeoutMs, () => {
        if (!connection.isKnown) void channel.close(new RequestTimeoutError("core.hello", helloTimeoutMs));
      });
      void channel.closed.then(() => {
        stopWaiting();
        channels.delete(channel);
      });
    },
    async close() {
      isClosing = true;
      await Promise.all([...channels].map((channel) => channel.close()));
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
};

type MethodName = keyof typeof coreApiMethods;
type ParamsOf<Name extends MethodName> = z.output<(typeof coreApiMethods)[Name]["params"]>;

/** One client of a core. Its calls end with its connection. */
class ServerConnection {
  readonly #options: CoreServerOptions;
  readonly #findClient: (token: string) => RemoteClient | undefined;
  readonly #peer: Peer;
  readonly #calls = new Map<string, ToolCall>();
  #client: RemoteClient | undefined;

  constructor(
    channel: Channel,
    options: CoreServerOptions,
    findClient: (token: string) => RemoteClient | undefined,
  ) {
    this.#options = options;
    this.#findClient = findClient;
    const { core, onError } = options;
    const methods = {
      "core.hello": this.#method("core.hello", (params) => this.#hello(params)),
      "tools.list": this.#method("tools.list", () => ({ tools: core.tools() })),
      "tools.check": this.#method("tools.check", async ({ tool_id: toolId, input, options: given }) => ({
        refused: await core.check(toolId, input, this.#callOptions(given)),
      })),
      "tools.call": this.#method("tools.call", (params) => this.#call(params)),
    };
    const notifications = { "tools.cancel": { handle: (params: unknown) => this.#cancel(params) } };
    this.#peer = createPeer(
      channel,
      { methods, notifications, onError: (error) => callSafely(() => onError?.(error)) },
      { maxConcurrentCalls: maxCalls + maxOtherRequests, maxQueuedCalls: maxOtherRequests },
    );
    this.#peer.signal.addEventListener("abort", () => {
      for (const call of this.#calls.values()) call.cancel("the connection of the caller is lost");
    });
  }

  get isKnown(): boolean {
    return this.#client !== undefined;
  }

  #method<Name extends MethodName>(
    name: Name,
    handle: (params: ParamsOf<Name>) => unknown,
  ): RpcMethod<unknown, unknown> {
    return {
      read: (params) => {
        // Before anything else of the params is looked at.
        if (name !== "core.hello" && !this.#client)
          throw unauthorized("introduce the client with core.hello first");
        const { data, error } = coreApiMethods[name].params.safeParse(params);
        if (!error) return data;
        const [issue] = error.issues;
        throw invalidParams(`${name}: ${issue?.path.join(".") || "params"} is not valid`);
      },
      handle: async (params) => {
        try {
          return await handle(params as ParamsOf<Name>);
        } catch (error) {
          if (!HarnessError.isInstance(error) || ProtocolError.isInstance(error)) throw error;
          throw invalidParams(`${name}: ${error.message}`, { code: error.code });
        }
      },
    };
  }

  #hello({ token }: ParamsOf<"core.hello">): unknown {
    if (this.#client) throw invalidParams("core.hello: the client is introduced already");
    const client = this.#findClient(token);
    if (!client) {
      // After the answer.
      setImmediate(() => void this.#peer.close());
      throw unauthorized("the token is not valid");
    }
    this.#client = client;
    const { caller, actor } = client;
    return { core_version: this.#options.version ?? "0.0.0", caller, actor };
  }

  async #call({ call: id, tool_id: toolId, input, options }: ParamsOf<"tools.call">): Promise<unknown> {
    if (this.#calls.has(id)) throw invalidParams("tools.call: a call with this id runs already");
    if (this.#calls.size >= maxCalls) {
      const message = `the client has ${maxCalls} calls already`;
      return coreResult(RuntimeErrorCode.Busy, message, { retryable: true });
    }
    const call = this.#options.core.call(toolId, input, this.#callOptions(options));
    this.#calls.set(id, call);
    if (this.#peer.signal.aborted) call.cancel("the connection of the caller is lost");
    try {
      for await (const chunk of call.stream) {
        // A client that is gone gets no more; the call is being cancelled.
        await this.#peer.notify("tools.stream", { call: id, chunk }).catch(() => {});
      }
      return await call.result;
    } finally {
      this.#calls.delete(id);
    }
  }

  #cancel(params: unknown): void {
    const { data } = coreApiNotifications["tools.cancel"].safeParse(params);
    if (data && this.#client) this.#calls.get(data.call)?.cancel(data.reason);
  }

  /** What the client may say of a call, and who it is. */
  #callOptions(given: ParamsOf<"tools.check">["options"]): CallOptions {
    const { caller, actor } = this.#client as RemoteClient;
    return { ...callOptionsOf(given ?? {}), caller, actor };
  }
}

const unauthorized = (message: string): ProtocolError => new ProtocolError(CORE_API_UNAUTHORIZED, message);
