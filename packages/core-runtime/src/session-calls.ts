import {
  type AgentManifest,
  type AgentToolResult,
  type AgentToolStream,
  type RuntimeError,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import type { Call, CallOwner } from "./call.ts";
import { auditCallEnd, auditCallStart } from "./call-audit.ts";
import { callMessage, cancelMessage } from "./call-messages.ts";
import { CallQueue, hasRoom } from "./call-queue.ts";
import { type CallResult, failure, toCallResult } from "./call-result.ts";
import type { CoreContext } from "./core-context.ts";
import type { MessageFactory, OutgoingMessage } from "./message-factory.ts";
import type { RegisteredTool } from "./registered-tool.ts";
import { type StrayKind, StrayResults } from "./stray-results.ts";
import { takeChunk } from "./take-chunk.ts";
import { ToolSlotTable } from "./tool-slot-table.ts";
import { UuidCounter } from "./uuid-counter.ts";

/** What the calls need of their session. */
export interface CallCarrier {
  readonly agentId: string;
  readonly sessionId: string;
  readonly messages: MessageFactory;
  /** Sends; `refused` is called when this message cannot be sent and the session goes on. */
  send(message: OutgoingMessage, refused?: () => void): void;
  findTool(toolId: string): RegisteredTool | undefined;
}

/** The calls of one session: at most so many run, the others wait; each is settled exactly once. */
export class SessionCalls implements CallOwner {
  readonly #context: CoreContext;
  readonly #carrier: CallCarrier;
  readonly #maxInflight: number;
  readonly #authorizing = new Set<Call>();
  readonly #joined = new Set<Call>();
  readonly #queue = new CallQueue();
  /** Sent, and not answered yet; lingering ones included. */
  readonly #inflight = new Map<string, Call>();
  readonly #stray: StrayResults;
  readonly slots: ToolSlotTable;
  readonly maxInputBytes: number;
  readonly maxOutputBytes: number;
  readonly #callIds = new UuidCounter();
  #whenIdle: (() => void) | undefined;

  constructor(context: CoreContext, carrier: CallCarrier, manifest: AgentManifest | undefined) {
    const { limits } = context;
    const asked = manifest?.limits;
    this.#context = context;
    this.#carrier = carrier;
    this.#maxInflight = Math.min(asked?.max_inflight_requests ?? Infinity, limits.maxInflightRequests);
    this.slots = new ToolSlotTable(asked?.max_inflight_per_tool);
    this.maxInputBytes = Math.min(asked?.max_tool_input_bytes ?? Infinity, limits.maxToolInputBytes);
    this.maxOutputBytes = Math.min(asked?.max_tool_output_bytes ?? Infinity, limits.maxToolOutputBytes);
    this.#stray = new StrayResults(context.stats, this.#callIds, context.callIds);
    context.callIds.add(this.#callIds);
  }

  get inflight(): number {
    return this.#inflight.size;
  }

  get waiting(): number {
    return this.#queue.size + this.#authorizing.size;
  }

  nextCallId(): string {
    return this.#callIds.next();
  }

  /** Calls back once, when no call waits or runs any more. */
  whenIdle(callback: () => void): void {
    this.#whenIdle = callback;
    this.#checkIdle();
  }

  /** The call waits for its authorization. Its time runs from here. */
  hold(call: Call): void {
    if (this.#full()) this.#refuseBusy(call);
    else {
      this.#authorizing.add(call);
      this.#startTime(call);
    }
  }

  /** The call gets what another one with its key gets. */
  join(call: Call, other: Call): void {
    if (call.settled) return;
    this.#authorizing.delete(call);
    call.state = "joined";
    call.joinedTo = other;
    other.joiners ??= new Set();
    other.joiners.add(call);
    this.#joined.add(call);
    this.#context.stats.callsJoined++;
    if (call.position < 0) this.#startTime(call);
  }

  /** The call may go: at once if there is room, otherwise it waits for it. */
  submit(call: Call): void {
    if (call.settled) return;
    this.#authorizing.delete(call);
    if (this.#inflight.size < this.#maxInflight && hasRoom(call) && !this.#queue.waits(call.toolId)) {
      if (call.position < 0) this.#startTime(call);
      this.#send(call);
    } else if (this.#full()) this.#refuseBusy(call);
    else {
      // Whoever made the call may change the object before it is sent.
      call.input = structuredClone(call.input);
      call.state = "queued";
      this.#queue.add(call);
      if (call.position < 0) this.#startTime(call);
    }
  }

  /** Ends a call that is not with the agent. */
  finish(call: Call, result: CallResult, fromAgent = false): void {
    this.#authorizing.delete(call);
    this.#joined.delete(call);
    this.#queue.remove(call);
    this.#context.deadlines.clear(call);
    call.state = "ended";
    this.#settle(call, result, fromAgent);
    this.#checkIdle();
  }

  cancel(call: Call, reason: string | undefined): void {
    const canceled = failure(RuntimeErrorCode.Canceled, "the call was cancelled by its caller");
    switch (call.state) {
      case "authorizing":
      case "queued":
        this.#leaveOrFinish(call, canceled);
        return;
      case "joined":
        this.#leave(call, canceled);
        return;
      case "running":
        if (call.joiners && call.joiners.size > 0) this.#settleOne(call, canceled);
        else this.#sendCancel(call, reason);
        return;
      default:
    }
  }

  expired(call: Call): void {
    switch (call.state) {
      case "authorizing":
      case "queued":
      case "joined":
        this.#timeOutUnsent(call);
        return;
      case "running":
        this.#timeOutRunning(call);
        return;
      case "canceling":
        this.#stray.remember(call.callId);
        this.#release(call);
        this.#settle(
          call,
          failure(RuntimeErrorCode.Canceled, "the agent did not answer the cancellation"),
          false,
        );
        this.#pump();
        return;
      default:
        this.#stray.remember(call.callId);
        this.#release(call);
        this.#pump();
    }
  }

  /** Takes a result. Returns what it is when no call of this session waits for it. */
  takeResult({ payload, error }: AgentToolResult): StrayKind | undefined {
    const call = this.#inflight.get(payload.call_id);
    if (!call) {
      return this.#stray.count(payload.call_id);
    }
    const lingering = call.state === "lingering";
    this.#release(call);
    if (lingering) {
      this.#context.stats.lateResults++;
      this.#pump();
      return "late";
    }
    this.#settle(call, this.#toResult(payload, error, call), true);
    this.#pump();
    return undefined;
  }

  /** A result for this call came, and is none. */
  takeInvalidResult(callId: string): void {
    const call = this.#inflight.get(callId);
    if (!call) return;
    this.#release(call);
    this.#settle(call, failure(RuntimeErrorCode.InvalidMessage, "the agent's result is malformed"), false);
    this.#pump();
  }

  /** The agent could not take the message of a call. */
  takeError(inReplyTo: string, error: RuntimeError): void {
    for (const call of this.#inflight.values()) {
      if (call.messageId !== inReplyTo || call.state === "lingering") continue;
      this.#release(call);
      const payload = { call_id: call.callId, status: "failed" as const, error };
      this.#settle(call, this.#toResult(payload, undefined, call), true);
      this.#pump();
      return;
    }
  }

  /** Takes a chunk. Returns false when no running call of this session streams it. */
  takeStream({ payload }: AgentToolStream): boolean {
    return takeChunk(this.#inflight.get(payload.call_id), payload, this.#context);
  }

  /** What has not been sent ends now; what runs goes on. */
  endWaiting(result: CallResult): void {
    for (const call of [...this.#authorizing, ...this.#queue.drain()]) this.finish(call, result);
  }

  /** The session is over. What runs is lost, what waits was never sent. */
  endAll(lost: (call: Call) => CallResult, unsent: CallResult): void {
    this.#context.callIds.delete(this.#callIds);
    this.endWaiting(unsent);
    for (const call of [...this.#inflight.values()]) {
      this.#release(call);
      this.#settle(call, lost(call), false);
    }
    for (const call of [...this.#joined]) this.finish(call, unsent);
    this.#checkIdle();
  }

  #toResult(payload: AgentToolResult["payload"], error: RuntimeError | undefined, call: Call): CallResult {
    return toCallResult(payload, error, call.tool, this.#context, this.maxOutputBytes);
  }

  #full(): boolean {
    return this.waiting >= this.#context.limits.maxQueuedCalls;
  }

  #refuseBusy(call: Call): void {
    this.finish(
      call,
      failure(RuntimeErrorCode.Busy, "too many calls wait for this agent", { retryable: true }),
    );
  }

  #startTime(call: Call): void {
    this.#context.deadlines.set(call, call.startedAt + call.timeoutMs);
  }

  #send(call: Call): void {
    const { tool } = call;
    call.state = "running";
    this.#inflight.set(call.callId, call);
    if (tool.slots) tool.slots.running++;
    auditCallStart(this.#context.audit, call, this.#carrier);
    this.#context.stats.callsSent++;
    const message = callMessage(this.#carrier.messages, call, this.#context.clock.now());
    call.messageId = message.id;
    this.#carrier.send(message, () => this.#notSent(call));
  }

  /** The message does not fit into a frame. */
  #notSent(call: Call): void {
    if (this.#inflight.get(call.callId) !== call) return;
    this.#release(call);
    this.#settle(call, failure(RuntimeErrorCode.InputTooLarge, "the call does not fit into a frame"), false);
    this.#pump();
  }

  #sendCancel(call: Call, reason: string | undefined): void {
    const { cancelGraceMs } = this.#context.times;
    const graceEndsAt = this.#context.clock.now() + cancelGraceMs;
    call.state = "canceling";
    this.#context.deadlines.set(call, Math.min(call.dueAt, graceEndsAt));
    this.#tellCancel(call, reason);
  }

  #tellCancel(call: Call, reason: string | undefined): void {
    const { cancelGraceMs } = this.#context.times;
    this.#carrier.send(cancelMessage(this.#carrier.messages, call, reason, cancelGraceMs));
  }

  #timeOutUnsent(call: Call): void {
    const timedOut = failure(RuntimeErrorCode.Timeout, "the call was not sent in time", { retryable: true });
    if (call.state === "joined") this.#leave(call, timedOut);
    else this.finish(call, timedOut);
  }

  #timeOutRunning(call: Call): void {
    const { clock, deadlines, times } = this.#context;
    call.state = "lingering";
    deadlines.set(call, clock.now() + times.cancelGraceMs);
    this.#tellCancel(call, "timeout");
    this.#settle(
      call,
      failure(RuntimeErrorCode.Timeout, `the call did not end within ${call.timeoutMs} ms`, {
        retryable: isSafeToRepeat(call),
      }),
      false,
    );
  }

  /** A call that others have joined goes on without its caller. */
  #leaveOrFinish(call: Call, result: CallResult): void {
    if (call.joiners && call.joiners.size > 0) this.#settleOne(call, result);
    else this.finish(call, result);
  }

  /** A joined call goes; the one that it joined is cancelled when nobody waits for it any more. */
  #leave(call: Call, result: CallResult): void {
    const other = call.joinedTo;
    call.state = "ended";
    this.#joined.delete(call);
    this.#context.deadlines.clear(call);
    this.#settleOne(call, result);
    other?.joiners?.delete(call);
    if (other?.settled && other.joiners?.size === 0) this.cancel(other, undefined);
    this.#checkIdle();
  }

  #settle(call: Call, result: CallResult, fromAgent: boolean): void {
    this.#settleOne(call, result);
    call.onOutcome?.(result, fromAgent);
    call.onOutcome = undefined;
    const { joiners } = call;
    call.joiners = undefined;
    if (joiners) for (const joiner of joiners) this.finish(joiner, result);
  }

  #settleOne(call: Call, result: CallResult): void {
    if (!call.settle(result)) return;
    const { stats } = this.#context;
    if (result.status === "succeeded") stats.callsSucceeded++;
    else if (result.status === "failed") stats.callsFailed++;
    else stats.callsCanceled++;
    auditCallEnd(this.#context.audit, call, this.#carrier, result, this.#context.clock.now());
  }

  /** The agent owes nothing for this call any more. */
  #release(call: Call): void {
    this.#inflight.delete(call.callId);
    this.#context.deadlines.clear(call);
    if (call.tool.slots) call.tool.slots.running--;
    call.state = "ended";
  }

  /** Sends what there is room for now. */
  #pump(): void {
    while (this.#queue.size > 0 && this.#inflight.size < this.#maxInflight) {
      const call = this.#queue.next();
      if (!call) break;
      if (this.#carrier.findTool(call.toolId) === call.tool) this.#send(call);
      else this.finish(call, failure(RuntimeErrorCode.ToolNotFound, "the tool is gone", { retryable: true }));
    }
    this.#checkIdle();
  }

  #checkIdle(): void {
    const callback = this.#whenIdle;
    if (!callback || this.waiting > 0 || this.#inflight.size > 0 || this.#joined.size > 0) return;
    this.#whenIdle = undefined;
    callback();
  }
}

/** Whether making the call again cannot do its work twice. */
export const isSafeToRepeat = (call: Call): boolean =>
  call.tool.info.side_effects === false || call.options.idempotencyKey !== undefined;
