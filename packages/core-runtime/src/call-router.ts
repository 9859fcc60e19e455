import { randomUUID } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { InvalidArgumentError, isThenable } from "@harnesskit/wire";
import type { Authorization, AuthorizationRequest } from "./authorize.ts";
import { Call, endedCall, type ToolCall } from "./call.ts";
import { outcomeOf } from "./call-audit.ts";
import { type CallOptions, checkCallOptions } from "./call-options.ts";
import { type CallResult, failure } from "./call-result.ts";
import type { CoreContext } from "./core-context.ts";
import { exceedsBytes, isObject, measureJson } from "./measure-json.ts";
import type { RegisteredTool } from "./registered-tool.ts";
import type { Session } from "./session.ts";

/** Where the router finds agents. */
export interface AgentDirectory {
  session(agentId: string): Session | undefined;
  /** The agent may connect, or has been here. */
  knows(agentId: string): boolean;
  readonly closing: boolean;
}

/** Who knows more of agents than their sessions say. */
export interface CallGate {
  /** Why an agent gets no call although it could take it. */
  refusal(agentId: string): CallResult | undefined;
  /** The agent is to run here, whether or not it has ever come to serve. */
  expects(agentId: string): boolean;
}

const noOptions: CallOptions = {};

/** Takes calls: finds the tool, checks the input, asks for the permission, and hands the call to the agent's session. */
export class CallRouter {
  readonly #context: CoreContext;
  readonly #agents: AgentDirectory;
  readonly #gate: CallGate | undefined;

  constructor(context: CoreContext, agents: AgentDirectory, gate: CallGate | undefined) {
    this.#context = context;
    this.#agents = agents;
    this.#gate = gate;
  }

  call(toolId: string, input: unknown, options: CallOptions = noOptions): ToolCall {
    if (typeof toolId !== "string") throw new InvalidArgumentError("a tool's id has to be a text");
    if (typeof options !== "object" || options === null) {
      throw new InvalidArgumentError("the options of a call have to be an object");
    }
    if (options !== noOptions) checkCallOptions(options, this.#context.limits);
    const session = this.#route(toolId);
    if (!("tools" in session)) return this.#refused(toolId, options, session);
    const tool = session.tools.get(toolId);
    if (!tool) return this.#refused(toolId, options, noTool(session));
    if (options.signal?.aborted) {
      const aborted = failure(RuntimeErrorCode.Canceled, "the call was cancelled before it began");
      return this.#refused(toolId, options, aborted);
    }
    const problem = this.#checkInput(session, tool, input);
    if (problem) return this.#refused(toolId, options, problem);
    const call = new Call({
      callId: session.calls.nextCallId(),
      tool,
      input: input as JsonObject,
      options,
      startedAt: this.#context.clock.now(),
      timeoutMs: options.timeoutMs ?? this.#context.times.timeoutMs,
      owner: session.calls,
      limits: this.#context.limits,
    });
    if (this.#context.authorize) this.#authorize(session, call);
    else if (tool.info.requires_directive) session.calls.finish(call, directiveRequired());
    else this.#submit(session, call);
    return call;
  }

  #route(toolId: string): Session | CallResult {
    if (this.#agents.closing) return failure(RuntimeErrorCode.CoreClosed, "the core takes no more calls");
    const agentId = toolId.slice(0, Math.max(0, toolId.indexOf("/")));
    const refusal = this.#gate?.refusal(agentId);
    if (refusal) return refusal;
    const session = this.#agents.session(agentId);
    if (session?.routable) return session;
    if (!session && !this.#agents.knows(agentId) && !this.#gate?.expects(agentId)) {
      return failure(RuntimeErrorCode.ToolNotFound, "no tool has this id");
    }
    return failure(RuntimeErrorCode.AgentUnavailable, "the agent is not there now", { retryable: true });
  }

  #checkInput(session: Session, tool: RegisteredTool, input: unknown): CallResult | undefined {
    const measured = isObject(input) ? measureJson(input) : undefined;
    if (!measured) return failure(RuntimeErrorCode.InvalidInput, "the input has to be a JSON object");
    const { maxInputBytes } = session.calls;
    if (exceedsBytes(input, measured.bytes, maxInputBytes)) {
      return failure(RuntimeErrorCode.InputTooLarge, `the input exceeds ${maxInputBytes} bytes`);
    }
    const problem = tool.checkInput(input);
    if (!problem) return undefined;
    return failure(
      RuntimeErrorCode.InvalidInput,
      `the input does not fit the tool's schema: ${problem.message}`,
      {
        details: { path: problem.path, keyword: problem.keyword },
      },
    );
  }

  #authorize(session: Session, call: Call): void {
    const request = this.#requestFor(session, call);
    let verdict: Authorization | PromiseLike<Authorization> | undefined;
    try {
      verdict = this.#context.authorize?.(request);
    } catch {
      // No verdict is a refusal.
    }
    if (!isThenable(verdict)) {
      this.#decided(session, call, verdict);
      return;
    }
    // Whoever made the call may change the object before it is sent.
    call.input = structuredClone(call.input);
    session.calls.hold(call);
    verdict.then(
      (decision) => this.#decided(session, call, decision),
      () => this.#decided(session, call, undefined),
    );
  }

  #requestFor(session: Session, call: Call): AuthorizationRequest {
    const { options } = call;
    return {
      tool: call.tool.info,
      permissions: session.admitted.launch.manifest?.permissions ?? [],
      caller: options.caller,
      actor: options.actor,
      directiveId: options.directiveId,
      correlationId: options.correlationId,
      causationId: call.causationId,
      callId: call.callId,
      input: call.input,
    };
  }

  #decided(session: Session, call: Call, verdict: unknown): void {
    if (call.settled) return;
    const refusal = this.#refusalOf(call, verdict) ?? this.#goneOrChanged(session, call);
    if (refusal) session.calls.finish(call, refusal);
    else this.#submit(session, call);
  }

  #refusalOf(call: Call, verdict: unknown): CallResult | undefined {
    if (!isObject(verdict) || verdict.allowed !== true) {
      const reason = isObject(verdict) && verdict.allowed === false ? verdict.reason : undefined;
      const text = typeof reason === "string" ? reason.slice(0, 1024) : "the authorization failed";
      return failure(RuntimeErrorCode.Forbidden, text);
    }
    const backed = call.causationId !== undefined;
    return call.tool.info.requires_directive && !backed ? directiveRequired() : undefined;
  }

  /** While the decision was made, the tool may have been taken back or declared anew. */
  #goneOrChanged(session: Session, call: Call): CallResult | undefined {
    const tool = session.tools.get(call.toolId);
    if (tool === call.tool) return undefined;
    if (!tool) return failure(RuntimeErrorCode.ToolNotFound, "the tool is gone", { retryable: true });
    if (tool.info.schema_digest === call.tool.info.schema_digest && sameRules(tool, call.tool)) {
      call.tool = tool;
      return undefined;
    }
    return failure(RuntimeErrorCode.ToolNotFound, "the tool was changed meanwhile", { retryable: true });
  }

  #submit(session: Session, call: Call): void {
    const { idempotencyKey } = call.options;
    if (idempotencyKey === undefined) {
      session.calls.submit(call);
      return;
    }
    const known = this.#context.keys.find(idempotencyKey, call.toolId, call.input);
    switch (known.kind) {
      case "conflict":
        session.calls.finish(
          call,
          failure(RuntimeErrorCode.IdempotencyConflict, "the idempotency key was used with another input"),
        );
        return;
      case "done":
        this.#context.stats.callsJoined++;
        session.calls.finish(call, known.result);
        return;
      case "running":
        session.calls.join(call, known.call);
        return;
      default:
        this.#context.keys.begin(idempotencyKey, call);
        session.calls.submit(call);
    }
  }

  /** A call that was not even made. */
  #refused(toolId: string, options: CallOptions, result: CallResult): ToolCall {
    const callId = randomUUID();
    const { audit, stats } = this.#context;
    if (result.status === "canceled") stats.callsCanceled++;
    else stats.callsFailed++;
    if (audit.on && result.status !== "succeeded") {
      audit.record({
        action: "tool.result",
        outcome: outcomeOf(result),
        actor: options.actor ?? options.caller,
        tool_id: toolId.slice(0, 257),
        call_id: callId,
        request_id: options.requestId,
        correlation_id: options.correlationId,
        causation_id: options.causationId ?? options.directiveId,
        details: { code: result.error.code },
      });
    }
    return endedCall(callId, result);
  }
}

const noTool = ({ tools }: Session): CallResult =>
  tools.isAwaited
    ? failure(RuntimeErrorCode.AgentUnavailable, "the agent has not named its tools yet", { retryable: true })
    : failure(RuntimeErrorCode.ToolNotFound, "no tool has this id");

const directiveRequired = (): CallResult =>
  failure(RuntimeErrorCode.DirectiveRequired, "the tool has to be backed by a directive");

const sameRules = ({ info: a }: RegisteredTool, { info: b }: RegisteredTool): boolean =>
  a.side_effects === b.side_effects && a.requires_directive === b.requires_directive;
