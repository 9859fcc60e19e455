import { wrapLanguageModel } from "ai";
import { allowModelCall } from "../supervise/model-request.ts";
import { Supervision } from "../supervise/supervision.ts";
import type { SupervisingClient, SupervisionOptions } from "../supervise/supervision-options.ts";
import type { CallOptions, FilePart, Model, Prompt } from "./model-types.ts";
import { toModifiedPrompt } from "./modified-prompt.ts";
import { observeStream } from "./observed-stream.ts";
import { ResponseSummary } from "./response-summary.ts";
import { showPrompt } from "./shown-prompt.ts";

/** Calls the model with what was judged. Gives its answer, and what reports the end. */
const callModel = async <T>(
  supervision: Supervision,
  model: Model,
  { prompt, tools, abortSignal: signal }: CallOptions,
  call: (prompt: Prompt) => PromiseLike<T>,
) => {
  const summary = new ResponseSummary(supervision.limits.maxReportTextBytes);
  let end = (_error: unknown, _isCancelled = signal?.aborted): void => {};
  try {
    let files: FilePart[] = [];
    const request = {
      model: model.modelId,
      provider: model.provider,
      messages: showPrompt(prompt, files),
      tools: tools?.map(({ name }) => name),
      signal,
    };
    const { wanted = prompt, report } = await allowModelCall(supervision, request, (messages) => {
      const value = toModifiedPrompt(messages, files);
      files = [];
      return { value, messages: showPrompt(value, files) };
    });
    end = (error = summary.error, isCancelled = signal?.aborted) => {
      const outcome = isCancelled ? "cancelled" : error === undefined ? "success" : "error";
      report(outcome, summary.toJson(), error);
    };
    return { summary, end, answer: await call(wanted) };
  } catch (error) {
    end(error);
    // The SDK knows an abort by its reason.
    signal?.throwIfAborted();
    throw error;
  }
};

/**
 * Returns the same model, which is called only when the harness allows it (AHP 2.4): `pre_prompt` before each call of it,
 * with the prompt; `post_response` after it, also when it fails, is aborted, or its stream ends. A call that does not happen
 * rejects with a `SupervisionError`, which the AI SDK does not try again; an abort rejects with the reason of the signal.
 *
 * Other middleware belongs around this one and not inside of it, since what is judged must be what is sent.
 *
 * Throws `invalid_argument` for options that cannot be used.
 */
export const superviseModel = (
  model: Model,
  client: SupervisingClient,
  options: SupervisionOptions = {},
): Model => {
  const supervision = new Supervision(client, options);
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v3",
      async wrapGenerate({ model: inner, params }) {
        const { summary, end, answer } = await callModel(supervision, inner, params, (prompt) =>
          inner.doGenerate({ ...params, prompt }),
        );
        summary.addResult(answer);
        end(undefined, false);
        return answer;
      },
      async wrapStream({ model: inner, params }) {
        const { summary, end, answer } = await callModel(supervision, inner, params, (prompt) =>
          inner.doStream({ ...params, prompt }),
        );
        const stream = observeStream(answer.stream, (part) => summary.add(part), end);
        return { ...answer, stream };
      },
    },
  });
};
