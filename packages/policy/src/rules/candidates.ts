import type { AhpEventType } from "@harnesskit/protocol/ahp";
import { BoundedMap } from "@harnesskit/wire";
import type { EventView } from "../cel/event-view.ts";
import type { Condition } from "./condition.ts";

/** Names of tools come from agents. */
const maxTools = 1000;
const maxToolLength = 256;

/** The entries that may apply to an event, in order. Throws nothing: a glob that fails does so when its entry is asked. */
export type Candidates<T> = (view: EventView) => readonly T[];

const mayFit = (condition: Condition, view: EventView): boolean => {
  try {
    return condition.fitsTool(view);
  } catch {
    return true;
  }
};

/** Finds the entries for an event's type and tool, and remembers them: a policy may have thousands of rules. */
export const createCandidates = <T extends { readonly condition: Condition }>(
  entries: readonly T[],
): Candidates<T> => {
  const known = new BoundedMap<`${AhpEventType} ${string}`, readonly T[]>({ maxSize: maxTools });
  return (view) => {
    const key = `${view.event_type} ${view.tool}` as const;
    const remembered = known.get(key);
    if (remembered) return remembered;
    const found = entries.filter(
      ({ condition }) => condition.types.includes(view.event_type) && mayFit(condition, view),
    );
    if (view.tool.length <= maxToolLength) known.set(key, found);
    return found;
  };
};
