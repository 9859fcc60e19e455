import { GraphError, type NodeContext } from "@harnesskit/graph";
import type { ToolCall, ToolMessage } from "@harnesskit/protocol/chat";
import { type FoundCall, findCall } from "./arrange-history.ts";
import { type Tell, teller } from "./chat-events.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate } from "./chat-state.ts";
import { type CallFailure, failureText } from "./failure-text.ts";
import { type CallPlan, type NodeScope, planCall } from "./plan-call.ts";

const interrupted: CallFailure = {
  status: "failed",
  code: "tool_interrupted",
  message:
    "The process that ran this call ended before it. Whether it has done anything is not known. It is not run again.",
};

/**
 * The results of a node's calls. If the session has the calls already, the beginning and the result of each are saved at once, so
 * that no call runs twice after a failure or a crash.
 */
export class CallResults {
  readonly #messages: ToolMessage[] = [];
  readonly #begun: string[] = [];
  readonly #tell: Tell;
  readonly #scope: NodeScope;
  readonly #isKept: boolean;

  constructor(scope: NodeScope, isKept = scope.state.is_kept) {
    this.#tell = teller(scope.chat.onEvent, scope.context, scope.state.model_calls);
    this.#scope = scope;
    this.#isKept = isKept;
  }

  /** The update of the node. */
  get update(): ChatUpdate {
    return { messages: [...this.#messages], begun_calls: [...this.#begun] };
  }

  /** The id of a call's signal. It cannot be guessed without the id of the invocation. */
  signalIdOf({ place }: FoundCall): string {
    return `${this.#scope.context.invocationId}.${this.#scope.state.model_calls}.${place}`;
  }

  /** Adds a failure for a call that a process had begun when it died; returns false for any other call. */
  async addInterrupted(found: FoundCall): Promise<boolean> {
    if (!this.#scope.state.begun_calls.includes(this.signalIdOf(found))) return false;
    await this.add(found.call, interrupted);
    return true;
  }

  /** Runs a call and adds its result, or adds its failure. */
  async settle(found: FoundCall, plan: Extract<CallPlan, { kind: "run" | "fail" }>): Promise<void> {
    const { call } = found;
    if (plan.kind === "fail") return this.add(call, plan.failure);
    if (this.#isKept) {
      this.#begun.push(this.signalIdOf(found));
      await this.#scope.context.saveSession(this.update);
    }
    this.#tell({ type: "tool_started", call, input: plan.input });
    await this.add(call, await this.#runOnce(found, plan));
  }

  /** The result of a call; where a process had begun it and died, that it was interrupted. */
  async #runOnce(found: FoundCall, plan: Extract<CallPlan, { kind: "run" }>): Promise<string | CallFailure> {
    const { context, state } = this.#scope;
    try {
      // A name that outlives the invocation, which has another id after a crash.
      return await context.effect(`call ${state.model_calls}.${found.place}`, plan.run);
    } catch (error) {
      if (GraphError.isInstance(error) && error.code === "node_ambiguous") return interrupted;
      throw error;
    }
  }

  /** Adds the result of a call. */
  async add(call: ToolCall, result: string | CallFailure): Promise<void> {
    const content = typeof result === "string" ? result : failureText(result);
    this.#messages.push({ role: "tool", content, tool_call_id: call.id });
    if (this.#isKept) await this.#scope.context.saveSession(this.update);
    this.#tell({ type: "result", call, content });
  }
}

const invalidInput = (problem: string): CallPlan => ({
  kind: "fail",
  failure: { status: "not_run", code: "invalid_input", message: `The input cannot be used: ${problem}` },
});

/**
 * Runs the calls that are open, one after the other as the model asked for them, up to the first that needs an
 * approval. Those behind it wait as well.
 */
export const toolsNode =
  (chat: ChatSettings) =>
  async (state: ChatState, context: NodeContext<ChatGraphFields>): Promise<ChatUpdate> => {
    const scope = { chat, state, context };
    const results = new CallResults(scope);
    for (const [index, { id, problem }] of state.queue.entries()) {
      context.signal.throwIfAborted();
      const found = findCall(state.messages, id);
      if (found === undefined || found.hasResult) continue;
      if (await results.addInterrupted(found)) continue;
      const isUsable = problem === null || (await chat.tools(context.signal))[found.call.name] === undefined;
      const plan = isUsable ? await planCall(found.call, scope) : invalidInput(problem);
      if (plan.kind === "ask") {
        const waiting = { id, signal_id: results.signalIdOf(found), request: plan.request };
        return { ...results.update, queue: state.queue.slice(index + 1), waiting };
      }
      if (plan.kind !== "ask_again") await results.settle(found, plan);
    }
    return { ...results.update, queue: [] };
  };
