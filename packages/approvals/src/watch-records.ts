import type { ApprovalRecord } from "@harnesskit/protocol/hub";
import { type Clock, checkNumber, sharedSignal } from "@harnesskit/wire";
import type { ApprovalStore, ApprovalWatchOptions } from "./approval-store.ts";
import type { ApprovalBacking } from "./approval-table.ts";
import { ApprovalError } from "./errors.ts";
import type { ApprovalLimits } from "./limits.ts";

interface WatchContext {
  /** Called after each write of this store: one entry for each watcher. */
  readonly waiting: Set<() => void>;
  readonly backing: Pick<ApprovalBacking, "onChange">;
  readonly clock: Clock;
  readonly limits: ApprovalLimits;
  readonly closed: AbortSignal;
}

/**
 * Reads pages after the last record that was read, and waits for a write or the next poll where there is none. So it keeps no queue:
 * a slow reader costs nothing.
 */
export async function* watchRecords(
  { page }: Pick<ApprovalStore, "page">,
  { waiting, backing, clock, limits, closed }: WatchContext,
  { afterSeq = 0, signal }: ApprovalWatchOptions = {},
): AsyncGenerator<ApprovalRecord, void, undefined> {
  checkNumber("afterSeq", afterSeq, { min: 0 });
  if (waiting.size >= limits.maxWatchers) {
    throw new ApprovalError("store_full", `maxWatchers of ${limits.maxWatchers} is reached`);
  }
  let isChanged = false;
  let onChange: (() => void) | undefined;
  const changed = () => {
    isChanged = true;
    onChange?.();
  };
  waiting.add(changed);
  const stopListening = backing.onChange?.(changed);
  if (signal) sharedSignal(signal).addEventListener("abort", changed);
  const isOver = () => signal?.aborted === true || closed.aborted;
  try {
    while (!isOver()) {
      isChanged = false;
      const { records, nextSeq } = await page({ afterSeq }).catch((error: unknown) => {
        if (isOver()) return { records: [], nextSeq: afterSeq };
        throw error;
      });
      for (const record of records) {
        if (isOver()) return;
        yield record;
      }
      afterSeq = nextSeq;
      if (records.length > 0 || isChanged) continue;
      await new Promise<void>((resolve) => {
        const cancel = clock.after(limits.watchPollMs, resolve);
        onChange = () => {
          cancel();
          resolve();
        };
      });
      onChange = undefined;
    }
  } finally {
    waiting.delete(changed);
    stopListening?.();
    signal?.removeEventListener("abort", changed);
  }
}
