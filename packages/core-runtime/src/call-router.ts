import { randomUUID } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { displayText, InvalidArgumentError, isThenable } from "@harnesskit/wire";
import { isObject, isPlainObject, jsonProblem, maxJsonDepth } from "@harnesskit/wire/json";
import { Call, endedCall, type ToolCall } from "./call.ts";
import { auditRefusedCall } from "./call-audit.ts";
import { type CallOptions, checkCallOptions } from "./call-options.ts";
import { type CallResult, coreResult, misfit } from "./call-result.ts";
import type { CoreContext } from "./core-context.ts";
import type { AuthorizationRequest } from "./core-options.ts";
import { unbacked } from "./directives.ts";
import { checkValue, type RegisteredTool } from "./judge-tool.ts";
import type { RuntimeCore } from "./runtime-core.ts";
import type { Session } from "./session.ts";

const { AgentUnavailable, InvalidInput, ToolNotFound } = RuntimeErrorCode;
const retryable = { retryable: true };
const noTool = (toolId: string): CallResult =>
  coreResult(ToolNotFound, `there is no tool ${displayText(toolId, { maxLength: 300 })}`);

/** Takes calls: finds the tool, checks the input, asks for the permission, uses the directive, and hands the call to the agent's session. */
export class CallRouter {
  readonly #context: CoreContext;
  readonly #core: RuntimeCore;

  constructor(context: CoreContext, core: RuntimeCore) {
    this.#context = context;
    this.#core = core;
  }

  call(toolId: string, input: unknown, options: CallOptions = {}): ToolCall {
    if (typeof toolId !== "string") throw new InvalidArgumentError("toolId must be a string");
    checkCallOptions(options, this.#context.limits);
    const found = this.#find(toolId);
    if ("status" in found) return this.#refused(toolId, options, found);
    const refused = refuseChanged(found.tool, options) ?? this.#refuseInput(found, input, options);
    if (refused) return this.#refused(toolId, options, refused);
    const { session, tool } = found;
    const call = session.calls.open(tool, input as JsonObject, options);
    const verdict = this.#ask(session, call);
    if (isThenable(verdict)) {
      session.calls.hold(call);
      void this.#admitLater(session, call, verdict);
    } else this.#admit(session, call, refusedBy(verdict));
    return call;
  }

  async check(toolId: string, input: unknown, options: CallOptions = {}): Promise<CallResult | undefined> {
    checkCallOptions(options, this.#context.limits);
    const found = this.#find(toolId);
    if ("status" in found) return found;
    const { session, tool } = found;
    const refused = refuseChanged(tool, options) ?? this.#refuseInput(found, input, options);
    if (refused) return refused;
    const callId = randomUUID();
    const asked = { tool, options, callId, causationId: callId, input: input as JsonObject };
    return refusedBy(await awaitVerdict(this.#ask(session, asked)));
  }

  #find(toolId: string): { session: Session; tool: RegisteredTool } | CallResult {
    if (this.#core.isClosing) return coreResult(RuntimeErrorCode.CoreClosed, "the core takes no more calls");
    const agentId = toolId.slice(0, Math.max(0, toolId.indexOf("/")));
    const closed = this.#core.refusal(agentId);
    if (closed) return closed;
    const session = this.#core.session(agentId);
    const tool = session?.routable ? session.tools.get(toolId) : undefined;
    if (session && tool) return { session, tool };
    if (session?.routable) {
      return session.tools.isAwaited
        ? coreResult(AgentUnavailable, "the agent has not registered its tools yet", retryable)
        : noTool(toolId);
    }
    return session || this.#core.expects(agentId)
      ? coreResult(AgentUnavailable, "the agent is not connected", retryable)
      : noTool(toolId);
  }

  #refuseInput(
    { session, tool }: { readonly session: Session; readonly tool: RegisteredTool },
    input: unknown,
    { signal }: CallOptions,
  ): CallResult | undefined {
    if (signal?.aborted) {
      return coreResult(RuntimeErrorCode.Canceled, "the call was cancelled before it began");
    }
    const { maxInputBytes } = session.calls;
    const notJson = jsonProblem(input, { maxBytes: maxInputBytes });
    if (notJson?.code === "too_large") {
      return coreResult(RuntimeErrorCode.InputTooLarge, `the input exceeds ${maxInputBytes} bytes`);
    }
    if (notJson?.code === "too_deep") {
      return coreResult(InvalidInput, `the input nests deeper than ${maxJsonDepth} levels`);
    }
    if (notJson || !isObject(input)) return coreResult(InvalidInput, "the input must be a JSON object");
    const problem = checkValue(tool.input, input, this.#context.limits);
    return problem && misfit(InvalidInput, "input", problem);
  }

  /** Whether the call is permitted: by the embedder, or by the grants. Without a verdict it is refused. */
  #ask(session: Session, call: AskingCall): unknown {
    const { authorize, permissions } = this.#context;
    try {
      return authorize
        ? authorize(requestFor(session, call))
        : permissions.decide(call.tool.info, permissionsOf(session), call.options);
    } catch {
      return undefined;
    }
  }

  async #admitLater(session: Session, call: Call, verdict: PromiseLike<unknown>): Promise<void> {
    this.#admit(session, call, refusedBy(await awaitVerdict(verdict)) ?? goneOrChanged(session, call));
  }

  #admit({ calls }: Session, call: Call, notPermitted: CallResult | undefined): void {
    if (call.settled) return;
    const refused = notPermitted ?? this.#refuseDirective(call);
    if (refused) {
      calls.finish(call, refused);
      return;
    }
    const known = this.#context.keys.claim(call);
    if (known === undefined) calls.submit(call);
    else if (known instanceof Call) calls.join(call, known);
    else calls.finish(call, known);
  }

  /** The directive is used when the call is sent. A call that gets the result of another one uses none. */
  #refuseDirective(call: Call): CallResult | undefined {
    if (call.options.directiveId !== undefined) return this.#context.directives.refuse(call);
    return call.tool.info.requires_directive ? unbacked("missing") : undefined;
  }

  /** A call that was not made. */
  #refused(toolId: string, options: CallOptions, result: CallResult): ToolCall {
    const call = endedCall(result);
    auditRefusedCall(this.#context.audit, toolId, call.callId, options, result);
    return call;
  }
}

/** What is known of a call that asks whether it may be made. */
type AskingCall = Pick<Call, "tool" | "options" | "causationId" | "callId" | "input">;

/** What a promise gives; undefined where it rejects. */
const awaitVerdict = async (value: unknown): Promise<unknown> => {
  try {
    return await value;
  } catch {
    return undefined;
  }
};

const noPermissions: readonly string[] = Object.freeze([]);

/** What the agent's manifest declares. */
const permissionsOf = ({ admitted }: Session): readonly string[] =>
  admitted.launch.manifest?.permissions ?? noPermissions;

const requestFor = (session: Session, call: AskingCall): AuthorizationRequest => {
  const { caller, actor, directiveId, correlationId } = call.options;
  return {
    tool: call.tool.info,
    permissions: permissionsOf(session),
    caller,
    actor,
    directiveId,
    correlationId,
    causationId: call.causationId,
    callId: call.callId,
    input: call.input,
  };
};

const refusedBy = (verdict: unknown): CallResult | undefined => {
  if (isObject(verdict) && verdict.allowed === true) return undefined;
  const reason = isObject(verdict) && verdict.allowed === false ? verdict.reason : undefined;
  const message = typeof reason === "string" ? reason.slice(0, 1024) : "the authorization failed";
  const details = isObject(verdict) && isPlainObject(verdict.details) ? verdict.details : undefined;
  return coreResult(RuntimeErrorCode.Forbidden, message, {
    details: details ? (details as JsonObject) : undefined,
  });
};

/** While the decision was made, the tool may have been unregistered or replaced; by an equal one the call goes on. */
const goneOrChanged = (session: Session, call: Call): CallResult | undefined => {
  const tool = session.tools.get(call.toolId);
  if (!tool) return coreResult(ToolNotFound, "the tool is gone", retryable);
  if (tool.info.declaration_digest !== call.tool.info.declaration_digest)
    return coreResult(ToolNotFound, "the tool was changed meanwhile", retryable);
  call.tool = tool;
  return undefined;
};

const refuseChanged = ({ info }: RegisteredTool, { declarationDigest: meant }: CallOptions) =>
  meant === undefined || meant === info.declaration_digest
    ? undefined
    : coreResult(RuntimeErrorCode.ToolChanged, "the tool is declared otherwise now");
