import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type AgentManifest,
  type AgentToolResult,
  type AgentToolStream,
  type RuntimeError,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { BoundedSet } from "@harnesskit/wire";
import { Deadlines } from "@harnesskit/wire/time";
import { Call, type CallState } from "./call.ts";
import { CallAudit } from "./call-audit.ts";
import type { CallOptions } from "./call-options.ts";
import { type CallResult, coreResult, toCallResult } from "./call-result.ts";
import type { CoreContext } from "./core-context.ts";
import { callMessage, cancelMessage } from "./core-message.ts";
import type { RegisteredTool } from "./judge-tool.ts";
import type { Session } from "./session.ts";
import { ToolSlots } from "./tool-slots.ts";

const retryable = { retryable: true };

const isWaiting = (state: CallState): boolean => state === "authorizing" || state === "queued";

/** The agent has it, and owes a result. */
const isInflight = (state: CallState): boolean =>
  state === "running" || state === "canceling" || state === "lingering";

/** The calls of one session: at most so many run, the others wait in the order in which they came; each is settled exactly once. */
export class SessionCalls {
  readonly maxInputBytes: number;
  readonly maxOutputBytes: number;
  inflight = 0;
  waiting = 0;
  readonly #context: CoreContext;
  readonly #session: Session;
  readonly #maxInflight: number;
  readonly #slots: ToolSlots;
  readonly #audit: CallAudit;
  /** Every call that has not ended, lingering ones included. */
  readonly #open = new Map<string, Call>();
  /** Calls that may be sent when there is a slot. */
  readonly #queued = new Set<Call>();
  /** Calls that the agent may still answer, although they have ended. */
  readonly #givenUp = new BoundedSet<string>({ maxSize: 1024 });
  readonly #deadlines: Deadlines<Call>;
  #isClosed = false;
  #isPumping = false;
  readonly #idleWaiters: (() => void)[] = [];

  constructor(context: CoreContext, session: Session, { limits = {} }: Partial<AgentManifest> = {}) {
    this.#context = context;
    this.#session = session;
    this.#slots = new ToolSlots(limits.max_inflight_per_tool);
    this.#audit = new CallAudit(context, session, () => this.#open.values());
    this.#deadlines = new Deadlines({
      clock: context.clock,
      entries: () => this.#open.values(),
      expired: (call) => this.#expired(call),
    });
    const { maxInFlightRequests, maxToolInputBytes, maxToolOutputBytes } = context.limits;
    this.#maxInflight = Math.min(limits.max_inflight_requests ?? Infinity, maxInFlightRequests);
    this.maxInputBytes = Math.min(limits.max_tool_input_bytes ?? Infinity, maxToolInputBytes);
    this.maxOutputBytes = Math.min(limits.max_tool_output_bytes ?? Infinity, maxToolOutputBytes);
  }

  /** Settles when no call waits or runs. */
  whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#open.size === 0) resolve();
      else this.#idleWaiters.push(resolve);
    });
  }

  /** A new call, whose time runs. */
  open(tool: RegisteredTool, input: JsonObject, options: CallOptions): Call {
    const call = new Call(tool, input, options, this, this.#context);
    this.#open.set(call.callId, call);
    call.dueMs = this.#deadlines.dueAfter(call.timeoutMs);
    return call;
  }

  /** The call waits for its authorization, or for its directive. */
  hold(call: Call): void {
    if (call.settled || call.state === "authorizing") return;
    if (this.#hasRoom()) {
      // What is authorized is what is sent, also where the caller changes its object meanwhile.
      call.input = structuredClone(call.input);
      this.#enter(call, "authorizing");
    } else this.#refuseBusy(call);
  }

  /** The call gets the result of another one with its key. */
  join(call: Call, leader: Call): void {
    if (call.settled) return;
    this.#enter(call, "joined");
    call.leader = leader;
    leader.joined++;
    leader.onOutcome((result) => this.finish(call, result));
  }

  /** The call may be sent: at once if there is a free slot, otherwise when there is one. */
  submit(call: Call): void {
    if (call.state === "ended") return;
    this.#enter(call, "opened");
    if (this.#hasSlot(call)) this.#send(call);
    else if (this.#hasRoom()) {
      this.#enter(call, "queued");
      this.#queued.add(call);
    } else this.#refuseBusy(call);
  }

  /** Ends the call and those that joined it, and sends what there is a free slot for now. */
  finish(call: Call, result: CallResult, fromAgent = false): void {
    if (call.state === "ended") return;
    this.#enter(call, "ended");
    this.#open.delete(call.callId);
    if (call.messageId === undefined) call.onUnsent?.();
    this.#settle(call, result, fromAgent);
    this.#pump();
  }

  cancel(call: Call, reason: string | undefined): void {
    const { state } = call;
    const canceled = coreResult(RuntimeErrorCode.Canceled, "the call was cancelled by its caller");
    if (state === "joined") this.#leave(call, canceled);
    else if (call.joined > 0) this.#settleOne(call, canceled);
    else if (state === "running") {
      this.#enter(call, "canceling");
      call.dueMs = Math.min(call.dueMs, this.#deadlines.dueAfter(this.#context.times.cancelGraceMs));
      this.#sendCancel(call, reason);
    } else if (!isInflight(state)) this.finish(call, canceled);
  }

  /** Takes a result. Returns what it is when no call of this session waits for it. */
  takeResult({ payload, error }: AgentToolResult): "late" | "unknown" | undefined {
    const call = this.#inflightCall(payload.call_id);
    const isLate = call ? call.state === "lingering" : this.#givenUp.delete(payload.call_id);
    if (call) this.#answered(call, payload, error);
    if (isLate) return "late";
    return call ? undefined : "unknown";
  }

  /** An invalid result for this call came. */
  takeInvalidResult(callId: string): void {
    const call = this.#inflightCall(callId);
    const { InvalidMessage } = RuntimeErrorCode;
    if (call) this.finish(call, coreResult(InvalidMessage, "the agent's result is malformed"));
  }

  /** The agent could not take the message of a call. */
  takeError(inReplyTo: string, error: RuntimeError): void {
    for (const call of this.#open.values()) {
      const isOpen = call.state === "running" || call.state === "canceling";
      if (!isOpen || call.messageId !== inReplyTo) continue;
      this.#answered(call, { call_id: call.callId, status: "failed", error });
      return;
    }
  }

  /** Takes a chunk. Returns false when no running call of this session streams it. */
  takeStream({ payload }: AgentToolStream): boolean {
    const call = this.#inflightCall(payload.call_id);
    return call !== undefined && !call.settled && call.stream.take(payload);
  }

  /** What has not been sent ends now; what runs goes on. */
  endWaiting(result: CallResult): void {
    for (const call of [...this.#open.values()]) if (isWaiting(call.state)) this.finish(call, result);
  }

  /** The session is over. What runs is lost, what waits was never sent. A joined call ends with the one that it joined. */
  endAll(lost: (call: Call) => CallResult, unsent: CallResult): void {
    this.#isClosed = true;
    this.#deadlines.stop();
    this.#audit.stop();
    for (const call of [...this.#open.values()].filter(({ state }) => state !== "joined")) {
      this.finish(call, isInflight(call.state) ? lost(call) : unsent);
    }
    for (const call of [...this.#open.values()]) this.#leave(call, unsent);
  }

  /** The channel refused the call's message. */
  unsendable(call: Call): void {
    this.finish(call, coreResult(RuntimeErrorCode.InputTooLarge, "the call does not fit into a frame"));
  }

  /** The call's time is over, or that which the agent had to answer a cancellation. */
  #expired(call: Call): void {
    const { Canceled, Timeout } = RuntimeErrorCode;
    const { state } = call;
    if (state === "running") {
      this.#enter(call, "lingering");
      call.dueMs = this.#deadlines.dueAfter(this.#context.times.cancelGraceMs);
      this.#sendCancel(call, "timeout");
      const message = `the call did not end within ${call.timeoutMs} ms`;
      this.#settle(call, coreResult(Timeout, message, { retryable: call.isRepeatable }), false);
    } else if (isInflight(state)) {
      this.#givenUp.add(call.callId);
      this.finish(call, coreResult(Canceled, "the agent did not answer the cancellation"));
    } else {
      const timedOut = coreResult(Timeout, "the call was not sent in time", retryable);
      if (state === "joined") this.#leave(call, timedOut);
      else this.finish(call, timedOut);
    }
  }

  #enter(call: Call, state: CallState): void {
    const { state: before } = call;
    const inflight = Number(isInflight(state)) - Number(isInflight(before));
    this.waiting += Number(isWaiting(state)) - Number(isWaiting(before));
    this.inflight += inflight;
    if (inflight !== 0) this.#slots.change(call, inflight);
    if (before === "queued") this.#queued.delete(call);
    call.state = state;
  }

  #inflightCall(callId: string): Call | undefined {
    const call = this.#open.get(callId);
    return call && isInflight(call.state) ? call : undefined;
  }

  #answered(call: Call, payload: AgentToolResult["payload"], error?: RuntimeError): void {
    this.finish(call, toCallResult(payload, error, call.tool, this.#context, this.maxOutputBytes), true);
  }

  #hasRoom(): boolean {
    return this.waiting < this.#context.limits.maxQueuedCalls;
  }

  #hasSlot(call: Call): boolean {
    return this.inflight < this.#maxInflight && this.#slots.isFree(call);
  }

  #refuseBusy(call: Call): void {
    this.finish(call, coreResult(RuntimeErrorCode.Busy, "too many calls wait for this agent", retryable));
  }

  #send(call: Call): void {
    const { audit, clock } = this.#context;
    if (audit.isFull) {
      this.finish(call, coreResult(RuntimeErrorCode.Busy, "the audit log is full", retryable));
      return;
    }
    const message = callMessage(clock, call);
    call.messageId = message.id;
    this.#enter(call, "running");
    this.#audit.started();
    this.#session.send(message, call);
  }

  #sendCancel(call: Call, reason: string | undefined): void {
    const { clock, times } = this.#context;
    this.#session.send(cancelMessage(clock, call, reason, times.cancelGraceMs));
  }

  /** A joined call leaves. The one that it joined is cancelled when no caller waits for that any more. */
  #leave(call: Call, result: CallResult): void {
    const { leader } = call;
    this.finish(call, result);
    if (leader && --leader.joined === 0 && leader.settled) this.cancel(leader, undefined);
  }

  #settle(call: Call, result: CallResult, fromAgent: boolean): void {
    this.#settleOne(call, result);
    call.joined = 0;
    const listeners = call.outcomeListeners ?? [];
    call.outcomeListeners = undefined;
    for (const listener of listeners) listener(result, fromAgent);
  }

  #settleOne(call: Call, result: CallResult): void {
    if (call.settle(result)) this.#audit.ended(call, result);
  }

  #pump(): void {
    // A call of a tool that is gone ends here, and its end asks for the next one.
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (const call of this.#queued) {
      if (this.#isClosed || this.inflight >= this.#maxInflight) break;
      if (!this.#slots.isFree(call)) continue;
      if (this.#session.tools.get(call.toolId) === call.tool) this.#send(call);
      else this.finish(call, coreResult(RuntimeErrorCode.ToolNotFound, "the tool is gone", retryable));
    }
    this.#isPumping = false;
    if (this.#open.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}
