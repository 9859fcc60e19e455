import { randomUUID } from "node:crypto";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import {
  BoundedSet,
  type Channel,
  type Clock,
  ConnectionClosedError,
  callSafely,
  HarnessError,
  InvalidMessageError,
  systemClock,
} from "@harnesskit/wire";
import { canonicalJson } from "@harnesskit/wire/json";
import { inTrace } from "@harnesskit/wire/trace";
import type { ActionJudge, ProxiedAction } from "../proxy/action-judge.ts";
import { type ProxyLimits, proxyLimits } from "../proxy/limits.ts";
import { idKey, isRpcId, objectOf, type RpcMessage, readRpc, rpcError } from "../proxy/rpc-message.ts";
import { actionOf, forwardedCall, readToolCall, refusedCall, type ToolCall } from "./tool-call.ts";
import { ToolList } from "./tool-list.ts";
import type { ToolPins } from "./tool-pins.ts";

export interface McpProxyOptions {
  /** The client's side; not started. It is closed with the proxy. */
  readonly client: Channel;
  /** The server's side; not started. It is closed with the proxy. */
  readonly server: Channel;
  readonly judge: ActionJudge;
  readonly pins: ToolPins;
  /** What policies call the server: letters, digits, `.` and `-`. */
  readonly name: string;
  /** @default see each limit of `proxyLimits` */
  readonly limits?: Partial<ProxyLimits>;
  /** What the user should know, in a line: tools that are not offered, messages that were dropped. @default no report */
  readonly onNote?: (line: string) => void;
  readonly clock?: Clock;
}

/** A call that is judged, or runs at the server. */
interface OpenCall {
  readonly call: ToolCall;
  readonly abort: AbortController;
  readonly startedMs: number;
  /** Set when it was sent to the server. */
  action?: ProxiedAction;
  args?: JsonObject;
}

const internalError = -32603;
const invalidRequest = -32600;
const invalidParams = -32602;
const overloaded = -32000;

/**
 * Stands between one MCP client and one server. Each `tools/call` is a `pre_action` of AHP and its result a `post_action`; tools that are not as they
 * were accepted are left out of `tools/list` and are not called; every other message passes.
 */
export class McpProxy {
  readonly #options: McpProxyOptions;
  readonly #limits: ProxyLimits;
  readonly #clock: Clock;
  readonly #tools: ToolList;
  readonly #calls = new Map<string, OpenCall>();
  /** Requests `tools/list` of the client. */
  readonly #lists = new Set<string>();
  /** Calls that the server has answered with a question; the client repeats each with its answer, once. */
  readonly #continued = new BoundedSet<string>({ maxSize: 256 });
  #invalid = 0;

  /** Throws `invalid_argument` for a limit out of range. */
  constructor(options: McpProxyOptions) {
    this.#options = options;
    this.#limits = proxyLimits.resolve(options.limits);
    this.#clock = options.clock ?? systemClock;
    this.#tools = new ToolList({
      pins: options.pins,
      send: (message) => options.server.send(message),
      onNote: (line) => this.#note(line),
    });
  }

  /** Begins, and settles when both sides are closed: with the error of the side that failed. Never rejects. */
  async run(): Promise<HarnessError | undefined> {
    const { client, server } = this.#options;
    server.start({
      message: (value) => this.#fromServer(value),
      error: (error) => this.#fault("server", error),
      close: () => void this.#serverEnded(),
    });
    client.start({
      message: (value) => this.#fromClient(value),
      error: (error) => {
        this.#fault("client", error);
        if (error instanceof InvalidMessageError) void this.#reply(rpcError(null, -32700, error.message));
      },
      close: () => void server.close(),
    });
    const [ofServer, ofClient] = await Promise.all([server.closed, client.closed]);
    for (const { abort } of this.#calls.values()) abort.abort();
    return ofServer.error ?? ofClient.error;
  }

  #fromClient(value: unknown): void | Promise<void> {
    const message = readRpc(value);
    if (message === undefined)
      return this.#reply(rpcError(null, invalidRequest, "not a message: batches are not taken"));
    const { method, id } = message;
    if (method === "tools/call") {
      if (!isRpcId(id)) return this.#reply(rpcError(null, invalidRequest, "tools/call without an id"));
      return this.#open(id, message);
    }
    if (method === "tools/list" && isRpcId(id)) {
      if (this.#lists.size >= this.#limits.maxRequests) {
        return this.#reply(rpcError(id, overloaded, "too many requests are open"));
      }
      this.#lists.add(idKey(id));
    }
    if (method === "notifications/cancelled") {
      const key = idKey(objectOf(message.params).requestId);
      const open = this.#calls.get(key);
      open?.abort.abort();
      // The server does not know of a call that is still judged.
      if (open && open.action === undefined) return;
    }
    return this.#forward(message);
  }

  /** Judged beside the messages that follow, among which may be its cancellation. */
  #open(id: string | number, message: RpcMessage): void | Promise<void> {
    const call = readToolCall(id, message);
    if (typeof call === "string") return this.#reply(rpcError(id, invalidParams, call));
    const key = idKey(id);
    if (this.#calls.has(key)) return this.#reply(rpcError(id, invalidRequest, "the id is in use"));
    if (this.#calls.size >= this.#limits.maxCalls) {
      return this.#reply(refusedCall(call, `${this.#limits.maxCalls} calls are open already`));
    }
    const open: OpenCall = { call, abort: new AbortController(), startedMs: this.#clock.now() };
    this.#calls.set(key, open);
    void inTrace(call.meta, () => this.#judge(open)).catch(async (error: unknown) => {
      this.#calls.delete(key);
      const reason = HarnessError.isInstance(error) ? error.message : "the guard failed";
      this.#note(`a call was refused: ${reason}`);
      await this.#reply(refusedCall(call, reason));
    });
  }

  async #judge(open: OpenCall): Promise<void> {
    const { call, abort } = open;
    const tool = await this.#tools.find(call.name, call.meta);
    const refusal = ToolList.refusalOf(tool);
    const action = actionOf(this.#options.name, call, randomUUID(), tool?.annotations ?? {});
    if (refusal !== undefined) return this.#refuse(open, refusal);
    if (this.#isContinued(call)) return this.#send(open, action, call.arguments);
    const stopProgress = this.#progress(open);
    const { progressToken } = call.meta;
    const { holdMs, quietHoldMs } = this.#limits;
    const ruling = await this.#options.judge
      .decide(action, {
        holdMs: progressToken === undefined ? Math.min(holdMs, quietHoldMs) : holdMs,
        signal: abort.signal,
      })
      .finally(stopProgress);
    if (abort.signal.aborted) {
      this.#calls.delete(idKey(call.id));
      const error = "the client cancelled the call before it was made";
      this.#options.judge.report(action, { outcome: "cancelled", error }, this.#clock.now() - open.startedMs);
      return;
    }
    if (ruling.ruling === "refuse") return this.#refuse(open, ruling.reason);
    return this.#send(open, action, ruling.isModified ? ruling.arguments : call.arguments);
  }

  #refuse({ call }: OpenCall, reason: string): Promise<void> {
    this.#calls.delete(idKey(call.id));
    return this.#reply(refusedCall(call, reason));
  }

  async #send(open: OpenCall, action: ProxiedAction, args: JsonObject): Promise<void> {
    open.action = action;
    open.args = args;
    try {
      await this.#options.server.send(forwardedCall(open.call, args));
    } catch (error) {
      const text = HarnessError.isInstance(error) ? error.message : "the call could not be sent";
      if (this.#settle(open, { outcome: "unknown", error: text })) {
        await this.#reply(rpcError(open.call.id, internalError, text));
      }
    }
  }

  /** Tells a client that asked for progress that its call waits. Returns what ends that. */
  #progress({ call, abort }: OpenCall): () => void {
    const { progressToken } = call.meta;
    if (progressToken === undefined) return () => {};
    let cancel = () => {};
    let count = 0;
    const after = (delayMs: number): void => {
      cancel = this.#clock.after(delayMs, () => {
        if (abort.signal.aborted) return;
        // It must grow, and stay below what the server may send later.
        const params = {
          progressToken,
          progress: ++count / 1_000_000,
          message: "waiting for a decision: an approval may be pending in the hub's inbox",
        };
        void this.#reply({ jsonrpc: "2.0", method: "notifications/progress", params });
        after(this.#limits.progressEveryMs);
      });
    };
    after(this.#limits.progressAfterMs);
    return () => cancel();
  }

  async #fromServer(value: unknown): Promise<void> {
    // An array is the batch of an older revision.
    for (const one of Array.isArray(value) ? value : [value]) {
      const message = readRpc(one);
      if (message === undefined) {
        this.#fault("server", new InvalidMessageError("not_json", "not a message of JSON-RPC"));
      } else if (typeof message.method === "string") {
        if (message.method === "notifications/tools/list_changed") this.#tools.forget();
        await this.#reply(message);
      } else await this.#answered(message);
    }
  }

  async #answered(message: RpcMessage): Promise<void> {
    if (this.#tools.takeAnswer(message)) return;
    const key = idKey(message.id);
    if (this.#lists.delete(key) && message.result !== undefined) {
      // Reading the file must not hold back the answers to our own lists.
      void this.#offer(message);
      return;
    }
    const open = this.#calls.get(key);
    if (open === undefined) return this.#reply(message);
    if (open.action === undefined) {
      this.#note("the server answered a call that it was not sent");
      return;
    }
    this.#noteQuestion(open, objectOf(message.result));
    this.#settle(open, this.#outcomeOf(message));
    return this.#reply(message);
  }

  async #offer(message: RpcMessage): Promise<void> {
    try {
      await this.#reply({ ...message, result: await this.#tools.filter(objectOf(message.result)) });
    } catch (error) {
      const text = HarnessError.isInstance(error) ? error.message : "the accepted tools cannot be read";
      this.#note(text);
      await this.#reply(rpcError(message.id ?? null, internalError, text));
    }
  }

  #outcomeOf({ error, result }: RpcMessage) {
    if (error !== undefined) {
      const { message } = objectOf(error);
      return {
        outcome: "error" as const,
        error: typeof message === "string" ? message.slice(0, 2000) : "error",
      };
    }
    const shown = this.#bounded(result ?? null);
    return objectOf(result).isError === true
      ? { outcome: "error" as const, error: "the tool reports an error", result: shown }
      : { outcome: "success" as const, result: shown };
  }

  #bounded(result: JsonValue): JsonValue {
    const { maxReportBytes } = this.#limits;
    const text = JSON.stringify(result);
    return text.length <= maxReportBytes ? result : { cut: true, beginning: text.slice(0, maxReportBytes) };
  }

  /** Reports the outcome. False if that was done before. */
  #settle(open: OpenCall, outcome: Parameters<ActionJudge["report"]>[1]): boolean {
    const { action, args, call } = open;
    if (!this.#calls.delete(idKey(call.id)) || action === undefined) return false;
    const done =
      args === call.arguments || args === undefined
        ? action
        : { ...action, details: { ...action.details, modified_arguments: args } };
    this.#options.judge.report(done, outcome, this.#clock.now() - open.startedMs);
    return true;
  }

  #continuation({ name, arguments: args }: ToolCall, state: JsonValue | undefined): string {
    return canonicalJson([name, args, state ?? null]);
  }

  /** The server asks back (`input_required`): the same call comes again with the answer, and was decided already. */
  #noteQuestion({ call }: OpenCall, result: JsonObject): void {
    if (result.resultType !== "input_required") return;
    callSafely(() => this.#continued.add(this.#continuation(call, result.requestState)));
  }

  #isContinued(call: ToolCall): boolean {
    const { requestState, inputResponses } = call.params;
    if (inputResponses === undefined) return false;
    return this.#continued.delete(this.#continuation(call, requestState));
  }

  async #serverEnded(): Promise<void> {
    const error = "the MCP server has ended";
    for (const open of [...this.#calls.values()]) {
      open.abort.abort();
      if (this.#settle(open, { outcome: "unknown", error })) {
        void this.#reply(rpcError(open.call.id, internalError, error));
      }
    }
    await this.#options.client.close();
  }

  async #forward(message: RpcMessage): Promise<void> {
    try {
      await this.#options.server.send(message);
    } catch (error) {
      const { id, method } = message;
      const text = HarnessError.isInstance(error) ? error.message : "the message could not be sent";
      if (method !== undefined && isRpcId(id)) {
        this.#lists.delete(idKey(id));
        await this.#reply(rpcError(id, internalError, text));
      } else if (!(error instanceof ConnectionClosedError)) this.#note(text);
    }
  }

  /** Sends to the client; one that is gone needs nothing any more. */
  async #reply(message: RpcMessage): Promise<void> {
    try {
      await this.#options.client.send(message);
    } catch (error) {
      if (error instanceof ConnectionClosedError) return;
      const text = HarnessError.isInstance(error) ? error.message : "it could not be sent";
      this.#note(`a message to the client was dropped: ${text}`);
      if (message.method === undefined && isRpcId(message.id) && message.error === undefined) {
        await this.#reply(rpcError(message.id, internalError, text));
      }
    }
  }

  #fault(side: "client" | "server", error: HarnessError): void {
    this.#invalid++;
    if (this.#invalid <= 5) this.#note(`the ${side} sent what is not a message: ${error.message}`);
    if (this.#invalid === this.#limits.maxInvalidMessages) void this.#options[side].close(error);
  }

  #note(line: string): void {
    callSafely(() => this.#options.onNote?.(line));
  }
}
