import { type ModelFailure, toModelFailure } from "./model-failure.ts";

/** What is wrapped: any model of the AI SDK. */
export interface StreamingModel {
  doStream(...args: never[]): PromiseLike<unknown>;
}

const isStreaming = (model: StreamingModel | string): model is StreamingModel => typeof model === "object";

/**
 * The model, for one request of the AI SDK with `maxRetries`: `onRetry` is called when an attempt failed that the AI SDK
 * repeats, which it does without a word. A model of the gateway, a string, is not watched.
 */
export const watchRetries = <Model extends StreamingModel | string>(
  model: Model,
  maxRetries: number,
  onRetry: (failure: ModelFailure) => void,
): Model => {
  if (!isStreaming(model)) return model;
  let attempts = 0;
  const doStream = async (...args: never[]) => {
    attempts++;
    try {
      return await model.doStream(...args);
    } catch (error) {
      const { isRetryable } = error as { readonly isRetryable?: unknown };
      if (isRetryable === true && attempts <= maxRetries) onRetry(toModelFailure(error));
      throw error;
    }
  };
  return new Proxy<Model & StreamingModel>(model, {
    get: (target, name) => (name === "doStream" ? doStream : Reflect.get(target, name, target)),
  });
};
