import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type AgentManifest,
  type AgentToolResult,
  type AgentToolStream,
  type RuntimeError,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { Deadlines } from "@harnesskit/wire/time";
import { Call, type CallState } from "./call.ts";
import { CallAudit } from "./call-audit.ts";
import type { CallOptions } from "./call-options.ts";
import { type CallResult, coreResult, toCallResult } from "./call-result.ts";
import type { CoreContext } from "./core-context.ts";
import { callMessage, cancelMessage } from "./core-message.ts";
import type { RegisteredTool } from "./judge-tool.ts";
import type { Session } from "./session.ts";

const retryable = { retryable: true };

const isWaiting = (state: CallState): boolean => state === "authorizing" || state === "queued";

/** The agent has it, and owes a result. */
const isInflight = (state: CallState): boolean => state === "running" || state === "canceling";

/** The calls of one session: at most so many run, the others wait in the order in which they came; each is settled exactly once. */
export class SessionCalls {
  readonly maxInputBytes: number;
  readonly maxOutputBytes: number;
  inflight = 0;
  waiting = 0;
  readonly #context: CoreContext;
  readonly #session: Session;
  readonly #maxInflight: number;
  /** How many calls run of each tool that the manifest limits, by its name. */
  readonly #slots: ReadonlyMap<string, { readonly limit: number; taken: number }>;
  readonly #audit: CallAudit;
  /** Every call that has not ended, by its id. */
  readonly #open = new Map<string, Call>();
  /** Calls that may be sent when there is a slot. */
  readonly #queued = new Set<Call>();
  readonly #deadlines: Deadlines<Call>;
  #isClosed = false;
  #isPumping = false;
  readonly #idleWaiters: (() => void)[] = [];

  constructor(context: CoreContext, session: Session, { limits = {} }: Partial<AgentManifest> = {}) {
    this.#context = context;
    this.#session = session;
    const perTool = Object.entries(limits.max_inflight_per_tool ?? {});
    this.#slots = new Map(perTool.map(([name, limit]) => [name, { limit, taken: 0 }]));
    this.#audit = new CallAudit(context, session, this.#open);
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

  /** The call waits for its authorization. */
  hold(call: Call): void {
    if (call.state === "ended") return;
    if (this.#hasRoom()) {
      // What is authorized is what is sent, also where the caller changes its object meanwhile.
      call.input = structuredClone(call.input);
      this.#enter(call, "authorizing");
    } else this.#refuseBusy(call);
  }

  /** The call gets the result of another one with its key. */
  join(call: Call, other: Call): void {
    this.#enter(call, "opened");
    void other.result.then((result) => this.finish(call, result));
  }

  /** The call may be sent: at once if there is a free slot, otherwise when there is one. */
  submit(call: Call): void {
    this.#enter(call, "opened");
    if (this.#hasSlot(call)) this.#send(call);
    else if (this.#hasRoom()) {
      this.#enter(call, "queued");
      this.#queued.add(call);
    } else this.#refuseBusy(call);
  }

  /** Ends the call, and sends what there is a free slot for now. `isAnswered`: the result is the agent's. */
  finish(call: Call, result: CallResult, isAnswered = false): void {
    if (call.state === "ended") return;
    this.#enter(call, "ended");
    this.#open.delete(call.callId);
    this.#settle(call, result, isAnswered);
    this.#pump();
  }

  cancel(call: Call, reason: string | undefined): void {
    if (call.state === "running") this.#abandon(call, reason);
    else if (!isInflight(call.state)) {
      this.finish(call, coreResult(RuntimeErrorCode.Canceled, "the call was cancelled by its caller"));
    }
  }

  /** Takes a result. Returns what it is when no call of this session waits for it. */
  takeResult({ payload, error }: AgentToolResult): "late" | "unknown" | undefined {
    const call = this.#inflightCall(payload.call_id);
    if (!call) return "unknown";
    const isLate = call.settled;
    this.#answered(call, payload, error);
    return isLate ? "late" : undefined;
  }

  /** An invalid result for this call came. */
  takeInvalidResult(callId: string): void {
    const call = this.#inflightCall(callId);
    const { InvalidMessage } = RuntimeErrorCode;
    if (call) this.finish(call, coreResult(InvalidMessage, "the agent's result is malformed"));
  }

  /** The agent could not take the message of a call. */
  takeError(inReplyTo: string, error: RuntimeError): void {
    const call = this.#inflightCall(inReplyTo);
    if (call) this.#answered(call, { call_id: call.callId, status: "failed", error });
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

  /** The session is over. What runs is lost, what waits was never sent. */
  endAll(lost: (call: Call) => CallResult, unsent: CallResult): void {
    this.#isClosed = true;
    this.#deadlines.stop();
    this.#audit.stop();
    for (const call of [...this.#open.values()]) {
      // One that waits for the result of another call ends with that.
      if (call.state !== "opened") this.finish(call, isInflight(call.state) ? lost(call) : unsent);
    }
  }

  /** The channel refused the call's message. */
  unsendable(call: Call): void {
    this.finish(call, coreResult(RuntimeErrorCode.InputTooLarge, "the call does not fit into a frame"));
  }

  /** The call's time is over, or that which the agent had to answer a cancellation. */
  #expired(call: Call): void {
    const { Canceled, Timeout } = RuntimeErrorCode;
    if (call.state === "running") {
      this.#abandon(call, "timeout");
      const message = `the call did not end within ${call.timeoutMs} ms`;
      this.#settle(call, coreResult(Timeout, message, { retryable: call.isRepeatable }), false);
    } else if (call.state === "canceling") {
      this.finish(call, coreResult(Canceled, "the agent did not answer the cancellation"));
    } else this.finish(call, coreResult(Timeout, "the call was not sent in time", retryable));
  }

  /** The agent is asked to stop, and has a while to answer. */
  #abandon(call: Call, reason: string | undefined): void {
    const { clock, times } = this.#context;
    const dueMs = this.#deadlines.dueAfter(times.cancelGraceMs);
    // A caller that cancels waits no longer than it said before.
    call.dueMs = reason === "timeout" ? dueMs : Math.min(call.dueMs, dueMs);
    this.#enter(call, "canceling");
    this.#session.send(cancelMessage(clock, call, reason, times.cancelGraceMs));
  }

  #enter(call: Call, state: CallState): void {
    const { state: before } = call;
    const inflight = Number(isInflight(state)) - Number(isInflight(before));
    this.waiting += Number(isWaiting(state)) - Number(isWaiting(before));
    this.inflight += inflight;
    const slots = this.#slots.get(call.tool.info.name);
    if (slots) slots.taken += inflight;
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
    const slots = this.#slots.get(call.tool.info.name);
    return this.inflight < this.#maxInflight && (slots === undefined || slots.taken < slots.limit);
  }

  #refuseBusy(call: Call): void {
    this.finish(call, coreResult(RuntimeErrorCode.Busy, "too many calls wait for this agent", retryable));
  }

  #send(call: Call): void {
    const { audit, clock, directives } = this.#context;
    const refused = audit?.isFull
      ? coreResult(RuntimeErrorCode.Busy, "the audit log is full", retryable)
      : directives.use(call);
    if (refused) {
      this.finish(call, refused);
      return;
    }
    call.isSent = true;
    this.#enter(call, "running");
    this.#audit.started();
    this.#session.send(callMessage(clock, call), call);
  }

  #settle(call: Call, result: CallResult, isAnswered: boolean): void {
    if (call.settle(result, isAnswered)) this.#audit.ended(call, result);
  }

  #pump(): void {
    // A call of a tool that is gone ends here, and its end asks for the next one.
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (const call of this.#queued) {
      if (this.#isClosed || this.inflight >= this.#maxInflight) break;
      if (!this.#hasSlot(call)) continue;
      if (this.#session.tools.get(call.toolId) === call.tool) this.#send(call);
      else this.finish(call, coreResult(RuntimeErrorCode.ToolNotFound, "the tool is gone", retryable));
    }
    this.#isPumping = false;
    if (this.#open.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}
