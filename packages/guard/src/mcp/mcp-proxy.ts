import { randomUUID } from "node:crypto";
import { type JsonObject, JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import {
  type Channel,
  type Clock,
  ConnectionClosedError,
  FrameTooLargeError,
  HarnessError,
  InvalidMessageError,
  type JsonLine,
  systemClock,
} from "@harnesskit/wire";
import { inTrace } from "@harnesskit/wire/trace";
import { checkMcpProxyOptions } from "../option-names.ts";
import type { ActionJudge } from "../proxy/action-judge.ts";
import { BesideWork } from "../proxy/beside-work.ts";
import { batchLines, exactLine, readDroppedLine, readExact } from "../proxy/exact-line.ts";
import { type ProxyLimits, proxyLimits } from "../proxy/limits.ts";
import { idKey, isRpcId, objectOf, type RpcId, type RpcMessage, rpcError } from "../proxy/rpc-message.ts";
import { callOutcome, type ProxiedAction } from "../proxy/rulings.ts";
import { McpSides } from "./mcp-sides.ts";
import { type OpenCall, OpenCalls } from "./open-calls.ts";
import { calledAction, forwardedCall, readToolCall, refusedCall } from "./tool-call.ts";
import { ToolList } from "./tool-list.ts";
import type { ToolPins } from "./tool-pins.ts";
import { ToolReviews } from "./tool-reviews.ts";
import { WaitingNotice } from "./waiting-notice.ts";

export interface McpProxyOptions {
  /** The client's side, with `keepLines`; not started. It is closed with the proxy. */
  readonly client: Channel;
  /** The server's side, with `keepLines`; not started. It is closed with the proxy. */
  readonly server: Channel;
  readonly judge: ActionJudge;
  readonly pins: ToolPins;
  /** What policies call the server: letters, digits, `.` and `-`. */
  readonly name: string;
  /** @default see each limit of `proxyLimits` */
  readonly limits?: Partial<ProxyLimits> | undefined;
  /** What the user should know, in a line: tools that are not offered, messages that were dropped. @default no report */
  readonly onNote?: ((line: string) => void) | undefined;
  /**
   * Where a human answers approvals, for clients that open addresses (`elicitation.url`). The client's program sees it: no secret may be in it. @default no address
   */
  readonly approvalUrl?: (() => Promise<string | undefined>) | undefined;
  readonly clock?: Clock | undefined;
}

const { InternalError, InvalidParams, InvalidRequest } = JsonRpcErrorCode;
const overloaded = -32000;
const unchangeable = "the harness's change cannot be applied: JavaScript rounds a number of the call";

/**
 * Stands between one MCP client and one server. Each `tools/call` is a `pre_action` of AHP and its result a `post_action`; tools that are not as they
 * were accepted are left out of `tools/list` and are not called; every other message passes byte for byte.
 */
export class McpProxy {
  readonly #options: McpProxyOptions;
  readonly #limits: ProxyLimits;
  readonly #sides: McpSides;
  readonly #tools: ToolList;
  readonly #calls: OpenCalls;
  /** Requests `tools/list` of the client. */
  readonly #lists = new Set<string>();
  readonly #notice: WaitingNotice;
  readonly #work: BesideWork;
  readonly #ending = new AbortController();

  constructor(options: McpProxyOptions) {
    this.#options = options;
    this.#limits = proxyLimits.resolve(options.limits);
    const clock = options.clock ?? systemClock;
    const { client, server, judge, pins, name, approvalUrl, onNote } = options;
    this.#calls = new OpenCalls(judge, clock);
    this.#sides = new McpSides({ client, server, limits: this.#limits, onNote });
    const send = (message: RpcMessage) => this.#sides.reply(message);
    const note = (line: string) => this.#sides.note(line);
    this.#work = new BesideWork(note);
    this.#notice = new WaitingNotice({ limits: this.#limits, clock, send, approvalUrl });
    const reviews = new ToolReviews({
      judge,
      pins,
      name,
      holdMs: this.#limits.holdMs,
      signal: this.#ending.signal,
      onAccepted: () => void send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }),
      onNote: note,
    });
    this.#tools = new ToolList({
      pins: options.pins,
      send: (message) => options.server.send(exactLine(message)),
      onNote: note,
      onWaiting: () => this.#work.add(reviews.ask()),
    });
  }

  /** Begins, and settles when both sides are closed: with the error of the side that failed. Never rejects. */
  async run(): Promise<HarnessError | undefined> {
    const { client, server } = this.#options;
    server.start({
      message: (value) => this.#fromServer(value),
      error: (error) => this.#serverFault(error),
      close: () => void this.#serverEnded(),
    });
    client.start({
      message: (value) => this.#fromClient(value),
      error: (error) => void this.#sides.clientFault(error),
      close: () => void server.close(),
    });
    const [ofServer, ofClient] = await Promise.all([server.closed, client.closed]);
    this.#calls.close();
    this.#ending.abort();
    this.#tools.close();
    await this.#work.settled();
    return ofServer.error ?? ofClient.error;
  }

  #fromClient(value: unknown): void | Promise<void> {
    const read = readExact(value);
    const refuse = (id: RpcId | null, code: number, problem: string) =>
      this.#sides.reply(rpcError(id, code, problem));
    if (read === undefined) return refuse(null, InvalidRequest, "not a message: batches are not taken");
    const { message, line } = read;
    const { method, id } = message;
    if (this.#notice.isOwn(message)) return undefined;
    if (method === "initialize") this.#notice.noteInitialize(message);
    if (method === "tools/call" || method === "tools/list") {
      if (!isRpcId(id)) return this.#sides.refuseId(line, `${method} without an id that JavaScript keeps`);
      if (method === "tools/call") return this.#open(id, line, (value as JsonLine).text);
      if (this.#lists.size >= this.#limits.maxRequests)
        return refuse(id, overloaded, "too many requests are open");
      this.#lists.add(idKey(id));
    }
    if (method === "notifications/cancelled") {
      const open = this.#calls.get(objectOf(message.params).requestId);
      open?.abort.abort();
      // The server does not know of a call that is still judged.
      if (open && open.sent === undefined) return;
      // It need not answer any more.
      if (open)
        this.#calls.settle(open, { outcome: "unknown", error: "the client cancelled the call while it ran" });
    }
    return this.#forward(message, line);
  }

  /** Judged beside the messages that follow, among which may be its cancellation. */
  #open(id: RpcId, line: JsonLine, text: string): void | Promise<void> {
    const call = readToolCall(id, line, text);
    if (typeof call === "string") return this.#sides.reply(rpcError(id, InvalidParams, call));
    if (this.#calls.get(id)) return this.#sides.reply(rpcError(id, InvalidRequest, "the id is in use"));
    if (this.#calls.size >= this.#limits.maxCalls) {
      return this.#sides.reply(refusedCall(call, `${this.#limits.maxCalls} calls are open already`));
    }
    const open = this.#calls.add(call);
    const judged = inTrace(call.meta, () => this.#judge(open)).catch(async (error: unknown) => {
      this.#calls.delete(open);
      const reason = HarnessError.isInstance(error) ? error.message : "the guard failed";
      this.#sides.note(`a call was refused: ${reason}`);
      await this.#sides.reply(refusedCall(call, reason));
    });
    this.#work.add(judged);
  }

  async #judge(open: OpenCall): Promise<void> {
    const { call, abort } = open;
    const tool = await this.#tools.find(call.name, call.meta);
    const { signal } = abort;
    const continued = this.#calls.continuedBy(open);
    const action =
      continued?.action ?? calledAction(this.#options.name, call, randomUUID(), tool?.annotations ?? {});
    const refusal = ToolList.refusalOf(tool);
    if (refusal !== undefined) {
      if (continued) this.#calls.report(continued, { outcome: "refused", error: refusal });
      return this.#answer(open, refusal);
    }
    if (signal.aborted) return this.#cancelled(open, action);
    if (continued?.decided) return this.#send(open, action, continued.decided.changed ?? call.arguments);
    const stopNotice = this.#notice.start(call, signal);
    const holdMs = this.#notice.holdMs(call);
    const ruling = await this.#options.judge.decide(action, { holdMs, signal }).finally(stopNotice);
    if (signal.aborted) return this.#cancelled(open, action);
    const asked = await this.#notice.inputRequired(call, ruling);
    if (asked !== undefined) {
      this.#calls.endLeg(open, objectOf(asked.result), { action });
      return this.#answer(open, asked);
    }
    if (ruling.ruling !== "forward") return this.#answer(open, ruling.reason);
    if (ruling.isModified && !call.isExact) return this.#answer(open, unchangeable);
    return this.#send(open, action, ruling.isModified ? ruling.arguments : call.arguments);
  }

  #cancelled(open: OpenCall, action: ProxiedAction): void {
    this.#calls.delete(open);
    const error = "the client cancelled the call before it was made";
    this.#calls.report({ ...open, action }, { outcome: "cancelled", error });
  }

  /** Ends a call that the server is not sent: with a message, or with the reason. */
  #answer(open: OpenCall, answer: RpcMessage | string): Promise<void> {
    this.#calls.delete(open);
    return this.#sides.reply(typeof answer === "string" ? refusedCall(open.call, answer) : answer);
  }

  async #send(open: OpenCall, action: ProxiedAction, args: JsonObject): Promise<void> {
    open.sent = { action, args };
    try {
      await this.#options.server.send(forwardedCall(open.call, args, this.#notice.isRepeated(open.call)));
    } catch (error) {
      const text = HarnessError.isInstance(error) ? error.message : "the call could not be sent";
      if (this.#calls.settle(open, { outcome: "unknown", error: text })) {
        await this.#sides.reply(rpcError(open.call.id, InternalError, text));
      }
    }
  }

  async #fromServer(value: unknown): Promise<void> {
    // An array is the batch of an older revision.
    for (const one of batchLines(value)) {
      const read = readExact(one);
      if (read === undefined) {
        this.#sides.fault("server", new InvalidMessageError("not_json", "not a message of JSON-RPC"));
      } else if (typeof read.message.method === "string") {
        if (read.message.method === "notifications/tools/list_changed") this.#tools.forget();
        await this.#sides.reply(read.line);
      } else await this.#answered(read.message, read.line);
    }
  }

  /** An answer that was dropped ends its call: one over the limit, one that is not a message. */
  #serverFault(error: HarnessError): void {
    this.#sides.fault("server", error);
    const dropped = readDroppedLine(error);
    if (!dropped?.isAnswer) return;
    const what = FrameTooLargeError.isInstance(error) ? "is too large" : "cannot be read";
    const text = `the answer of the MCP server ${what}: ${error.message}`;
    const open = this.#calls.get(dropped.id);
    // Whether it was done is in the answer.
    if (open && (!open.sent || !this.#calls.settle(open, { outcome: "unknown", error: text }))) return;
    this.#lists.delete(idKey(dropped.id));
    void this.#sides.reply(rpcError(dropped.id, InternalError, text));
  }

  async #answered(message: RpcMessage, line: JsonLine): Promise<void> {
    if (this.#tools.takeAnswer(message)) return;
    if (this.#lists.delete(idKey(message.id)) && message.result !== undefined) {
      // Reading the file must not hold back the answers to our own lists.
      void this.#sides.replyWith(message, this.#tools.filter(line), "the accepted tools cannot be read");
      return;
    }
    const open = this.#calls.get(message.id);
    if (open === undefined) return this.#sides.reply(line);
    const { sent, call } = open;
    if (sent === undefined) return this.#sides.note("the server answered a call that it was not sent");
    const changed = sent.args === call.arguments ? undefined : sent.args;
    const leg = { action: sent.action, decided: { changed } };
    if (!this.#calls.endLeg(open, objectOf(message.result), leg)) {
      this.#calls.settle(open, callOutcome(line, this.#limits.maxReportBytes));
    }
    return this.#sides.reply(line);
  }

  async #serverEnded(): Promise<void> {
    const error = "the MCP server has ended";
    for (const { call } of this.#calls.abort(error)) {
      void this.#sides.reply(rpcError(call.id, InternalError, error));
    }
    await this.#options.client.close();
  }

  async #forward({ id, method }: RpcMessage, line: JsonLine): Promise<void> {
    try {
      await this.#options.server.send(line);
    } catch (error) {
      const text = HarnessError.isInstance(error) ? error.message : "the message could not be sent";
      if (method !== undefined && isRpcId(id)) {
        this.#lists.delete(idKey(id));
        await this.#sides.reply(rpcError(id, InternalError, text));
      } else if (!ConnectionClosedError.isInstance(error)) this.#sides.note(text);
    }
  }
}

/** Creates a proxy; `run()` starts it. Throws `invalid_argument` for a limit out of range. */
export const createMcpProxy = (options: McpProxyOptions): McpProxy =>
  new McpProxy(checkMcpProxyOptions(options));
