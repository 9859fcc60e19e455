/** What a tool of the AI SDK returned: of a generator the last output. Rejects with the signal's reason once it aborts. */
export const lastOutput = async (given: unknown, signal?: AbortSignal): Promise<unknown> => {
  const output = await given;
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const value of output as AsyncIterable<unknown>) {
    signal?.throwIfAborted();
    last = value;
  }
  return last;
};
