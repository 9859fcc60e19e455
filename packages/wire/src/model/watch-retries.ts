/** What is wrapped: any model of the AI SDK. */
export interface StreamingModel {
  doStream(...args: never[]): PromiseLike<unknown>;
}

/**
 * The model, for one request of the AI SDK with `maxRetries`: `onRetry` is called when an attempt failed that the AI SDK
 * repeats, which it does without a word.
 */
export const watchRetries = <Model extends StreamingModel>(
  model: Model,
  maxRetries: number,
  onRetry: (error: unknown) => void,
): Model => {
  let attempts = 0;
  const doStream = async (...args: never[]) => {
    attempts++;
    try {
      return await model.doStream(...args);
    } catch (error) {
      const { isRetryable } = error as { readonly isRetryable?: unknown };
      if (isRetryable === true && attempts <= maxRetries) onRetry(error);
      throw error;
    }
  };
  return new Proxy(model, {
    get: (target, name) => (name === "doStream" ? doStream : Reflect.get(target, name, target)),
  });
};
