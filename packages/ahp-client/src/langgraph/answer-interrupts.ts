import type { JsonObject } from "@harnesskit/protocol/envelope";
import { displayText, InvalidArgumentError } from "@harnesskit/wire";
import { Command } from "@langchain/langgraph";
import type {
  EscalationAnswer,
  SupervisingClient,
  SupervisionOptions,
} from "../supervise/supervision-options.ts";
import { createSupervisor, type Question, type Supervisor } from "../supervise/supervisor.ts";

/** A question of a node: what it gave to `interrupt`. */
export interface GraphInterrupt {
  readonly id?: string;
  readonly value?: unknown;
}

/** What is used of a compiled graph. It needs a checkpointer. */
export interface InterruptedGraph<Input, Output> {
  invoke(input: Input | Command | null, config: GraphConfig): Promise<Output>;
  getState(config: GraphConfig): Promise<{
    readonly tasks: readonly { readonly interrupts: readonly GraphInterrupt[] }[];
  }>;
}

export interface GraphConfig {
  readonly configurable: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

export interface AnswerOptions extends SupervisionOptions {
  /** What a person is asked. @default the interrupt's value as JSON, whole */
  readonly toQuestion?: (value: unknown) => Omit<Question, "signal">;
  /** What `interrupt` returns in the node. @default `{ approved, reason }` */
  readonly toResume?: (answer: EscalationAnswer, value: unknown) => unknown;
  /** How often one call may be interrupted. @default 100 */
  readonly maxInterrupts?: number;
}

/** The request of LangChain's `humanInTheLoopMiddleware`. */
interface ReviewRequest {
  readonly actionRequests: readonly { readonly name: string; readonly args: JsonObject }[];
}

const isReview = (value: unknown): value is ReviewRequest =>
  Array.isArray((value as Partial<ReviewRequest> | null | undefined)?.actionRequests);

/** JSON as lines that hide nothing. */
const shown = (value: unknown): string =>
  displayText(JSON.stringify(value, null, 2) ?? "nothing", {
    multiline: true,
    maxLength: Number.POSITIVE_INFINITY,
  });

const reviewQuestion = (name: string, args: unknown): Omit<Question, "signal"> => ({
  message: `Run the tool ${displayText(JSON.stringify(name))} with these arguments?\n${shown(args)}`,
  reason: "the tool needs approval",
  toolName: name,
});

/** Asks about each action of a review, one after the other, in the form that its middleware takes. */
const answerReview = async (
  { actionRequests }: ReviewRequest,
  supervisor: Supervisor,
  signal: AbortSignal | undefined,
): Promise<unknown> => {
  const decisions: unknown[] = [];
  for (const { name, args } of actionRequests) {
    const { approved, reason } = await supervisor.ask({
      ...reviewQuestion(name, args),
      ...(signal !== undefined && { signal }),
    });
    decisions.push(approved ? { type: "approve" } : { type: "reject", message: reason ?? "It was refused." });
  }
  return { decisions };
};

/**
 * Runs a compiled graph of LangGraph, and answers its interrupts: a person is asked by `onEscalate`, or by the harness (`confirmation`), such as in a
 * hub's inbox. Interrupts of LangChain's `humanInTheLoopMiddleware` are asked action by action. With `null` as input it goes on
 * with what waits in the thread, such as after a restart.
 *
 * Returns what the graph returns once nothing is interrupted any more. Rejects with a `SupervisionError` where there is no answer: then the interrupt
 * still waits in the checkpointer. Throws `invalid_argument` for more than `maxInterrupts`, and for options that cannot be used.
 */
export const answerInterrupts = async <Input, Output>(
  graph: InterruptedGraph<Input, Output>,
  input: Input | null,
  config: GraphConfig,
  client: SupervisingClient,
  options: AnswerOptions = {},
): Promise<Output> => {
  const { toQuestion, toResume = (answer) => answer, maxInterrupts = 100, ...supervision } = options;
  const supervisor = createSupervisor(client, supervision);
  const { signal } = config;
  const answerOf = async (value: unknown): Promise<unknown> => {
    if (toQuestion === undefined && isReview(value)) return answerReview(value, supervisor, signal);
    const question = toQuestion?.(value) ?? { message: shown(value), reason: "the graph asks" };
    return toResume(await supervisor.ask({ ...question, ...(signal !== undefined && { signal }) }), value);
  };
  const waiting = async () => (await graph.getState(config)).tasks.flatMap(({ interrupts }) => interrupts);

  let asked = input === null ? await waiting() : [];
  let output = asked.length === 0 ? await graph.invoke(input, config) : undefined;
  for (let count = 0; ; ) {
    if (output !== undefined) asked = await waiting();
    if (asked.length === 0) return output as Output;
    count += asked.length;
    if (count > maxInterrupts) throw new InvalidArgumentError(`maxInterrupts of ${maxInterrupts} is reached`);
    const resume: Record<string, unknown> = {};
    for (const { id = "", value } of asked) resume[id] = await answerOf(value);
    output = await graph.invoke(new Command({ resume }), config);
  }
};
