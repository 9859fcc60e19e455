import type { TimelineRow } from "@harnesskit/protocol/hub";
import { joinKey } from "@harnesskit/wire";

/** Rows that a later report of the same thing replaces: what they say is as old as their last change. */
const snapshots: ReadonlySet<string> = new Set(["run_lifecycle", "task_list"]);

/** Returns the time that a row shows. */
export const shownAtMs = ({ type, atMs, changedAtMs }: TimelineRow): number =>
  snapshots.has(type) ? changedAtMs : atMs;

/** Whether a row says something: a list of tasks without one does not. */
export const saysSomething = ({ type, summary }: TimelineRow): boolean =>
  type !== "task_list" || summary !== type;

/** The same prompt is judged before each step of its turn. */
const judgementOf = ({ type, agent, session, turn, summary, decision }: TimelineRow): string | undefined =>
  type !== "pre_prompt" || turn === undefined
    ? undefined
    : joinKey(agent, session, turn, summary, decision?.decision ?? "", decision?.rule ?? "");

/** Rows for people, by time and then by number: a judgement that is repeated in its turn is shown once. */
export const happenings = (rows: readonly TimelineRow[]): readonly TimelineRow[] => {
  const sorted = rows.filter(saysSomething).sort((a, b) => shownAtMs(a) - shownAtMs(b) || a.seq - b.seq);
  const judged = new Set<string>();
  return sorted.filter((row) => {
    const judgement = judgementOf(row);
    if (judgement === undefined) return true;
    const isNew = !judged.has(judgement);
    judged.add(judgement);
    return isNew;
  });
};
