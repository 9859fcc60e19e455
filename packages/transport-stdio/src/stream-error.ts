import { TransportError } from "@harnesskit/wire";

/** The sentence for a stream that failed. */
export const streamError = (cause: unknown, stream: "input" | "output"): TransportError => {
  const text =
    stream === "input"
      ? "the input can no longer be read"
      : "the output can no longer be written: nobody reads it any more";
  return new TransportError(text, cause === undefined ? undefined : { cause });
};
