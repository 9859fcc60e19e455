import { errorCategory } from "@harnesskit/graph";
import { type ErrorBucket, errorBucketOf } from "@harnesskit/protocol/chat";
import { messageOf, partOf } from "./warning.ts";

/** Why a turn failed. */
export interface Failure {
  readonly bucket: ErrorBucket;
  /** The category that the error stands for; undefined where it has none. */
  readonly category: string | undefined;
  /** What the error itself says, in its own words. */
  readonly diagnostic: string;
  readonly error: unknown;
}

/** How far a chain of causes is followed. */
const maxCauses = 100;

/** The errors of a chain of causes, outermost first. */
function* causes(error: unknown): Generator<object> {
  let link = error;
  for (let depth = 0; depth < maxCauses && typeof link === "object" && link !== null; depth++) {
    yield link;
    link = partOf(link, "cause");
  }
}

/** The category of a suspension that nobody can signal. */
export const subscriptionFailed = "harness_signal_subscription_failed";

/** The error of a chain that says why a suspension cannot be signalled, where that is why it was not kept. */
const unreachable = (error: unknown): object | undefined =>
  [...causes(error)].find(
    (link) => partOf(link, "code") === "signal_taken" || partOf(link, "category") === subscriptionFailed,
  );

/** A failure of the harness's own. */
export const failureOf = (category: string, diagnostic: string, error?: unknown): Failure => ({
  bucket: errorBucketOf(category),
  category,
  diagnostic,
  error,
});

/**
 * What an error stands for: the outermost category in its chain of causes that does not only carry what a node threw, with
 * the bucket of that category (section "Error → user-facing reply mapping").
 */
export const toFailure = (error: unknown): Failure => {
  const derived = errorCategory(error);
  if (derived === "suspension_persistence_failed") {
    const cause = unreachable(error);
    if (cause !== undefined) return failureOf(subscriptionFailed, messageOf(cause), error);
  }
  const links = [...causes(error)];
  const own = partOf(links[0], "category");
  const category = derived ?? (typeof own === "string" && own !== "" ? own : undefined);
  // What only carries another error repeats its message behind the name of a node.
  const source = derived === null ? links.at(-1) : links.find((link) => partOf(link, "category") === derived);
  return {
    bucket: errorBucketOf(category),
    category,
    diagnostic: messageOf(source ?? error),
    error,
  };
};
