import { HarnessError } from "@harnesskit/wire";

/** How a failure is answered. */
export interface ChatFailure {
  readonly status: number;
  readonly code: string;
  /** For people. Says nothing of the server but what it says to each of its clients. */
  readonly text: string;
}

/** The statuses of the codes whose messages are for the page. */
const refusals: Readonly<Record<string, number>> = {
  invalid_argument: 400,
  invalid_params: 400,
  chat_message_shape_invalid: 400,
  thread_not_found: 404,
  turn_not_found: 404,
  approval_not_found: 404,
  turn_busy: 409,
  thread_archived: 409,
  request_conflict: 409,
  approval_settled: 409,
  approval_digest_mismatch: 409,
  log_went_back: 409,
  unsupported: 501,
  session_busy: 503,
  harness_busy: 503,
};

/** The statuses of the codes whose messages may name addresses and paths. */
const outages: Readonly<Record<string, number>> = {
  buffer_full: 503,
  connection_closed: 503,
  transport_failed: 503,
  harness_closed: 503,
  request_timeout: 504,
};

const unavailable = "The agent cannot be reached at the moment: try again.";
const unknown = "The request could not be handled.";

/** The answer to a failure of the source. What is not known here is 500 without a word of it. */
export const toChatFailure = (error: unknown): ChatFailure => {
  const code = HarnessError.isInstance(error) ? error.code : "internal_error";
  const refusal = refusals[code];
  if (refusal !== undefined) return { status: refusal, code, text: (error as HarnessError).message };
  const outage = outages[code];
  if (outage !== undefined) return { status: outage, code, text: unavailable };
  return { status: 500, code: "internal_error", text: unknown };
};
