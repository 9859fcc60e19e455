import type { JsonObject } from "@harnesskit/protocol/envelope";
import { Command } from "@langchain/langgraph";
import { jsonLines, toToolQuestion } from "../supervise/run-tool.ts";
import type {
  EscalationAnswer,
  SupervisingClient,
  SupervisionOptions,
} from "../supervise/supervision-options.ts";
import { createSupervisor } from "../supervise/supervisor.ts";

/** A question of a node: what it gave to `interrupt`. */
interface GraphInterrupt {
  readonly id?: string;
  readonly value?: unknown;
}

/** What is used of a compiled graph. It needs a checkpointer. */
export interface InterruptedGraph<Input, Output> {
  invoke(input: Input | Command | null, config: GraphConfig): Promise<Output>;
  getState(config: GraphConfig): Promise<{
    readonly tasks: readonly { readonly interrupts: readonly GraphInterrupt[]; readonly result?: unknown }[];
  }>;
}

export interface GraphConfig {
  readonly configurable: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** The request of LangChain's `humanInTheLoopMiddleware`. */
interface ReviewRequest {
  readonly actionRequests: readonly { readonly name: string; readonly args: JsonObject }[];
}

const isReview = (value: unknown): value is ReviewRequest =>
  Array.isArray((value as Partial<ReviewRequest> | null | undefined)?.actionRequests);

/** The questions that an interrupted graph returns. Those of its state may be answered already, where a node ended without a result. */
const returnedInterrupts = (output: unknown): readonly GraphInterrupt[] | undefined => {
  const { __interrupt__: open } = (output ?? {}) as { __interrupt__?: readonly GraphInterrupt[] };
  return Array.isArray(open) ? open : undefined;
};

/**
 * Runs a compiled graph of LangGraph, and answers its interrupts: a person is asked by `onEscalate`, or by the harness (`confirmation`), such as in a
 * hub's inbox. Interrupts of LangChain's `humanInTheLoopMiddleware` are asked action by action. With `null` as input it goes on
 * with what waits in the thread, such as after a restart.
 *
 * Returns what the graph returns once nothing is interrupted any more. Rejects with a `SupervisionError` where there is no answer: then the interrupt
 * still waits in the checkpointer, and the graph has gone on with the answers that were given to other interrupts before (unless `signal`
 * aborted). The actions of one review are one interrupt: all of them are asked again. Throws `invalid_argument` for options that cannot be used.
 *
 * @param options.toResume what `interrupt` returns in the node; by default `{ approved, reason }`
 */
export const answerInterrupts = async <Input, Output>(
  graph: InterruptedGraph<Input, Output>,
  input: Input | null,
  config: GraphConfig,
  client: SupervisingClient,
  options: SupervisionOptions & {
    readonly toResume?: ((answer: EscalationAnswer, value: unknown) => unknown) | undefined;
  } = {},
): Promise<Output> => {
  const { toResume = (answer) => answer, ...supervision } = options;
  const supervisor = createSupervisor(client, supervision);
  const { signal } = config;
  const answerOf = async (value: unknown): Promise<unknown> => {
    if (!isReview(value)) {
      const question = { message: jsonLines(value), reason: "the graph asks", signal };
      return toResume(await supervisor.ask(question), value);
    }
    // Each action of a review, one after the other, in the form that its middleware takes.
    const decisions: unknown[] = [];
    for (const { name, args } of value.actionRequests) {
      const message = toToolQuestion(name, args);
      const question = { message, reason: "the tool needs approval", toolName: name, signal };
      const { approved, reason = "It was refused." } = await supervisor.ask(question);
      decisions.push(approved ? { type: "approve" } : { type: "reject", message: reason });
    }
    return { decisions };
  };
  // A node that has ended still lists what it asked, until all nodes of its step have ended.
  const waiting = async () =>
    (await graph.getState(config)).tasks.flatMap(({ interrupts, result }) =>
      result === undefined ? interrupts : [],
    );

  /** Answers by the id of their question. The graph gets those that were given, also where a later question has none. */
  const answersTo = async (asked: readonly GraphInterrupt[]): Promise<Record<string, unknown>> => {
    const answers: Record<string, unknown> = {};
    try {
      for (const { id = "", value } of asked) answers[id] = await answerOf(value);
    } catch (error) {
      const isOver = Object.keys(answers).length === 0 || signal?.aborted;
      if (!isOver) await graph.invoke(new Command({ resume: answers }), config);
      throw error;
    }
    return answers;
  };

  const step = async (next: Input | Command | null) => {
    const output = await graph.invoke(next, config);
    const inOrder = await waiting();
    const open = returnedInterrupts(output) ?? inOrder;
    const asked = inOrder.filter(({ id }) => open.some((other) => other.id === id));
    return { output, asked: asked.length === open.length ? asked : open };
  };

  const before = input === null ? await waiting() : [];
  let state: { output?: Output; asked: readonly GraphInterrupt[] } =
    before.length > 0 ? { asked: before } : await step(input);
  while (state.asked.length > 0) state = await step(new Command({ resume: await answersTo(state.asked) }));
  return state.output as Output;
};
