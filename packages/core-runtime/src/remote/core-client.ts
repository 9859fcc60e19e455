import { coreApiMethods, coreApiNotifications, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import {
  type CloseReason,
  callSafely,
  HarnessError,
  InvalidMessageError,
  ProtocolError,
  randomId,
  type Transport,
} from "@harnesskit/wire";
import { ClientSession, createPeer, type Peer, resolveReconnect } from "@harnesskit/wire/rpc";
import { systemClock } from "@harnesskit/wire/time";
import { activeTrace } from "@harnesskit/wire/trace";
import type * as z from "zod";
import type { CallOptions } from "../call-options.ts";
import { type CallResult, coreResult } from "../call-result.ts";
import type { StreamChunk } from "../call-stream.ts";
import type { ToolInfo } from "../judge-tool.ts";
import { checkCoreClientOptions } from "../option-names.ts";
import type { ListOptions, ToolHost, ToolHostCallOptions } from "../thread-tools/tool-host.ts";
import { toWireOptions } from "./wire-options.ts";

const { AgentLost, AgentUnavailable, Canceled, InputTooLarge, InvalidInput, InvalidMessage, Timeout } =
  RuntimeErrorCode;

/** How long a call may take that does not say. */
const defaultTimeoutMs = 120_000;
/** How long after its deadline, or its cancellation, a call waits for the core's answer. */
const graceMs = 15_000;
/** Attempts of a call that certainly had no effect. */
const maxAttempts = 3;

export interface CoreClientOptions {
  /** To the core's server. */
  readonly transport: Transport;
  /** Reads the token, for each connection. Secret. */
  readonly token: () => string | Promise<string>;
  /** How long one attempt to connect may take, and an answer that is not a call's. Calls have a `timeoutMs` of their own, 120000 by default. @default 5000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Receives what no caller sees. @default ignored */
  readonly onError?: ((error: HarnessError) => void) | undefined;
}

/** A core in another process, for conversations here. A connection that is lost is opened again. */
export interface CoreClient extends ToolHost, AsyncDisposable {
  /**
   * Connects and introduces the client. Rejects with a `ProtocolError` -32001 for a token that is not valid, or as the
   * transport does.
   */
  connect(options?: { readonly signal?: AbortSignal }): Promise<void>;
  close(): Promise<void>;
  readonly closed: Promise<CloseReason>;
}

/**
 * Connects to a core that another process serves with `createCoreServer`. A call that is in progress when the connection is
 * lost ends with `agent.lost` and is not repeated, unless it is repeatable; one that was not sent ends with
 * `agent.unavailable`. As whom it calls is what the server knows of its token: `caller` and `actor` of the options are not
 * sent. Throws `invalid_argument` for invalid options.
 */
export const createCoreClient = (options: CoreClientOptions): CoreClient =>
  new RemoteCore(checkCoreClientOptions(options));

type Methods = typeof coreApiMethods;
type ResultOf<Name extends keyof Methods> = z.output<Methods[Name]["result"]>;

class RemoteCore implements CoreClient {
  readonly #options: CoreClientOptions;
  readonly #timeoutMs: number;
  readonly #session: ClientSession<Peer, unknown>;
  /** What running calls stream, by their ids. */
  readonly #streams = new Map<string, (chunk: StreamChunk) => void>();

  constructor(options: CoreClientOptions) {
    this.#options = options;
    this.#timeoutMs = options.requestTimeoutMs ?? 5_000;
    this.#session = new ClientSession<Peer, unknown>({
      open: async (signal, onOver) => this.#open(signal, onOver),
      introduce: async (peer, wait) => {
        const params = { token: await options.token(), client: { name: "core-client" } };
        return parseResult("core.hello", await peer.request("core.hello", params, wait));
      },
      reconnect: resolveReconnect(undefined),
      timeoutMs: () => this.#timeoutMs,
      isFinal: (error) => ProtocolError.isInstance(error),
      onAttemptFailed: (error) => this.#report(error),
      clock: systemClock,
    });
  }

  async connect({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#session.connect({ signal });
  }

  get closed(): Promise<CloseReason> {
    return this.#session.closed;
  }

  async tools({ signal, without = [] }: ListOptions = {}): Promise<readonly ToolInfo[]> {
    try {
      const { tools } = await this.#ask("tools.list", {}, signal);
      return (tools as readonly ToolInfo[]).filter(({ agent_id: agentId }) => !without.includes(agentId));
    } catch (error) {
      this.#report(error);
      return [];
    }
  }

  async check(toolId: string, input: unknown, options: CallOptions): Promise<CallResult | undefined> {
    const params = { tool_id: toolId, input, options: wireOptionsOf(options) };
    try {
      return (await this.#ask("tools.check", params, options.signal)).refused as CallResult | undefined;
    } catch (error) {
      return notSent(error, options.signal);
    }
  }

  async call(
    toolId: string,
    input: unknown,
    { isRepeatable = false, ...options }: ToolHostCallOptions,
    onChunk: (chunk: StreamChunk) => void,
  ): Promise<CallResult> {
    for (let attempt = 1; ; attempt++) {
      const result = await this.#callOnce(toolId, input, options, onChunk);
      if (result.status === "succeeded" || attempt === maxAttempts || !isRepeatable) return result;
      if (result.error.code !== AgentLost) return result;
    }
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #callOnce(
    toolId: string,
    input: unknown,
    options: CallOptions,
    onChunk: (chunk: StreamChunk) => void,
  ): Promise<CallResult> {
    const { signal, timeoutMs = defaultTimeoutMs } = options;
    let peer: Peer;
    try {
      signal?.throwIfAborted();
      peer = await this.#peer(signal);
    } catch (error) {
      return notSent(error, signal);
    }
    const call = randomId("call");
    const gaveUp = new AbortController();
    let stopGrace: (() => void) | undefined;
    const cancel = () => {
      peer.notify("tools.cancel", { call }).catch(() => {});
      stopGrace = systemClock.after(graceMs, () => gaveUp.abort());
    };
    this.#streams.set(call, onChunk);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const params = { call, tool_id: toolId, input, options: wireOptionsOf({ ...options, timeoutMs }) };
      const wait = { timeoutMs: timeoutMs + graceMs, signal: gaveUp.signal };
      return parseResult("tools.call", await peer.request("tools.call", params, wait)) as CallResult;
    } catch (error) {
      return endOf(error);
    } finally {
      stopGrace?.();
      signal?.removeEventListener("abort", cancel);
      this.#streams.delete(call);
    }
  }

  async #peer(signal?: AbortSignal): Promise<Peer> {
    return (await this.#session.connect({ timeoutMs: this.#timeoutMs, signal })).connection;
  }

  async #ask<Name extends keyof Methods>(
    method: Name,
    params: unknown,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>> {
    const peer = await this.#peer(signal);
    return parseResult(method, await peer.request(method, params, { timeoutMs: this.#timeoutMs, signal }));
  }

  async #open(signal: AbortSignal, onOver: (error?: HarnessError) => void): Promise<Peer> {
    const channel = await this.#options.transport.connect({ signal });
    return createPeer(channel, {
      notifications: { "tools.stream": { handle: (params) => this.#stream(params) } },
      close: ({ error }) => onOver(error),
      onError: (error) => this.#report(error),
    });
  }

  #stream(params: unknown): void {
    const { data } = coreApiNotifications["tools.stream"].safeParse(params);
    if (data) callSafely(() => this.#streams.get(data.call)?.(data.chunk as StreamChunk));
  }

  #report(error: unknown): void {
    if (HarnessError.isInstance(error)) callSafely(() => this.#options.onError?.(error));
  }
}

const parseResult = <Name extends keyof Methods>(method: Name, result: unknown): ResultOf<Name> => {
  const { data, error } = coreApiMethods[method].result.safeParse(result);
  if (error) throw new InvalidMessageError("not_json_rpc", `the core's answer to ${method} is not valid`);
  return data as ResultOf<Name>;
};

const wireOptionsOf = (options: CallOptions): Record<string, unknown> => {
  const trace = activeTrace();
  return toWireOptions(trace ? { ...options, context: { ...trace, ...options.context } } : options);
};

/** A call that did not reach the core. */
const notSent = (error: unknown, signal: AbortSignal | undefined): CallResult => {
  if (signal?.aborted) return coreResult(Canceled, "The call was cancelled before it began.");
  const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
  return coreResult(AgentUnavailable, `The core cannot be reached${code}.`);
};

/** How a call ended that got no answer, as far as it is known. With the first two nothing was sent. */
const endOf = (error: unknown): CallResult => {
  if (ProtocolError.isInstance(error))
    return coreResult(InvalidMessage, `The core refused the call: ${error.message}`);
  switch (HarnessError.isInstance(error) ? error.code : "") {
    case "frame_too_large":
      return coreResult(InputTooLarge, "The input is too large to be sent.");
    case "invalid_argument":
      return coreResult(InvalidInput, "The input is not JSON.");
    case "request_timeout":
      return coreResult(Timeout, "The core did not answer in time.");
    default:
      return coreResult(AgentLost, "The connection to the core was lost while the call was in progress.");
  }
};
