import type { Call } from "./call.ts";

/** How many calls of each tool run, of those that a manifest limits. */
export class ToolSlots {
  readonly #limits: ReadonlyMap<string, number>;
  readonly #running = new Map<string, number>();

  /** `limits` are the manifest's `max_inflight_per_tool`, by the tools' names. */
  constructor(limits: Readonly<Record<string, number>> = {}) {
    this.#limits = new Map(Object.entries(limits));
  }

  isFree({ tool: { info } }: Call): boolean {
    const limit = this.#limits.get(info.name);
    return limit === undefined || (this.#running.get(info.name) ?? 0) < limit;
  }

  change({ tool: { info } }: Call, by: number): void {
    if (this.#limits.has(info.name)) this.#running.set(info.name, (this.#running.get(info.name) ?? 0) + by);
  }
}
