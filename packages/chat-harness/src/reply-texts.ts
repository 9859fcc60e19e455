import type { ErrorBucket, ErroredTurn } from "@harnesskit/protocol/chat";
import { displayText } from "@harnesskit/wire";
import type { Failure } from "./failure.ts";

/** What a text of a reply may be made from. */
export interface ReplyFacts {
  readonly error_bucket: ErrorBucket;
  readonly error_category: string | undefined;
  /** What the error says, made safe to show. It may come from a provider or a store. */
  readonly diagnostic: string;
}

/** A text, or a function that makes one. What it throws, or an empty text, gives way to the default. */
export type ReplyText = string | ((facts: ReplyFacts) => string);

/** What users are told of errors, by bucket. The meaning of the buckets stays. */
export interface ReplyTexts {
  /** @default "This conversation can't continue. Please start a new one." */
  readonly session_terminating?: ReplyText;
  /** @default "I had trouble responding. Try again in a moment." */
  readonly retryable_transient?: ReplyText;
  /** @default "That request couldn't be processed: <diagnostic>. Please adjust your message and try again." */
  readonly user_correctable?: ReplyText;
}

/** How much of what an error says a reply repeats. */
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

/** Makes the outcome of a failed turn, with the reply for the user. */
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
      ...(category === undefined ? {} : { error_category: category }),
      reply: { role: "system", content },
    };
  };
