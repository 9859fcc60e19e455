import { type GraphStore, thrownMessage } from "@harnesskit/graph";
import type { SignalDescriptor, SuspensionSummary } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import * as z from "zod";
import { failureOf, RefusedSignal } from "./errors.ts";

/** A signal. It names the suspension by its signal id, by its invocation id, or by both. */
export interface Signal {
  /** As in the descriptor of the suspension. */
  readonly signalId?: string;
  readonly invocationId?: string;
  /** If it is given, the suspension must belong to this session. @default any */
  readonly sessionId?: string;
  /** Values that replace those of the state, without the reducers. @default {} */
  readonly payload?: JsonObject;
}

const name = z.string().min(1).nullish();
const SignalSchema = z
  .object({ signalId: name, invocationId: name, sessionId: name, payload: z.unknown().optional() })
  .refine(({ signalId, invocationId }) => (signalId ?? invocationId ?? null) !== null);
export type NamedPause = z.infer<typeof SignalSchema>;

const WaitingSignalsSchema = z.object({ others: z.array(z.object({ signal_id: z.string() }).loose()) });

/** What a descriptor waits for, by the id of the signal: its own, and what its metadata lists as `others`, each of which may come first. */
export const waitingSignals = ({ signal_id, metadata }: SignalDescriptor): ReadonlyMap<string, unknown> => {
  const { data } = WaitingSignalsSchema.safeParse(metadata);
  const { others: _others, ...own } = metadata ?? {};
  const entries = (data?.others ?? []).map(({ signal_id: id, ...asked }) => [id, asked] as const);
  return new Map<string, unknown>([...entries, [signal_id, own]]);
};

export const unknownSignal = (message = "nothing waits for this signal"): RefusedSignal =>
  new RefusedSignal(failureOf("harness_signal_correlation_failed", message));

export const storeFailed = (cause: unknown): RefusedSignal => {
  const message = `the store of suspensions failed: ${thrownMessage(cause)}`;
  return new RefusedSignal(failureOf("suspension_persistence_failed", message, cause));
};

/** A signal from outside, in which null is absent. Throws a {@link RefusedSignal} for one that names nothing. */
export const readSignal = (value: unknown): NamedPause => {
  const { data, success } = SignalSchema.safeParse(value);
  if (!success) throw unknownSignal();
  return data;
};

const findRecords = async (
  { suspensions }: GraphStore,
  { signalId, invocationId, sessionId }: NamedPause,
): Promise<SuspensionSummary[]> => {
  if (invocationId) return [await suspensions.load(invocationId)].filter((record) => record !== null);
  const found = await suspensions.list({ signalId: signalId as string });
  // A store knows the first signal of a suspension; one that waits beside it is found by its session.
  if (found.length > 0 || !sessionId) return found;
  const waiting = await suspensions.list({ sessionId, status: "suspended" });
  return waiting.filter(({ descriptor }) => waitingSignals(descriptor).has(signalId as string));
};

/**
 * Finds the suspension of a signal; undefined if it is resolved already. `wasAnswered` says whether a signal was answered before.
 * Rejects with a {@link RefusedSignal} if none waits for it, or several do, and if the store failed.
 */
export const findPause = async (
  store: GraphStore,
  signal: NamedPause,
  wasAnswered: (signalId: string, sessionId: string | null | undefined) => boolean,
): Promise<SuspensionSummary | undefined> => {
  const { signalId, invocationId, sessionId } = signal;
  const found = await findRecords(store, signal).catch((cause: unknown) => {
    throw storeFailed(cause);
  });
  const ofSession = found.filter((record) => !sessionId || record.session_id === sessionId);
  const named = ofSession.filter(({ descriptor }) => !signalId || waitingSignals(descriptor).has(signalId));
  const [pause, another] = named.filter(({ status }) => status === "suspended");
  if (another !== undefined) {
    throw unknownSignal("several invocations wait for this signal; name the invocation");
  }
  if (pause !== undefined || named.length > 0) return pause;
  // The pause is over, and its record waits for another signal or was deleted.
  const isKnown = (ofSession.length > 0 || !invocationId) && !!signalId;
  if (isKnown && wasAnswered(signalId, sessionId)) return undefined;
  throw unknownSignal();
};
