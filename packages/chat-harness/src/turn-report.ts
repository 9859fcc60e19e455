import type { DispatchPath } from "@harnesskit/protocol/chat";

/** How a turn ended, for logs and spans. */
export interface TurnReport {
  /** Undefined for a turn that failed before its session was known. */
  readonly path: DispatchPath | undefined;
  readonly session_id: string | null;
  readonly invocation_id: string;
  readonly outcome: "completed" | "errored" | "suspended" | "cancelled";
  /** Of one that failed, where it has one. */
  readonly error_category: string | undefined;
  /** What it failed with; may hold what users must not see. */
  readonly error: unknown;
}
