import type { NodeContext } from "@harnesskit/graph";
import type { ToolCall, ToolMessage } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { FoundCall } from "./arrange-history.ts";
import { type Tell, teller } from "./chat-events.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate } from "./chat-state.ts";
import { type CallFailure, failureText } from "./failure-text.ts";

type Context = NodeContext<ChatGraphFields>;

/** The id of a call's signal. Nobody guesses it who does not know the invocation's. */
export const signalIdOf = (
  { invocationId }: Pick<Context, "invocationId">,
  { model_calls: step }: Pick<ChatState, "model_calls">,
  { place }: FoundCall,
): string => `${invocationId}.${step}.${place}`;

const interrupted: CallFailure = {
  status: "failed",
  code: "tool_interrupted",
  message:
    "The process that ran this call ended before it. Whether it has done anything is not known. It is not run again.",
};

/**
 * The results of calls that a node gives. Where the session has the calls already, it is told before one is run, and gets its
 * result at once: should the turn fail or its process die, what was done is known, and nothing is done twice.
 */
export class CallResults {
  readonly #messages: ToolMessage[] = [];
  readonly #begun: string[] = [];
  readonly #tell: Tell;
  readonly #context: Context;
  readonly #state: ChatState;
  readonly #isKept: boolean;

  constructor(chat: ChatSettings, state: ChatState, context: Context, isKept = state.is_kept) {
    this.#tell = teller(chat.onEvent, context, state.model_calls);
    this.#context = context;
    this.#state = state;
    this.#isKept = isKept;
  }

  /** What the node gives back of them. */
  get update(): ChatUpdate {
    return { messages: [...this.#messages], begun_calls: [...this.#begun] };
  }

  /** Says of a call that a process which has died had begun it. False for any other. */
  async addInterrupted(found: FoundCall): Promise<boolean> {
    if (!this.#state.begun_calls.includes(signalIdOf(this.#context, this.#state, found))) return false;
    await this.add(found.call, interrupted);
    return true;
  }

  /** Runs a call and adds its result. */
  async run(found: FoundCall, input: JsonObject, work: () => Promise<string>): Promise<void> {
    const { call } = found;
    if (this.#isKept) {
      this.#begun.push(signalIdOf(this.#context, this.#state, found));
      await this.#context.saveSession(this.update);
    }
    this.#tell({ type: "tool_started", call, input });
    await this.add(call, await work());
  }

  /** Adds the result of a call. */
  async add(call: ToolCall, result: string | CallFailure): Promise<void> {
    const content = typeof result === "string" ? result : failureText(result);
    this.#messages.push({ role: "tool", content, tool_call_id: call.id });
    if (this.#isKept) await this.#context.saveSession(this.update);
    this.#tell({ type: "result", call, content });
  }
}
