import type { JsonObject } from "@harnesskit/protocol/envelope";

/** A signal as it arrives. It names the suspension by its signal id, by its invocation id, or by both. */
export interface Signal {
  /** As in the descriptor of the suspension. */
  readonly signalId?: string;
  readonly invocationId?: string;
  /** Where it is given, the suspension has to be one of this session. @default any */
  readonly sessionId?: string;
  /** Values that are put over the state, whole, without the reducers. @default {} */
  readonly payload?: JsonObject;
}

/**
 * What became of a signal. `resumed`: the turn went on, and ended or paused again. `already_resolved`: another delivery of it, or
 * another signal, has resumed or is resuming the suspension. `refused`: nothing has run, and what waits still waits.
 */
export type SignalResult<Turn, Refusal> =
  | {
      readonly outcome: "resumed";
      readonly invocation_id: string;
      readonly session_id: string | null;
      readonly turn: Turn;
    }
  | { readonly outcome: "already_resolved" }
  | Refusal;

const textIn = (signal: object, name: keyof Signal): string | undefined | null => {
  const value = (signal as Readonly<Record<string, unknown>>)[name] ?? undefined;
  return value === undefined || (typeof value === "string" && value !== "") ? value : null;
};

/** A signal as it comes from outside, where null counts as absent; undefined for what names nothing. Never throws. */
export const readSignal = (value: unknown): (Omit<Signal, "payload"> & { payload: unknown }) | undefined => {
  try {
    if (typeof value !== "object" || value === null) return undefined;
    const [signalId, invocationId] = [textIn(value, "signalId"), textIn(value, "invocationId")];
    const sessionId = textIn(value, "sessionId");
    if (signalId === null || invocationId === null || sessionId === null) return undefined;
    if (signalId === undefined && invocationId === undefined) return undefined;
    return {
      ...(signalId === undefined ? {} : { signalId }),
      ...(invocationId === undefined ? {} : { invocationId }),
      ...(sessionId === undefined ? {} : { sessionId }),
      payload: (value as { payload?: unknown }).payload ?? {},
    };
  } catch {
    return undefined;
  }
};
