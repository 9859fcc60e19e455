import type { TimelineDetail } from "@harnesskit/protocol/hub";
import { useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../state/app.ts";
import { failureText, isLost } from "../state/failures.ts";
import type { Run } from "../state/route.ts";
import { useStore } from "../state/store.ts";

export interface ReadRun {
  /** The oldest first, without gaps. */
  readonly details: readonly TimelineDetail[];
  /** Whether there are later rows. */
  readonly hasMore: boolean;
  readonly isLoaded: boolean;
  readonly problem: string | undefined;
  readonly more: () => void;
}

const nothing = { details: [], hasMore: false, isLoaded: false, problem: undefined } as const;

const openStates: ReadonlySet<string> = new Set(["waiting", "running", "unknown", "noted"]);

/** The row after which nothing was final when it was read. */
const settledId = (details: readonly TimelineDetail[]): number => {
  const open = details.findIndex(({ row }) => openStates.has(row.state) && row.type !== "post_response");
  return (open === -1 ? details.at(-1) : details[open - 1])?.row.id ?? 0;
};

/** The rows of a run with their content; what is not final is read again whenever a row of it changes. */
export const useRun = (run: Run): ReadRun => {
  const { link } = useApp();
  const { client } = link;
  const state = useStore(link.state);
  const [shown, setShown] = useState<Omit<ReadRun, "more">>(nothing);
  const known = useRef<readonly TimelineDetail[]>([]);
  const reading = useRef<Promise<void>>(Promise.resolve());
  /** One read after the other: each begins after what the one before has found. */
  const read = (after: (details: readonly TimelineDetail[]) => number): Promise<void> => {
    reading.current = reading.current.then(async () => {
      const afterId = after(known.current);
      try {
        const { details, nextAfterId } = await client.call("timeline.read", { ...run, afterId });
        known.current = [...known.current.filter(({ row }) => row.id <= afterId), ...details];
        const hasMore = nextAfterId !== undefined;
        setShown({ details: known.current, hasMore, isLoaded: true, problem: undefined });
      } catch (error) {
        if (!isLost(error))
          setShown((before) => ({ ...before, isLoaded: true, problem: failureText(error) }));
      }
    });
    return reading.current;
  };
  useEffect(() => {
    if (state !== "ready") return undefined;
    const stop = new AbortController();
    const follow = async () => {
      const { lastSeq: afterSeq } = await client.call("timeline.page", { limit: 1 });
      await read(settledId);
      for await (const _ of client.watchTimeline({ filter: run, afterSeq, signal: stop.signal }))
        await read(settledId);
    };
    // A connection that was lost is followed by another one.
    follow().catch(() => undefined);
    return () => stop.abort();
  }, [state]);
  return { ...shown, more: () => void read((details) => details.at(-1)?.row.id ?? 0) };
};
