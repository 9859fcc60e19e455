import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { EventView } from "../cel/event-view.ts";
import type { Condition } from "./condition.ts";

interface Entry {
  readonly condition: Condition;
}

/** Names of tools come from agents; so many are remembered, then all are forgotten at once. */
const maxTools = 1000;
/** A longer name is looked up each time. */
const maxKeptName = 256;

/** What concerns a type of event and a tool, in order, found without going through the rest. */
export class RuleIndex<T extends Entry> {
  readonly #byType = new Map<AhpEventType, readonly T[]>();
  readonly #byTool = new Map<AhpEventType, Map<string, readonly T[]>>();

  constructor(entries: readonly T[]) {
    for (const entry of entries) {
      for (const type of entry.condition.types) {
        this.#byType.set(type, [...(this.#byType.get(type) ?? []), entry]);
      }
    }
    for (const [type, list] of this.#byType) {
      if (list.some(({ condition }) => condition.tool)) this.#byTool.set(type, new Map());
    }
  }

  /** Whether anything concerns events of a type. */
  has(type: AhpEventType): boolean {
    return this.#byType.has(type);
  }

  /** What may apply to an event. An entry whose globs fail on the tool's name is among them, and fails where it is asked. */
  of(view: EventView): readonly T[] {
    const type = view.event.event_type;
    const byTool = this.#byTool.get(type);
    if (!byTool) return this.#byType.get(type) ?? [];
    const known = byTool.get(view.tool);
    if (known) return known;
    const found = (this.#byType.get(type) ?? []).filter(({ condition }) => mayFit(condition, view.tool));
    if (view.tool.length > maxKeptName) return found;
    if (byTool.size >= maxTools) byTool.clear();
    byTool.set(view.tool, found);
    return found;
  }
}

const mayFit = (condition: Condition, tool: string): boolean => {
  try {
    return condition.tool?.(tool) ?? true;
  } catch {
    return true;
  }
};
