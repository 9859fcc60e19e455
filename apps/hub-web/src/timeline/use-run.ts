import type { TimelineDetail } from "@harnesskit/protocol/hub";
import { useEffect, useRef, useState } from "preact/hooks";
import { failureText, isLost } from "../state/failures.ts";
import type { HubLink } from "../state/hub-link.ts";
import type { TimelineFilter } from "../state/route.ts";
import { useStore } from "../state/store.ts";

export interface Run {
  /** The oldest first, without gaps. */
  readonly details: readonly TimelineDetail[];
  /** Whether there are later rows. */
  readonly hasMore: boolean;
  readonly isLoaded: boolean;
  readonly problem: string | undefined;
  readonly more: () => void;
}

const openStates: ReadonlySet<string> = new Set(["waiting", "running", "unknown", "noted"]);

/** The row after which nothing was final when it was read. */
const settledId = (details: readonly TimelineDetail[]): number => {
  const open = details.findIndex(({ row }) => openStates.has(row.state) && row.type !== "post_response");
  return (open === -1 ? details.at(-1) : details[open - 1])?.row.id ?? 0;
};

/** The rows of a run with their content, read again from the first that is not final whenever `seq` changes. */
export const useRun = (link: HubLink, { agent, session, turn }: TimelineFilter, seq: number): Run => {
  const state = useStore(link.state);
  const [details, setDetails] = useState<readonly TimelineDetail[]>([]);
  const [hasMore, setMore] = useState(false);
  const [isLoaded, setLoaded] = useState(false);
  const [problem, setProblem] = useState<string>();
  const known = useRef(details);
  const isReading = useRef(false);
  const read = async (afterId: number): Promise<void> => {
    if (agent === undefined || session === undefined || isReading.current) return;
    isReading.current = true;
    try {
      const params = { agent, session, turn, afterId };
      const { details: found, nextAfterId } = await link.client.call("timeline.read", params);
      const before = known.current.filter(({ row }) => row.id <= afterId);
      known.current = [...before, ...found];
      setDetails(known.current);
      setMore(nextAfterId !== undefined);
      setProblem(undefined);
    } catch (error) {
      if (!isLost(error)) setProblem(failureText(error));
    } finally {
      isReading.current = false;
      setLoaded(true);
    }
  };
  useEffect(() => {
    if (state === "ready") void read(settledId(known.current));
  }, [state, seq]);
  return { details, hasMore, isLoaded, problem, more: () => void read(known.current.at(-1)?.row.id ?? 0) };
};
