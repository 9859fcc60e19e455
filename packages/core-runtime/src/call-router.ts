import { randomUUID } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { displayText, InvalidArgumentError, isThenable } from "@harnesskit/wire";
import { isObject, isPlainObject, jsonProblem, maxJsonDepth } from "@harnesskit/wire/json";
import type { AgentSessions } from "./agent-sessions.ts";
import { Call, endedCall, type ToolCall } from "./call.ts";
import { auditRefusedCall } from "./call-audit.ts";
import { type CallOptions, checkCallOptions } from "./call-options.ts";
import { type CallResult, coreResult, misfit } from "./call-result.ts";
import { checkValue, type RegisteredTool } from "./judge-tool.ts";
import type { Session } from "./session.ts";

const { AgentUnavailable, Canceled, CoreClosed, Forbidden, InputTooLarge, InvalidInput } = RuntimeErrorCode;
const { ToolChanged, ToolNotFound } = RuntimeErrorCode;

const retryable = { retryable: true };
const unavailable = (message: string): CallResult => coreResult(AgentUnavailable, message, retryable);

/** What is known of a call that asks whether it may be made. */
type AskingCall = Pick<Call, "tool" | "options" | "causationId" | "callId" | "input">;

/** Takes calls: finds the tool, checks the input, asks for the permission, uses the directive, and hands the call to the agent's session. */
export class CallRouter {
  readonly #core: AgentSessions;
  readonly #wasLaunched: (agentId: string) => boolean;

  constructor(core: AgentSessions, wasLaunched: (agentId: string) => boolean) {
    this.#core = core;
    this.#wasLaunched = wasLaunched;
  }

  call(toolId: string, input: unknown, options: CallOptions = {}): ToolCall {
    if (typeof toolId !== "string") throw new InvalidArgumentError("toolId must be a string");
    const found = this.#accept(toolId, input, options);
    if ("status" in found) {
      const call = endedCall(found);
      auditRefusedCall(this.#core.context, toolId, call.callId, options, found);
      return call;
    }
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
    const found = this.#accept(toolId, input, options);
    if ("status" in found) return found;
    const callId = randomUUID();
    const asking = { tool: found.tool, options, callId, causationId: callId, input: input as JsonObject };
    return refusedBy(await settledVerdict(this.#ask(found.session, asking)));
  }

  /** The tool and its agent's session; or how the call ends, which is not made. Throws `invalid_argument`. */
  #accept(
    toolId: string,
    input: unknown,
    options: CallOptions,
  ): { session: Session; tool: RegisteredTool } | CallResult {
    const { limits } = this.#core.context;
    checkCallOptions(options, limits);
    const found = this.#find(toolId);
    if ("status" in found) return found;
    const { session, tool } = found;
    const { declarationDigest: meant, signal } = options;
    if (meant !== undefined && meant !== tool.info.declaration_digest) {
      return coreResult(ToolChanged, "the tool is declared otherwise now");
    }
    if (signal?.aborted) return coreResult(Canceled, "the call was cancelled before it began");
    const { maxInputBytes } = session.calls;
    const notJson = jsonProblem(input, { maxBytes: maxInputBytes });
    if (notJson?.code === "too_large") {
      return coreResult(InputTooLarge, `the input exceeds ${maxInputBytes} bytes`);
    }
    if (notJson?.code === "too_deep") {
      return coreResult(InvalidInput, `the input nests deeper than ${maxJsonDepth} levels`);
    }
    if (notJson || !isObject(input)) return coreResult(InvalidInput, "the input must be a JSON object");
    const problem = checkValue(tool.input, input, limits);
    return problem ? misfit(InvalidInput, "input", problem) : found;
  }

  #find(toolId: string): { session: Session; tool: RegisteredTool } | CallResult {
    if (this.#core.isClosing) return coreResult(CoreClosed, "the core takes no more calls");
    const agentId = toolId.slice(0, Math.max(0, toolId.indexOf("/")));
    const session = this.#core.session(agentId);
    if (session?.isDraining) return unavailable("the agent is being stopped");
    const isConnected = session?.routable === true;
    const tool = isConnected ? session.tools.get(toolId) : undefined;
    if (session && tool) return { session, tool };
    if (isConnected && session.tools.isAwaited) {
      return unavailable("the agent has not registered its tools yet");
    }
    if (!isConnected && (session || this.#core.admissions.hasAgent(agentId) || this.#wasLaunched(agentId))) {
      return unavailable("the agent is not connected");
    }
    return coreResult(ToolNotFound, `there is no tool ${displayText(toolId, { maxLength: 300 })}`);
  }

  /** Whether the call is permitted: by the embedder, or by the grants. Without a verdict it is refused. */
  #ask({ admitted }: Session, { tool, options, causationId, callId, input }: AskingCall): unknown {
    const { permissions: grants, options: core } = this.#core.context;
    const permissions = admitted.launch.manifest?.permissions ?? noPermissions;
    if (!core.authorize) return grants.decide(tool.info, permissions, options);
    const { caller, actor, directiveId, correlationId } = options;
    const request = { tool: tool.info, permissions, caller, actor, directiveId, correlationId };
    try {
      return core.authorize({ ...request, causationId, callId, input });
    } catch {
      return undefined;
    }
  }

  async #admitLater(session: Session, call: Call, verdict: PromiseLike<unknown>): Promise<void> {
    this.#admit(session, call, refusedBy(await settledVerdict(verdict)) ?? goneOrChanged(session, call));
  }

  #admit({ calls }: Session, call: Call, notPermitted: CallResult | undefined): void {
    if (call.settled) return;
    const { directives, keys } = this.#core.context;
    // The directive is used when the call is sent. A call that gets the result of another one uses none.
    const refused = notPermitted ?? directives.refuse(call);
    if (refused) {
      calls.finish(call, refused);
      return;
    }
    const known = keys.claim(call);
    if (known === undefined) calls.submit(call);
    else if (known instanceof Call) calls.join(call, known);
    else calls.finish(call, known);
  }
}

const noPermissions: readonly string[] = Object.freeze([]);

/** What a promise gives; undefined where it rejects. */
const settledVerdict = async (value: unknown): Promise<unknown> => {
  try {
    return await value;
  } catch {
    return undefined;
  }
};

const refusedBy = (verdict: unknown): CallResult | undefined => {
  const { allowed, reason, details } = isObject(verdict) ? verdict : {};
  if (allowed === true) return undefined;
  const isReason = allowed === false && typeof reason === "string";
  return coreResult(Forbidden, isReason ? reason.slice(0, 1024) : "the authorization failed", {
    details: isPlainObject(details) ? (details as JsonObject) : undefined,
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
