import { wrapLanguageModel } from "ai";
import { Supervision } from "../supervise/supervision.ts";
import type { SupervisingClient, SupervisionOptions } from "../supervise/supervision-options.ts";
import { CallQueue } from "./call-queue.ts";
import { ModelCall } from "./model-call.ts";
import type { Model } from "./model-types.ts";

/**
 * Returns the same model, which is called only when the harness allows it (AHP 2.4): `pre_prompt` before each call of it,
 * with the prompt; `rate_limit` when its provider answers with HTTP 429; `post_response` after it, also when it fails, is
 * aborted, or its stream ends. A call that does not happen rejects with a `SupervisionError`, which the AI SDK does not try
 * again; an abort rejects with the reason of the signal.
 *
 * Where the harness does not decide rate limits, a 429 stays the provider's error, and the AI SDK tries again as far as
 * its `maxRetries` goes; each attempt is judged. Other middleware belongs around this one and not inside of it, since what
 * is judged must be what is sent.
 *
 * Throws `invalid_argument` for options that cannot be used.
 */
export const superviseModel = (
  model: Model,
  client: SupervisingClient,
  options: SupervisionOptions = {},
): Model => {
  const supervision = new Supervision(client, options);
  const queue = new CallQueue(supervision.limits.maxQueued);
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v3",
      wrapGenerate: ({ model: inner, params }) =>
        new ModelCall({ supervision, queue, model: inner, params }).generate(),
      wrapStream: ({ model: inner, params }) =>
        new ModelCall({ supervision, queue, model: inner, params }).stream(),
    },
  });
};
