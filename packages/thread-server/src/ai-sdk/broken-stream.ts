import { type Clock, Deadlines } from "@harnesskit/wire/time";
import { type StepResult, streamText, type TextStreamPart, type ToolSet } from "ai";
import { TurnError } from "../errors.ts";
import type { TurnContext } from "../turn-runner.ts";
import { toModelFailure } from "./model-failure.ts";

/** The model's stream broke off after it had begun, or fell silent: the request may be made once more. */
export class BrokenStream extends TurnError {
  constructor(code: "model_stream_broken" | "model_silent", what: string, options?: { cause: unknown }) {
    super(code, `The model ${what}.`, options);
  }
}

/** What a failed stream is: broken where the model had begun to speak, otherwise what its provider says. */
export const toStreamFailure = (error: unknown, hasBegun: boolean): TurnError => {
  const failure = toModelFailure(error);
  if (TurnError.isInstance(error) || !hasBegun || failure.code !== "model_unavailable") return failure;
  const said = failure.message.replace(/[.\s]+$/, "");
  return new BrokenStream("model_stream_broken", `broke off its answer: ${said}`, { cause: error });
};

interface IdleOptions {
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
}

/**
 * Has a model answer, and calls `onPart` with each part of its stream; gives what the SDK says of the whole. Throws `BrokenStream` for
 * a stream that is silent, what the model failed with, and the signal's reason when the turn is stopped.
 */
export const streamModel = async (
  { signal }: Pick<TurnContext, "signal">,
  request: Parameters<typeof streamText>[0],
  options: IdleOptions,
  onPart: (part: TextStreamPart<ToolSet>) => void,
): Promise<StepResult<ToolSet>> => {
  const idle = new AbortController();
  let finished: StepResult<ToolSet> | undefined;
  try {
    const stream = streamText({
      ...request,
      abortSignal: AbortSignal.any([signal, idle.signal]),
      onError: () => {},
      // Each promise of the stream would read it once more.
      onStepFinish: (step) => {
        finished = step;
      },
    });
    for await (const part of watchIdle(stream.fullStream, options)) {
      if (part === undefined) {
        const silent = `sent nothing for ${options.idleTimeoutMs / 1000} s`;
        idle.abort(new BrokenStream("model_silent", silent));
        break;
      }
      if (part.type === "error") throw part.error;
      onPart(part);
    }
    idle.signal.throwIfAborted();
    signal.throwIfAborted();
    return finished ?? ((await stream.steps).at(-1) as StepResult<ToolSet>);
  } catch (error) {
    signal.throwIfAborted();
    throw idle.signal.aborted ? idle.signal.reason : error;
  }
};

/** The parts of a stream; undefined, and the end, when there is none for too long. Time that the machine slept counts as in `Deadlines`. */
async function* watchIdle<Part>(
  parts: AsyncIterable<Part>,
  { idleTimeoutMs, clock }: IdleOptions,
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
  try {
    for (let part = await next(); !part.done; part = await next()) {
      waits = undefined;
      yield part.value;
    }
  } finally {
    deadlines.stop();
    // A provider that does not listen to its signal is not waited for.
    void iterator.return?.().catch(() => {});
  }
}
