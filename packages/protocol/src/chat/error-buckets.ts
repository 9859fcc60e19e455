/** What an error means for the conversation: it is over, the turn may be tried again, or the user has to change something. */
export type ErrorBucket = "session_terminating" | "retryable_transient" | "user_correctable";

/** The bucket of each category of error that is known. Any other one counts as `retryable_transient`. */
export const errorBuckets = {
  session_load_failed: "session_terminating",
  session_save_failed: "session_terminating",
  session_state_migration_missing: "session_terminating",
  session_state_migration_chain_ambiguous: "session_terminating",
  session_state_migration_failed: "session_terminating",
  session_write_conflict: "retryable_transient",
  suspension_persistence_failed: "session_terminating",
  suspension_in_unsupported_context: "session_terminating",
  suspension_record_invalid: "user_correctable",
  suspension_resume_payload_invalid: "user_correctable",
  harness_session_id_unresolved: "session_terminating",
  harness_signal_subscription_failed: "retryable_transient",
  harness_signal_correlation_failed: "user_correctable",
  harness_path_classification_ambiguous: "user_correctable",
  chat_message_shape_invalid: "user_correctable",
  provider_unavailable: "retryable_transient",
  provider_rate_limit: "retryable_transient",
  provider_rate_limited: "retryable_transient",
  provider_timeout: "retryable_transient",
  provider_model_not_loaded: "retryable_transient",
  provider_authentication: "user_correctable",
  provider_invalid_model: "user_correctable",
  provider_invalid_request: "user_correctable",
  provider_invalid_response: "user_correctable",
  provider_unsupported_content_block: "user_correctable",
  structured_output_invalid: "user_correctable",
  state_validation_error: "session_terminating",
  reducer_error: "session_terminating",
  routing_error: "session_terminating",
  node_exception: "retryable_transient",
  edge_exception: "retryable_transient",
  run_record_invalid: "session_terminating",
  run_persistence_failed: "retryable_transient",
  node_ambiguous: "user_correctable",
  turn_interrupted: "retryable_transient",
  checkpoint_not_found: "session_terminating",
  checkpoint_record_invalid: "session_terminating",
  checkpoint_save_failed: "retryable_transient",
} as const satisfies Record<string, ErrorBucket>;

/** A category of error that has a bucket of its own. */
export type ErrorCategory = keyof typeof errorBuckets;

/** The bucket of a category, as {@link errorBuckets} has it. An unknown category, and none, may be tried again. */
export const errorBucketOf = (category: string | null | undefined): ErrorBucket => {
  if (typeof category !== "string") return "retryable_transient";
  if (Object.hasOwn(errorBuckets, category)) return errorBuckets[category as ErrorCategory];
  return category.startsWith("checkpoint_") ? "session_terminating" : "retryable_transient";
};
