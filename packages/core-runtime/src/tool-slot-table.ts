import type { ToolSlots } from "./registered-tool.ts";

/** How many calls of each tool may run, by the manifest's `max_inflight_per_tool`. Outlives registrations. */
export class ToolSlotTable {
  readonly #limits: Readonly<Record<string, number>>;
  readonly #slots = new Map<string, ToolSlots>();

  constructor(limits: Readonly<Record<string, number>> = {}) {
    this.#limits = limits;
  }

  /** Undefined for a tool without a limit of its own. */
  of(name: string): ToolSlots | undefined {
    if (!Object.hasOwn(this.#limits, name)) return undefined;
    const known = this.#slots.get(name);
    if (known) return known;
    const slots = { limit: this.#limits[name] ?? 1, running: 0 };
    this.#slots.set(name, slots);
    return slots;
  }
}
