import type { Fields } from "@harnesskit/graph";
import type { SuspensionSummary } from "@harnesskit/protocol/chat";
import type { Engine } from "./engine-options.ts";
import type { Resolution, Signals } from "./signals.ts";

/** What was taken up. */
export interface RecoverySummary {
  /** Turns that were gone on with, or that another process goes on with. */
  readonly resumed_count: number;
  /** Turns that could not be gone on with; each is a warning, and waits for a signal again. */
  readonly failed_count: number;
  /** Ends of resumed turns that listeners were told of. */
  readonly delivered_count: number;
}

export interface RecoverOptions {
  /** Of this session alone. @default of all */
  readonly sessionId?: string;
}

/** How many turns are gone on with at once. */
const maxAtOnce = 16;

const failureIn = async <Turn>(run: Promise<Resolution<Turn>>): Promise<{ cause: unknown } | undefined> => {
  try {
    const resolution = await run;
    return resolution.kind === "refused"
      ? { cause: resolution.failure.error ?? resolution.failure }
      : undefined;
  } catch (cause) {
    return { cause };
  }
};

/** Goes on with turns for which a signal was accepted by a process that did not end them. Rejects as the store does. */
export const recoverSignals = async <F extends Fields, Turn extends object>(
  { store, warn }: Engine<F>,
  signals: Signals<F, Turn>,
  { sessionId }: RecoverOptions = {},
): Promise<Omit<RecoverySummary, "delivered_count">> => {
  const waiting = await store.suspensions.list({
    ...(sessionId !== undefined && { sessionId }),
    status: "suspended",
  });
  const accepted = waiting.filter((record) => record.signal !== null);
  let failed = 0;
  const queue = accepted.values();
  const work = async () => {
    for (const record of queue as Iterable<SuspensionSummary>) {
      const failure = await failureIn(signals.recover(record));
      if (failure === undefined) continue;
      failed++;
      const message = `the turn ${record.invocation_id} cannot be gone on with`;
      warn({ kind: "recovery_failed", message, cause: failure.cause });
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, accepted.length) }, work));
  return { resumed_count: accepted.length - failed, failed_count: failed };
};
