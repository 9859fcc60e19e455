import {
  errorCategory,
  errorChain,
  GraphError,
  type GraphErrorContext,
  hasCode,
  thrownMessage,
} from "@harnesskit/graph";
import { type ErrorBucket, type ErroredTurn, errorBucketOf } from "@harnesskit/protocol/chat";
import { displayText, HarnessError } from "@harnesskit/wire";

/** Why a harness refused a call. */
export type ChatHarnessErrorCode =
  | "messages_field_invalid"
  | "harness_closed"
  | "harness_busy"
  | "session_busy"
  | "session_suspended"
  | "compact_unsupported"
  | "turn_cancelled"
  | "turn_timeout"
  | "turn_abandoned"
  | "too_many_listeners";

/**
 * A harness refused a call, or its caller cancelled it. A turn that fails is an `errored` outcome instead. For
 * `harness_closed`, `harness_busy`, `session_busy`, `session_suspended` and `compact_unsupported` nothing has run; after `turn_cancelled` and `turn_timeout` the session is
 * unchanged; after `turn_abandoned` the turn still runs.
 */
export class ChatHarnessError extends HarnessError<ChatHarnessErrorCode> {
  static override readonly brand = "ChatHarnessError";
}

/** What failed without failing a turn, beside its error. */
export interface ChatHarnessErrorContext {
  readonly kind:
    | "listener_failed"
    | "delivery_failed"
    | "recovery_failed"
    | "report_failed"
    | GraphErrorContext["kind"];
  readonly message: string;
}

/** Receives what failed without failing a turn. What it throws is ignored. */
export type OnError = (error: unknown, context: ChatHarnessErrorContext) => void;

/** Why a turn failed. */
export interface Failure {
  readonly bucket: ErrorBucket;
  /** The category of the error; undefined if it has none. */
  readonly category: string | undefined;
  /** The message of the error itself. */
  readonly diagnostic: string;
  readonly error: unknown;
}

/** A failure of the harness itself. */
export const failureOf = (category: string, diagnostic: string, error?: unknown): Failure => ({
  bucket: errorBucketOf(category),
  category,
  diagnostic,
  error,
});

/** A signal is refused: nothing has run, and the pause still waits. */
export class RefusedSignal extends HarnessError {
  static override readonly brand = "RefusedSignal";
  constructor(readonly failure: Failure) {
    super("signal_refused", failure.diagnostic, { cause: failure.error });
  }
}

/**
 * The failure of an error: the outermost category in its chain of causes that is not that of a wrapper, and the bucket of
 * that category (section "Error → user-facing reply mapping").
 */
export const toFailure = (error: unknown): Failure => {
  const derived = errorCategory(error);
  const chain = errorChain(error);
  const taken = chain.find(({ thrown }) => hasCode(thrown, "signal_taken"));
  // No signal could reach the pause.
  if (taken) return failureOf("harness_signal_subscription_failed", thrownMessage(taken.thrown), error);
  // A wrapper repeats the message of its cause behind the name of a node.
  const source = derived === null ? chain.at(-1) : chain.find(({ category }) => category === derived);
  const category = derived ?? chain[0]?.category;
  const diagnostic = thrownMessage(source?.thrown ?? error);
  return { bucket: errorBucketOf(category), category, diagnostic, error };
};

/** Why a part of a turn did not begin: another caller has resumed it or is about to, or the run has ended or runs. */
export type Taken = "already_resumed" | "being_resumed" | "unknown" | "running";

const takenReasons: Readonly<Record<string, readonly Taken[]>> = {
  suspension_record_invalid: ["already_resumed", "being_resumed"],
  run_record_invalid: ["unknown", "running"],
};

/** Says so of an error; undefined for any other error. */
export const takenBy = (error: unknown): { readonly kind: Taken } | undefined => {
  if (!GraphError.isInstance(error)) return undefined;
  const kind = takenReasons[error.code]?.find((reason) => reason === error.data.reason);
  return kind && { kind };
};

/** What a reply is made from. */
export interface ReplyFacts {
  readonly error_bucket: ErrorBucket;
  readonly error_category: string | undefined;
  /** The message of the error, safe to display. It may come from a provider or a store. */
  readonly diagnostic: string;
}

/** A string, or a function that returns one. The default replaces an empty string and a function that throws. */
export type ReplyText = string | ((facts: ReplyFacts) => string);

/** The replies to users for errors, by bucket. */
export interface ReplyTexts {
  /** @default "This conversation can't continue. Please start a new one." */
  readonly session_terminating?: ReplyText;
  /** @default "I had trouble responding. Try again in a moment." */
  readonly retryable_transient?: ReplyText;
  /** @default "That request couldn't be processed: <diagnostic>. Please adjust your message and try again." */
  readonly user_correctable?: ReplyText;
}

/** How many characters of an error's message a reply repeats. */
const maxDiagnosticLength = 500;

const defaults: Readonly<Record<ErrorBucket, (facts: ReplyFacts) => string>> = {
  session_terminating: () => "This conversation can't continue. Please start a new one.",
  retryable_transient: () => "I had trouble responding. Try again in a moment.",
  user_correctable: ({ diagnostic }) =>
    `That request couldn't be processed: ${diagnostic}. Please adjust your message and try again.`,
};

const customText = (text: ReplyText | undefined, facts: ReplyFacts): string | undefined => {
  try {
    const made = typeof text === "function" ? text(facts) : text;
    return typeof made === "string" && made !== "" ? made : undefined;
  } catch {
    return undefined;
  }
};

/** Creates the outcome of a failed turn, with the reply for the user. */
export const createErroredTurn =
  (texts: ReplyTexts) =>
  ({ bucket, category, diagnostic }: Failure): ErroredTurn => {
    const facts: ReplyFacts = {
      error_bucket: bucket,
      error_category: category,
      diagnostic: displayText(diagnostic, { maxLength: maxDiagnosticLength }).replace(/[.\s]+$/u, ""),
    };
    const content = customText(texts[bucket], facts) ?? defaults[bucket](facts);
    return {
      outcome: "errored",
      error_bucket: bucket,
      error_category: category,
      reply: { role: "system", content },
    };
  };
