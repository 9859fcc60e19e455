import * as z from "zod";
import type { ErrorBucket } from "./error-buckets.ts";

/** The schema of {@link ErrorBucket}. */
export const ErrorBucketSchema = z.enum([
  "session_terminating",
  "retryable_transient",
  "user_correctable",
]) satisfies z.ZodType<ErrorBucket>;
