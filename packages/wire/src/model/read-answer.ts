import { HarnessError } from "../errors.ts";
import { isObject } from "../json/json.ts";
import type { Clock } from "../time/clock.ts";
import { Deadlines } from "../time/deadline.ts";
import { modelSpan, recordAnswer } from "../trace/model-span.ts";
import { traced } from "../trace/span.ts";
import { ModelFailure, type ModelFailureCode, toModelFailure } from "./model-failure.ts";
import { noAnswerReason, roundedInputReason } from "./no-answer.ts";

/** A part of a stream of the AI SDK. */
interface StreamPart {
  readonly type: string;
  readonly id?: string;
  readonly text?: string;
  readonly delta?: string;
  readonly error?: unknown;
}

/** What the AI SDK says of one request. */
interface ModelStep {
  readonly finishReason: string;
  readonly rawFinishReason?: string | undefined;
  readonly usage: Parameters<typeof recordAnswer>[1]["usage"];
  readonly response: { readonly id?: string; readonly modelId: string };
  readonly content: readonly { readonly type: string }[];
}

/** Begins a request: `streamText` with this signal and this `onStepFinish`. */
export type OpenStream<Part, Step> = (
  signal: AbortSignal,
  onStepFinish: (step: Step) => void,
) => { readonly fullStream: AsyncIterable<Part>; readonly steps: PromiseLike<readonly Step[]> };

export interface ReadStreamOptions {
  readonly signal: AbortSignal;
  /** How long the stream may be silent, before its first part too. */
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
}

export interface ReadAnswerOptions extends ReadStreamOptions {
  /** For the trace. */
  readonly model: Parameters<typeof modelSpan>[0];
  readonly messages: readonly unknown[];
  readonly conversationId?: string | undefined;
  /** An answer that was cut because of its length is an answer. */
  readonly takesCut: boolean;
  /** An answer that is a file alone is an answer. */
  readonly takesFiles: boolean;
}

/** What one request to a model brought. */
export interface ModelAnswer<Step> {
  readonly step: Step;
  /** Why the arguments of a call cannot be used, as a sentence; undefined where they can. */
  readonly inputProblem: (call: {
    readonly toolCallId: string;
    readonly input?: unknown;
  }) => string | undefined;
}

/** The parts of a stream that the model itself has said. */
const contentParts: ReadonlySet<string> = new Set([
  "text-start",
  "text-delta",
  "reasoning-start",
  "reasoning-delta",
  "tool-input-start",
  "tool-input-delta",
  "tool-call",
]);

export const notAnObject =
  "The arguments are not a JSON object, so the call was not made: write the object alone, without Markdown or words around it.";

/**
 * Reads the stream of one request, with each part for `onPart`; gives what the AI SDK says of the whole. Rejects with a `ModelFailure`, `silent` for a
 * stream that is silent, with what `onPart` throws, and with the signal's reason when cancelled. Then the request is aborted; a provider that does
 * not listen to that is not waited for.
 */
export const readStream = async <Part extends StreamPart, Step>(
  open: OpenStream<Part, Step>,
  onPart: (part: Part) => void,
  { signal, idleTimeoutMs, clock }: ReadStreamOptions,
): Promise<Step> => {
  const stop = new AbortController();
  let finished: Step | undefined;
  try {
    signal.throwIfAborted();
    const stream = open(AbortSignal.any([signal, stop.signal]), (step) => {
      finished = step;
    });
    for await (const part of watchIdle(stream.fullStream, idleTimeoutMs, { clock, signal })) {
      signal.throwIfAborted();
      if (part === undefined)
        throw new ModelFailure("silent", `the model sent nothing for ${idleTimeoutMs / 1000} s`);
      onPart(part);
    }
    signal.throwIfAborted();
    // Each promise of the stream would read it once more.
    return finished ?? ((await stream.steps).at(-1) as Step);
  } catch (error) {
    signal.throwIfAborted();
    const failure = HarnessError.isInstance(error) ? error : toModelFailure(error);
    stop.abort(failure);
    throw failure;
  }
};

/** Failures of a provider, in the middle of an answer, that another attempt may not meet: it fell away, or what came cannot be read. */
const breaks: ReadonlySet<ModelFailureCode> = new Set(["unavailable", "timed_out", "no_answer"]);

/** What has no cause was not thrown by the provider. */
const isBreak = ({ code, cause }: ModelFailure): boolean => breaks.has(code) && cause !== undefined;

/**
 * Asks a model once, in a span of its own. Rejects with what `signal` was aborted with, as {@link toModelFailure} says of the provider's failures,
 * with `stream_broken` where the provider failed after the answer had begun, and for what is not an answer.
 */
export const readAnswer = <Part extends StreamPart, Step extends ModelStep>(
  open: OpenStream<Part, Step>,
  onPart: (part: Part) => void,
  options: ReadAnswerOptions,
): Promise<ModelAnswer<Step>> =>
  traced(
    () => modelSpan(options.model, options.messages, options.conversationId),
    async (span) => {
      /** The arguments of each call as the model wrote them. */
      const inputs = new Map<string, string>();
      let [hasBegun, hasText, dropsCalls] = [false, false, false];
      let calls = 0;
      const take = (part: Part) => {
        const { type, id = "", text = "", delta = "", error } = part;
        hasBegun ||= contentParts.has(type);
        hasText ||= type === "text-delta" ? text.trim() !== "" : type === "file" && options.takesFiles;
        if (type === "tool-input-delta") inputs.set(id, `${inputs.get(id) ?? ""}${delta}`);
        if (type === "tool-call") calls++;
        if (type === "error") {
          // Where a model is asked for no calls, those that come nevertheless are dropped.
          if (!isObject(error) || error.name !== "AI_ToolChoiceViolationError") throw toModelFailure(error);
          dropsCalls = true;
        }
        onPart(part);
      };
      const step = await readStream(open, take, options).catch((error: unknown) => {
        if (!hasBegun || !ModelFailure.isInstance(error) || !isBreak(error)) throw error;
        const message = `the model broke off its answer: ${error.message}`;
        throw new ModelFailure("stream_broken", message, { cause: error.cause });
      });
      const { finishReason: reason, rawFinishReason, usage, response, content } = step;
      recordAnswer(span, { response, finishReason: reason, usage, output: content });
      if (reason === "length" && !options.takesCut)
        throw new ModelFailure("output_limit", "the model reached its output limit");
      if (reason === "content-filter")
        throw new ModelFailure("filtered", "the model's provider withheld the answer");
      const end = dropsCalls ? { reason: "stop" } : { reason, rawReason: rawFinishReason };
      const missing = noAnswerReason({ ...end, calls, hasText });
      if (missing !== undefined) throw new ModelFailure("no_answer", missing);
      const inputProblem: ModelAnswer<Step>["inputProblem"] = ({ toolCallId, input }) =>
        isObject(input) ? roundedInputReason(inputs.get(toolCallId) ?? JSON.stringify(input)) : notAnObject;
      return { step, inputProblem };
    },
  );

/** Asks, and once more where the stream broke off after the answer had begun, or was silent: what had come is left out, after `onBroken`. */
export const askTwice = async <Result>(
  ask: () => Promise<Result>,
  onBroken: (failure: ModelFailure) => unknown,
): Promise<Result> => {
  try {
    return await ask();
  } catch (error) {
    const isBroken = ModelFailure.isInstance(error) && ["stream_broken", "silent"].includes(error.code);
    if (!isBroken) throw error;
    await onBroken(error);
    return ask();
  }
};

/**
 * The parts of a stream; undefined, and the end, when there is none for too long, and when the signal aborts. Time that the machine slept counts as
 * in `Deadlines`.
 */
async function* watchIdle<Part>(
  parts: AsyncIterable<Part>,
  idleTimeoutMs: number,
  { clock, signal }: Pick<ReadStreamOptions, "clock" | "signal">,
): AsyncGenerator<Part | undefined> {
  const iterator = parts[Symbol.asyncIterator]();
  /** The part that is waited for. */
  let waits: { readonly dueMs: number; readonly giveUp: () => void } | undefined;
  const deadlines = new Deadlines<NonNullable<typeof waits>>({
    clock,
    entries: () => (waits ? [waits] : []),
    expired({ giveUp }) {
      waits = undefined;
      giveUp();
    },
  });
  const next = () =>
    new Promise<IteratorResult<Part | undefined>>((resolve, reject) => {
      const giveUp = () => resolve({ value: undefined });
      waits = { dueMs: deadlines.dueAfter(idleTimeoutMs), giveUp };
      iterator.next().then(resolve, reject);
    });
  const stop = () => waits?.giveUp();
  signal.addEventListener("abort", stop);
  try {
    for (let part = await next(); !part.done; part = await next()) {
      waits = undefined;
      yield part.value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    deadlines.stop();
    void iterator.return?.().catch(() => {});
  }
}
