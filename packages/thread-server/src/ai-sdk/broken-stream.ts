import { type Clock, Deadlines } from "@harnesskit/wire/time";
import { TurnError } from "../errors.ts";
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

/**
 * The parts of a stream. Calls `onIdle`, and throws nothing of its own, when there is none for as long as that; the stream then ends. Time
 * that the machine slept counts as in `Deadlines`.
 */
export async function* watchIdle<Part>(
  parts: AsyncIterable<Part>,
  { idleTimeoutMs, clock }: { readonly idleTimeoutMs: number; readonly clock: Clock },
  onIdle: (idleMs: number) => void,
): AsyncGenerator<Part> {
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
    new Promise<IteratorResult<Part> | "idle">((resolve, reject) => {
      waits = { dueMs: deadlines.dueAfter(idleTimeoutMs), giveUp: () => resolve("idle") };
      iterator.next().then(resolve, reject);
    });
  try {
    for (;;) {
      const part = await next();
      waits = undefined;
      if (part === "idle") {
        onIdle(idleTimeoutMs);
        return;
      }
      if (part.done) return;
      yield part.value;
    }
  } finally {
    deadlines.stop();
    // A provider that does not listen to its signal is not waited for.
    void iterator.return?.().catch(() => {});
  }
}
