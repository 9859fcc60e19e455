import {
  CORE_API_UNAUTHORIZED,
  coreApiMethods,
  coreApiNotifications,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { type Channel, callSafely, HarnessError, invalidParams, ProtocolError } from "@harnesskit/wire";
import { createPeer, type Peer, type RpcMethod } from "@harnesskit/wire/rpc";
import type * as z from "zod";
import type { ToolCall } from "../call.ts";
import type { CallOptions } from "../call-options.ts";
import { coreResult } from "../call-result.ts";
import type { CoreServerLimits, CoreServerOptions, RemoteClient } from "./core-server.ts";

type Methods = typeof coreApiMethods;
type MethodName = keyof Methods;
type ParamsOf<Name extends MethodName> = z.output<Methods[Name]["params"]>;
type WireOptions = ParamsOf<"tools.check">["options"];

interface ConnectionOptions extends Pick<CoreServerOptions, "core"> {
  readonly onError: CoreServerOptions["onError"] | undefined;
  readonly findClient: (token: string) => RemoteClient | undefined;
  readonly version: string;
  readonly limits: CoreServerLimits;
}

/**
 * Requests beside calls that may wait. Calls beyond the limit are answered at once, so that they never fill the queue: the
 * connection is read on, and a client can always cancel.
 */
const maxOtherRequests = 64;

/** One client of a core. Its calls end with its connection. */
export class CoreServerConnection {
  readonly #options: ConnectionOptions;
  readonly #peer: Peer;
  readonly #calls = new Map<string, ToolCall>();
  #client: RemoteClient | undefined;

  constructor(channel: Channel, options: ConnectionOptions) {
    this.#options = options;
    const { core, limits, onError } = options;
    this.#peer = createPeer(
      channel,
      {
        methods: {
          "core.hello": this.#method("core.hello", (params) => this.#hello(params)),
          "tools.list": this.#method("tools.list", () => ({ tools: core.tools() })),
          "tools.check": this.#method("tools.check", async ({ tool_id: toolId, input, options: given }) => {
            const refused = await core.check(toolId, input, this.#callOptions(given));
            return refused ? { refused } : {};
          }),
          "tools.call": this.#method("tools.call", (params) => this.#call(params)),
        },
        notifications: {
          "tools.cancel": { handle: (params) => this.#cancel(params) },
        },
        onError: (error) => callSafely(() => onError?.(error)),
      },
      { maxConcurrentCalls: limits.maxCalls + maxOtherRequests, maxQueuedCalls: maxOtherRequests },
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
    const client = this.#options.findClient(token);
    if (!client) {
      const refusal = unauthorized("the token is not valid");
      // After the answer.
      setImmediate(() => void this.#peer.close());
      throw refusal;
    }
    this.#client = client;
    const { caller, actor } = client;
    return { core_version: this.#options.version, caller, actor };
  }

  async #call({ call: id, tool_id: toolId, input, options }: ParamsOf<"tools.call">): Promise<unknown> {
    if (this.#calls.has(id)) throw invalidParams("tools.call: a call with this id runs already");
    const { maxCalls } = this.#options.limits;
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
  #callOptions(given: WireOptions = {}): CallOptions {
    const { caller, actor } = this.#client as RemoteClient;
    const fields = {
      timeoutMs: given.timeout_ms,
      idempotencyKey: given.idempotency_key,
      context: given.context,
      requestId: given.request_id,
      correlationId: given.correlation_id,
      causationId: given.causation_id,
      directiveId: given.directive_id,
      declarationDigest: given.declaration_digest,
      actor,
    };
    const present = Object.entries(fields).filter(([, value]) => value !== undefined);
    return { caller, ...Object.fromEntries(present) };
  }
}

const unauthorized = (message: string): ProtocolError => new ProtocolError(CORE_API_UNAUTHORIZED, message);
