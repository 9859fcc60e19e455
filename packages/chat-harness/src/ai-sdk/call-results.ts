import { GraphError } from "@harnesskit/graph";
import type { ToolCall, ToolMessage } from "@harnesskit/protocol/chat";
import type { FoundCall } from "./arrange-history.ts";
import { type Tell, teller } from "./chat-events.ts";
import type { ChatUpdate } from "./chat-state.ts";
import { type CallFailure, failureText } from "./failure-text.ts";
import type { CallPlan, NodeScope } from "./plan-call.ts";

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

  constructor(scope: NodeScope) {
    this.#tell = teller(scope.chat.onEvent, scope.context, scope.state.model_calls);
    this.#scope = scope;
  }

  /** The update of the node. */
  get update(): ChatUpdate {
    return { messages: [...this.#messages], begun_calls: [...this.#begun] };
  }

  /** The id of a call's signal. It cannot be guessed without the id of the invocation. */
  signalIdOf({ place }: FoundCall): string {
    return `${this.#scope.context.invocationId}.${this.#scope.state.model_calls}.${place}`;
  }

  /** The failure of a call that a process had begun when it died; undefined for any other call. */
  interruptedOf(found: FoundCall): CallFailure | undefined {
    return this.#scope.state.begun_calls.includes(this.signalIdOf(found)) ? interrupted : undefined;
  }

  /** Runs a call, and gives its result or its failure; where a process had begun it and died, and it is not repeatable, that it was interrupted. */
  async run(found: FoundCall, plan: Extract<CallPlan, { kind: "run" }>): Promise<string | CallFailure> {
    const { context, state } = this.#scope;
    const { isRepeatable } = plan;
    if (state.is_kept && !isRepeatable) {
      this.#begun.push(this.signalIdOf(found));
      await context.saveSession(this.update);
    }
    this.#tell({ type: "tool_started", call: found.call, input: plan.input });
    try {
      // A name that outlives the invocation, which has another id after a crash.
      const name = `call ${state.model_calls}.${found.place}`;
      return await context.effect(name, plan.run, { idempotent: isRepeatable });
    } catch (error) {
      if (GraphError.isInstance(error) && error.code === "node_ambiguous") return interrupted;
      throw error;
    }
  }

  /** Adds the result of a call. */
  async add(call: ToolCall, result: string | CallFailure): Promise<void> {
    const content = typeof result === "string" ? result : failureText(result);
    this.#messages.push({ role: "tool", content, tool_call_id: call.id });
    if (this.#scope.state.is_kept) await this.#scope.context.saveSession(this.update);
    this.#tell({ type: "result", call, content });
  }
}
