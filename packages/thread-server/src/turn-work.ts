import type { Item, Thread } from "@harnesskit/protocol/threads";
import type { TracedOperation } from "@harnesskit/wire/trace";
import type { ActiveTurn } from "./active-turn.ts";
import { ApprovalFlow } from "./approval-flow.ts";
import type { Approvals } from "./approvals.ts";
import type { Connections } from "./connections.ts";
import type { GatedStepOptions } from "./gated-step.ts";
import { KeptText } from "./kept-text.ts";
import type { PendingWork } from "./pending-questions.ts";
import { PromptAdmission } from "./prompt-admission.ts";
import type { ServerSettings } from "./server-settings.ts";
import type { ThreadState } from "./thread-state.ts";
import { ToolCalls } from "./tool-calls.ts";
import type { ObservedTurn } from "./turn-observer.ts";
import type { MessageWriter, TurnRequest } from "./turn-runner.ts";

export interface TurnWorkOptions {
  readonly turn: ActiveTurn;
  readonly request: TurnRequest;
  readonly thread: Thread;
  readonly state: ThreadState;
  readonly approvals: Approvals;
  readonly connections: Connections;
  readonly settings: ServerSettings;
  /** The turn, as a tracer observes it. It ends with {@link TurnWork.run}. */
  readonly operation?: TracedOperation<"turn"> | undefined;
}

/** What a turn does: records what the user said, then runs the agent with what it may have of it. */
export class TurnWork {
  readonly #options: TurnWorkOptions;
  readonly #gated: GatedStepOptions;
  readonly #calls: ToolCalls;
  readonly #observed: ObservedTurn;

  constructor(options: TurnWorkOptions) {
    const { turn, request, thread, settings } = options;
    const { agent } = request;
    this.#options = options;
    this.#gated = { turn, thread, settings, flow: new ApprovalFlow(options) };
    const tools = async () => {
      const all = await settings.tools({ signal: turn.signal });
      return all.filter(({ name }) => !agent.tools || agent.tools.includes(name));
    };
    this.#calls = new ToolCalls({ ...this.#gated, tools });
    const { threadId, directory } = thread;
    const { turnId, isResumed } = turn;
    this.#observed = { threadId, turnId, directory, agent: agent.name, isResumed };
  }

  /** The work of a new turn. */
  async begin(): Promise<void> {
    await this.#runAgent(await this.#prompt.admit());
  }

  /** Makes the questions of an earlier server answerable at once. Returns the work that goes on from their answers. */
  resume({ calls, prompt }: PendingWork): () => Promise<void> {
    const { turn, request } = this.#options;
    const answered = Promise.all(calls.map(({ question, call }) => this.#calls.resume(call, question)));
    const admitted = prompt && this.#prompt.resume(prompt.message, prompt.question);
    answered.catch(() => {});
    admitted?.catch(() => {});
    return async () => {
      await answered;
      const final = (await admitted) ?? request;
      turn.signal.throwIfAborted();
      await this.#runAgent(final);
    };
  }

  /** Runs the turn with its work to its end. Never rejects. */
  async run(work: () => Promise<void>): Promise<void> {
    const { turn, settings, operation } = this.#options;
    settings.observe("turnStarted", this.#observed);
    const ending = await turn.run(work);
    const { usage } = turn;
    operation?.set({ status: "waiting", ...ending, ...usage });
    operation?.end(ending?.status === "error" ? ending : undefined);
    if (!ending) return;
    settings.observe("turnEnded", this.#observed, { ...ending, usage });
  }

  get #prompt(): PromptAdmission {
    return new PromptAdmission(this.#gated, this.#options.request);
  }

  /** Runs the agent with its view of the turn. */
  async #runAgent(request: TurnRequest): Promise<void> {
    const { turn, thread, state, settings } = this.#options;
    const tools = await this.#calls.tools();
    turn.signal.throwIfAborted();
    settings.observe("agentStarted", this.#observed);
    const { history } = state;
    if (turn.isResumed) this.#calls.recall(history);
    const prompt = new PromptAdmission(this.#gated, request);
    const asked = history.findLast(({ type, turnId }) => type === "user_message" && turnId === turn.turnId);
    return settings.runner.run({
      ...request,
      thread,
      turn: turn.turn,
      isResumed: turn.isResumed,
      signal: turn.signal,
      tools,
      history: history.filter(isGiven),
      message: (options = {}) => this.#writeMessage(options),
      judgeRequest: (further) => prompt.judgeRequest(asked?.itemId ?? turn.turnId, further),
      callTool: (call) => this.#calls.call(call),
      artifact: async (artifact) => {
        await turn.artifact(artifact);
      },
      addUsage: (usage) => turn.addUsage(usage),
    });
  }

  #writeMessage(options: { reasoning?: true | undefined; step?: number | undefined }): MessageWriter {
    const { turn, settings } = this.#options;
    const itemId = turn.newId("item");
    const kept = new KeptText({
      turn,
      settings,
      maxLength: settings.limits.maxMessageLength,
      name: `${itemId}-message.txt`,
      artifact: { kind: "message", mimeType: "text/plain" },
    });
    // A turn that has ended refuses this too; the writer learns of it from `complete`.
    turn.start("assistant_message", itemId, { text: "", ...options }).catch(() => {});
    return {
      append(text) {
        const delta = kept.add(text);
        if (delta !== "") turn.delta("assistant_message", itemId, delta);
      },
      complete: async (providerMetadata) => {
        const cut = await kept.end();
        const { text } = kept;
        const data = { text, ...options, ...cut, providerMetadata };
        await turn.complete("assistant_message", itemId, data);
        const { reasoning, ...step } = options;
        if (!reasoning) settings.observe("responded", this.#observed, { text, ...step });
      },
    };
  }
}

/** A prompt that was not allowed stays in the log, and out of the history of later turns. */
const isGiven = (item: Item): boolean => item.type !== "user_message" || !item.data?.withheld;
