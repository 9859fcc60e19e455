import { type GraphStore, StoreError } from "@harnesskit/graph";
import {
  SignalDescriptorSchema,
  SuspensionStatusSchema,
  type SuspensionSummary,
} from "@harnesskit/protocol/chat";
import { HarnessError } from "@harnesskit/wire";
import type { AnsweredSignals } from "./answered-signals.ts";
import { type Failure, failureOf } from "./failure.ts";
import type { Signal } from "./signal.ts";
import { messageOf } from "./warning.ts";

/** What is known of a suspension without its state. */
export type Target = Pick<
  SuspensionSummary,
  "invocation_id" | "session_id" | "status" | "descriptor" | "result" | "next_step" | "suspended_at"
>;

/** What a signal says of what it is for: its signal id or its invocation id, and perhaps its session. */
type SignalName = Omit<Signal, "payload">;

/** What becomes of a signal that resumes nothing. */
export type Unresumed =
  | { readonly kind: "already_resolved" }
  | { readonly kind: "refused"; readonly failure: Failure };

export const resolved = { kind: "already_resolved" } as const;

export const refused = (failure: Failure) => ({ kind: "refused", failure }) as const;

export const unknownSignal = () =>
  refused(failureOf("harness_signal_correlation_failed", "nothing waits for this signal"));

export const storeFailed = (cause: unknown) =>
  refused(
    failureOf("suspension_persistence_failed", `the store of suspensions failed: ${messageOf(cause)}`, cause),
  );

export const hasCode = (error: unknown, code: string): boolean =>
  HarnessError.isInstance(error) && error.code === code;

/** Whether what a store gave names a suspension. */
const isTarget = (value: unknown): value is Target => {
  if (typeof value !== "object" || value === null) return false;
  const { invocation_id: id, status, descriptor } = value as { [Name in keyof Target]?: unknown };
  return (
    typeof id === "string" &&
    SuspensionStatusSchema.safeParse(status).success &&
    SignalDescriptorSchema.safeParse(descriptor).success
  );
};

const find = async (
  { suspensions }: GraphStore,
  { signalId, invocationId }: SignalName,
): Promise<readonly Target[]> => {
  let found: unknown;
  if (invocationId === undefined) found = await suspensions.list({ signalId: signalId as string });
  else {
    const record = await suspensions.load(invocationId);
    found = record === null || record === undefined ? [] : [record];
  }
  if (Array.isArray(found) && found.every(isTarget)) return found;
  throw new StoreError("store_failed", "the store gave what is no suspension");
};

/** The suspension that a signal is for; or why there is none to resume. Never rejects. */
export const correlate = async (
  store: GraphStore,
  answered: AnsweredSignals,
  signal: SignalName,
): Promise<Target | Unresumed> => {
  const { signalId, invocationId, sessionId } = signal;
  let found: readonly Target[];
  try {
    found = await find(store, signal);
  } catch (cause) {
    return storeFailed(cause);
  }
  const own = found.filter((record) => sessionId === undefined || record.session_id === sessionId);
  const named = own.filter(({ descriptor }) => signalId === undefined || descriptor.signal_id === signalId);
  const [target, another] = named.filter(({ status }) => status === "suspended");
  if (another !== undefined) {
    const message = "several invocations wait for this signal; name the invocation";
    return refused(failureOf("harness_signal_correlation_failed", message));
  }
  if (target !== undefined) return target;
  if (named.length > 0) return resolved;
  // The pause that it was for is over, and its record waits for another signal or is gone.
  const isKnown = own.length > 0 || invocationId === undefined;
  return isKnown && answered.has(signalId, sessionId) ? resolved : unknownSignal();
};
